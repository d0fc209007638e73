"""Options that several verbs share: one name, one help text, one completion each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from bbllm.core.errors import BbllmError
from bbllm.planners.methods import MappingMethod


def _beginning(names: Callable[[], list[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except BbllmError:
            # The shell asks while somebody types: an error there would garble the line.
            return []

    return complete


def _planners() -> list[str]:
    from bbllm.core.registry import planner_names

    return planner_names()


def _scenes() -> list[str]:
    from bbllm.sim.scenes import list_scenes

    return list(list_scenes())


def _episodes() -> list[str]:
    from bbllm.core.journal import list_journals
    from bbllm.core.paths import episodes_dir

    return [path.stem for path in reversed(list_journals(episodes_dir()))]


MODELS = 'Models'
LIMITS = 'Limits'

TaskArgument = Annotated[
    str, typer.Argument(metavar='TASK', help='What to do, in plain words.', show_default=False)
]
EpisodeArgument = Annotated[
    str | None,
    typer.Argument(
        metavar='EPISODE',
        help='Id of an episode, or its beginning; the newest one by default.',
        autocompletion=_beginning(_episodes),
        show_default=False,
    ),
]
SceneOption = Annotated[
    str | None,
    typer.Option(
        '--scene',
        metavar='NAME',
        help='Scene to start with: a name (see `bbllm scenes`) or a .yaml file; '
        '`tabletop` by default.',
        show_default=False,
        autocompletion=_beginning(_scenes),
    ),
]
PlannerOption = Annotated[
    str | None,
    typer.Option(
        '--planner',
        metavar='NAME',
        help='Planning method, `brain_body` by default.',
        autocompletion=_beginning(_planners),
        show_default=False,
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        '--seed',
        metavar='N',
        min=0,
        help='Make the sensors noisy, with this seed.',
        show_default=False,
    ),
]
SpeedOption = Annotated[
    float | None,
    typer.Option(
        '--speed',
        metavar='X',
        min=0.0,
        max=100.0,
        help='Simulated seconds per second: 1 is real time, 0 is as fast as the simulation runs '
        '(the default; 1 with --viewer; the demo takes 2 on a terminal).',
        show_default=False,
    ),
]
ViewerOption = Annotated[
    bool, typer.Option('--viewer', help='Open the MuJoCo viewer (needs a display).')
]
JsonOption = Annotated[
    bool,
    typer.Option(
        '--json', help='Print exactly one JSON object on stdout; all else goes to stderr.'
    ),
]
BrainOption = Annotated[
    str | None,
    typer.Option(
        '--brain',
        metavar='NAME',
        help='Model that plans: a provider (offline, openai) or the name of a model; '
        'config/llm.yaml by default.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
BodyOption = Annotated[
    str | None,
    typer.Option(
        '--body',
        metavar='NAME',
        help='Model that turns steps into calls, likewise; with --mapping embedding the '
        'embedding model, or `lexical`.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
MappingOption = Annotated[
    MappingMethod | None,
    typer.Option(
        '--mapping',
        help='How steps become calls: by a model held to a JSON schema where it supports that '
        '(auto, the default), never (text) or always (schema); or by matching words (embedding).',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
LoopsOption = Annotated[
    int | None,
    typer.Option(
        '--feedback-loops',
        '--k',
        '-k',
        metavar='N',
        min=0,
        max=100,
        help='How often the Brain may plan anew, 3 by default.',
        show_default=False,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        '--record',
        metavar='FILE',
        help='Keep the whole conversation with the models in this new file.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        '--replay',
        metavar='FILE',
        help='Answer from such a file instead of asking models.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
LlmConfigOption = Annotated[
    Path | None,
    typer.Option(
        '--llm-config',
        metavar='FILE',
        help='Description of the models, instead of config/llm.yaml.',
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
StepsOption = Annotated[
    int | None,
    typer.Option(
        '--limit-steps',
        metavar='N',
        min=1,
        help='Calls that may be executed, 200 by default.',
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
        help='Wall time that the episode may take.',
        rich_help_panel=LIMITS,
        show_default=False,
    ),
]
DomainOption = Annotated[
    int | None,
    typer.Option(
        '--domain',
        metavar='N',
        min=0,
        max=232,
        help='ROS domain of the stack, instead of $ROS_DOMAIN_ID.',
        show_default=False,
    ),
]
RosOption = Annotated[
    bool, typer.Option('--ros', help='Use the nodes of a running stack (`bbllm up sim`).')
]
