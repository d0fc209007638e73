"""Options of `bbllm bench SUITE`: one name, one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.choices import LIMITS, MODELS
from bbllm.cli.run import WorldName
from bbllm.planners.methods import MappingMethod

MAX_TRIALS = 999
MAX_JOBS = 1024
RUN = 'Run'

KsOption = Annotated[
    str,
    typer.Option(
        '--k',
        '-k',
        metavar='LIST',
        help='How often the Brain may plan anew; several values are several runs of all trials: '
        '0,1,2,3 or 0-3.',
    ),
]
TrialsOption = Annotated[
    int,
    typer.Option('--trials', min=1, max=MAX_TRIALS, help='Tables of each task.', metavar='N'),
]
SeedOption = Annotated[
    int,
    typer.Option(
        '--seed', min=0, metavar='N', help='Makes the tables; the same ones on every machine.'
    ),
]
TasksOption = Annotated[
    str | None,
    typer.Option(
        '--tasks', metavar='LIST', help='Only these tasks: plus_sign,letter_l.', show_default=False
    ),
]
MappingOption = Annotated[
    MappingMethod, typer.Option('--mapping', help='How steps of a plan become calls.')
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        '--out',
        metavar='DIR',
        help='Folder of the results; one that holds a part of this run is gone on with. '
        'A new one below $XDG_STATE_HOME/bbllm/bench by default.',
        show_default=False,
        rich_help_panel=RUN,
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        '--jobs',
        '-j',
        min=1,
        max=MAX_JOBS,
        metavar='N',
        help='Episodes at once; by default one for each core, and one with --world ros.',
        show_default=False,
        rich_help_panel=RUN,
    ),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        '--ray',
        metavar='ADDRESS',
        help='Play on this Ray cluster; `local` starts one here (extra `ray`).',
        show_default=False,
        rich_help_panel=RUN,
    ),
]
GiveUpOption = Annotated[
    int,
    typer.Option(
        '--give-up-after',
        min=1,
        metavar='N',
        help='End early when so many episodes in a row were lost, as without a server.',
        rich_help_panel=RUN,
    ),
]
RetryOption = Annotated[
    bool,
    typer.Option(
        '--retry-lost',
        help='Play again what infrastructure lost before.',
        rich_help_panel=RUN,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        '--record',
        metavar='FILE',
        help='Keep every reply of the models in this new file.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        '--replay',
        metavar='FILE',
        help='Answer from such a file instead of asking models: the whole table without a key.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        '--prices',
        metavar='FILE',
        help='Price table; see config/prices.example.yaml.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
StepsOption = Annotated[
    int,
    typer.Option(
        '--limit-steps', min=1, metavar='N', help='Calls of an episode.', rich_help_panel=LIMITS
    ),
]
ModelCallsOption = Annotated[
    int,
    typer.Option(
        '--limit-model-calls',
        min=1,
        metavar='N',
        help='Requests of an episode to models.',
        rich_help_panel=LIMITS,
    ),
]
TokensOption = Annotated[
    int | None,
    typer.Option(
        '--limit-tokens',
        min=1,
        metavar='N',
        help='Tokens of an episode.',
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        '--timeout',
        min=0.001,
        metavar='SECONDS',
        help='Wall time of an episode.',
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
WorldOption = Annotated[
    WorldName,
    typer.Option('--world', help='tabletop: simulate in worker processes. ros: five nodes.'),
]
