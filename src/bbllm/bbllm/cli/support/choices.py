"""Options that several verbs share: one name, one help text, one completion each."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.core.approval import ApprovalMode
from bbllm.core.errors import BbllmError
from bbllm.core.namespaces import checked_namespace
from bbllm.core.open_state_mode import OpenStateMode
from bbllm.planners.common.methods import MappingMethod


class WorldName(str, Enum):
    """Where a task is carried out."""

    ros = 'ros'
    tabletop = 'tabletop'
    household = 'household'


def beginning(names: Callable[[], list[str]]) -> Callable[[str], list[str]]:
    """Return what completes the beginning of a name, for the shell."""

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
    from bbllm.sim.scene_file import list_scenes

    return list(list_scenes())


def _episodes() -> list[str]:
    from bbllm.core.journal import list_journals
    from bbllm.core.paths import episodes_dir

    return [path.stem for path in reversed(list_journals(episodes_dir()))]


def _namespace(value: str | None) -> str | None:
    return None if value is None else checked_namespace(value)


MODELS = 'Models'
LIMITS = 'Limits'


def file_option(name: str, what: str, *, metavar: str = 'FILE', panel: str = MODELS) -> Any:
    """Return the option that takes a path, none by default."""
    return typer.Option(
        name, metavar=metavar, help=what, rich_help_panel=panel, show_default=False
    )


def count_option(
    *names: str,
    what: str,
    panel: str | None = None,
    least: int = 1,
    most: int | None = None,
    show_default: bool = True,
) -> Any:
    """Return the option that takes a whole number."""
    return typer.Option(
        *names,
        metavar='N',
        min=least,
        max=most,
        help=what,
        rich_help_panel=panel,
        show_default=show_default,
    )


def timeout_option(what: str) -> Any:
    """Return the option that takes a wall time [s]."""
    return typer.Option(
        '--timeout',
        min=0.001,
        metavar='SECONDS',
        help=what,
        rich_help_panel=LIMITS,
        show_default=False,
    )


TaskArgument = Annotated[
    str, typer.Argument(metavar='TASK', help='What to do, in plain words.', show_default=False)
]
EpisodeArgument = Annotated[
    str | None,
    typer.Argument(
        metavar='EPISODE',
        help='Id of an episode, its beginning, or the path of a journal (.jsonl), as the bench '
        'keeps them; the newest one by default.',
        autocompletion=beginning(_episodes),
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
        autocompletion=beginning(_scenes),
    ),
]
PlannerOption = Annotated[
    str | None,
    typer.Option(
        '--planner',
        metavar='NAME',
        help='Planning method: brain_body (the default), base_llm, fltrnn, ft_cot, ft_vanilla, '
        'huang, inner_monologue, lang_prompt, llm_pop, llm_pop_no_evaluator, llm_state, '
        'planning_only, planning_reasoning or prog_prompt. Options go after a colon: '
        '`prog_prompt:check=graph,grounding=nearest`; a wrong one is answered with all there are.',
        autocompletion=beginning(_planners),
        show_default=False,
    ),
]
SeedOption = Annotated[
    int | None,
    count_option(
        '--seed', what='Of the noise of the sensors; 0 without it.', least=0, show_default=False
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
    count_option(
        '--feedback-loops',
        '--k',
        '-k',
        what='How often the Brain may plan anew, 3 by default.',
        least=0,
        most=100,
        show_default=False,
    ),
]
RecordOption = Annotated[
    Path | None,
    file_option('--record', 'Keep the whole conversation with the models in this new file.'),
]
ReplayOption = Annotated[
    Path | None, file_option('--replay', 'Answer from such a file instead of asking models.')
]
SafetyOption = Annotated[
    str | None,
    typer.Option(
        '--safety',
        metavar='FILE',
        help='What no motion may do: a .yaml file, or safety_slow; config/safety.yaml by default.',
        rich_help_panel=LIMITS,
        show_default=False,
    ),
]
OpenStateOption = Annotated[
    OpenStateMode,
    typer.Option(
        '--open-state',
        help='Who adds to scenes what is believed of things by what was done to them; model: that '
        'of the Brain (docs/design/open-state.md).',
        rich_help_panel=MODELS,
    ),
]
LlmConfigOption = Annotated[
    Path | None,
    file_option('--llm-config', 'Description of the models, instead of config/llm.yaml.'),
]
StepsOption = Annotated[
    int | None,
    count_option(
        '--limit-steps',
        what='Calls that may be executed, 200 by default.',
        panel=LIMITS,
        show_default=False,
    ),
]
ApprovalOption = Annotated[
    ApprovalMode,
    typer.Option(
        '--approval',
        help='What a person has to approve before it moves (`bbllm approve`): every plan, every '
        'single call (step), or only calls that are risky.',
    ),
]
YesOption = Annotated[
    bool,
    typer.Option(
        '--yes', '-y', help='Approve whatever the stack asks for; simulated robots only.'
    ),
]
TimeoutOption = Annotated[float | None, timeout_option('Wall time that the episode may take.')]
DomainOption = Annotated[
    int | None,
    count_option(
        '--domain',
        what='ROS domain of the stack, instead of $ROS_DOMAIN_ID.',
        least=0,
        most=232,
        show_default=False,
    ),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option(
        '--namespace',
        metavar='NAME',
        callback=_namespace,
        help='Where the names of the stack lie; needed only where several stacks run.',
        show_default=False,
    ),
]
RosOption = Annotated[bool, typer.Option('--ros', help='Use the nodes of a running stack.')]
