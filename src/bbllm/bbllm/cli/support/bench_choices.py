"""Options of `bbllm bench SUITE`: one name, one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.choices import LIMITS, WorldName, count_option, file_option, timeout_option
from bbllm.planners.common.methods import MappingMethod

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
    int, count_option('--trials', what='Tables of each task.', most=MAX_TRIALS)
]
SeedOption = Annotated[
    int,
    count_option('--seed', what='Makes the tables; the same ones on every machine.', least=0),
]
TasksOption = Annotated[
    str | None,
    typer.Option(
        '--tasks',
        metavar='LIST',
        help='Only these tasks: plus_sign,letter_l. A * stands for any letters: new_tasks_*.',
        show_default=False,
    ),
]
MappingOption = Annotated[
    MappingMethod, typer.Option('--mapping', help='How steps of a plan become calls.')
]
OutOption = Annotated[
    Path | None,
    file_option(
        '--out',
        'Folder of the results; one that holds a part of this run is gone on with. '
        'A new one below $XDG_STATE_HOME/bbllm/bench by default.',
        metavar='DIR',
        panel=RUN,
    ),
]
JobsOption = Annotated[
    int | None,
    count_option(
        '--jobs',
        '-j',
        what='Episodes at once; by default one for each core, and one with --world ros.',
        panel=RUN,
        most=MAX_JOBS,
        show_default=False,
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
    count_option(
        '--give-up-after',
        what='End early when so many episodes in a row were lost, as without a server, or ended '
        'because the model said nothing usable: an empty or endless reply, or a refusal. Replies '
        'that make no sense, and tables that could not be made, do not count.',
        panel=RUN,
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
    Path | None, file_option('--record', 'Keep every reply of the models in this new file.')
]
ReplayOption = Annotated[
    Path | None,
    file_option(
        '--replay',
        'Answer from such a file instead of asking models: the whole table without a key.',
    ),
]
DataOption = Annotated[
    Path | None,
    file_option(
        '--data',
        "Your copy of ProgPrompt's data, for household_original; otherwise "
        '$BBLLM_PROGPROMPT_DATA.',
        metavar='DIR',
        panel=RUN,
    ),
]
PricesOption = Annotated[
    Path | None, file_option('--prices', 'Price table; see config/prices.example.yaml.')
]
StepsOption = Annotated[
    int, count_option('--limit-steps', what='Calls of an episode.', panel=LIMITS)
]
ModelCallsOption = Annotated[
    int,
    count_option('--limit-model-calls', what='Requests of an episode to models.', panel=LIMITS),
]
TokensOption = Annotated[
    int | None,
    count_option('--limit-tokens', what='Tokens of an episode.', panel=LIMITS, show_default=False),
]
TimeoutOption = Annotated[float | None, timeout_option('Wall time of an episode.')]
WorldOption = Annotated[
    WorldName | None,
    typer.Option(
        '--world',
        help='tabletop: simulate in worker processes. ros: five nodes. household: symbols. By '
        'default tabletop, and household for a suite that is played in houses.',
        show_default=False,
    ),
]
