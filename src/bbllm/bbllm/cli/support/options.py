"""Options that several verbs share: one name, one help text, one completion each."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.requests import option
from bbllm.core.constants import checked_namespace
from bbllm.core.errors import BbllmError
from bbllm.planners.common.methods import MappingMethod

MODELS = 'Models'
LIMITS = 'Limits'
MAX_K = 100
"""The largest number of feedback loops."""


class WorldName(str, Enum):
    """Where a task is carried out."""

    ros = 'ros'
    tabletop = 'tabletop'
    household = 'household'


def beginning(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes the beginning of a name, for the shell."""

    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except BbllmError:
            # An error in a completion would garble the line that is typed.
            return []

    return complete


def _listed(module: str, name: str) -> Callable[[], Iterable[str]]:
    """Return what imports a module and calls a function of it that lists names."""
    return lambda: getattr(importlib.import_module(f'bbllm.{module}'), name)()


planners = _listed('core.registry', 'planner_names')
scenes = _listed('sim.scene_file', 'list_scenes')
_houses = _listed('worlds.household.houses', 'list_houses')


def _modes() -> Iterable[str]:
    from bbllm.worlds.household.household import Mode

    return (mode.value for mode in Mode)


def _visibilities() -> Iterable[str]:
    from bbllm.worlds.household.visibility import SEEN

    return SEEN


def count(default: int | None, help: str, *flags: str, least: int = 1, **more: Any) -> Any:
    """Return a field that takes a whole number."""
    return option(default, help, *flags, metavar='N', min=least, **more)


seconds = partial(option, None, metavar='SECONDS', min=0.001, panel=LIMITS)
"""Called with a help text: a field that takes a wall time [s]."""
file = partial(option, None, metavar='FILE', panel=MODELS)
"""Called with a help text: a field that takes a path, none by default."""

JsonOption = Annotated[
    bool,
    typer.Option(
        '--json', help='Print exactly one JSON object on stdout; all else goes to stderr.'
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
NamespaceOption = Annotated[
    str | None,
    typer.Option(
        '--namespace',
        metavar='NAME',
        callback=lambda name: None if name is None else checked_namespace(name),
        help='Where the names of the stack lie; needed only where several stacks run.',
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
TaskArgument = Annotated[
    str, typer.Argument(metavar='TASK', help='What to do, in plain words.', show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """Which running stack is meant."""

    domain: DomainOption = None
    namespace: NamespaceOption = None


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which models plan and map."""

    brain: str | None = option(
        None,
        'Model that plans: a provider (offline, openai) or the name of a model; config/llm.yaml '
        'by default.',
        metavar='NAME',
        panel=MODELS,
    )
    body: str | None = option(
        None,
        'Model that turns steps into calls, likewise; with --mapping embedding the embedding '
        'model, or `lexical`.',
        metavar='NAME',
        panel=MODELS,
    )
    llm_config: LlmConfigOption = None


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """Whether conversations with models are recorded, or answered from a recording."""

    record: Path | None = file('Keep the whole conversation with the models in this new file.')
    replay: Path | None = file('Answer from such a file instead of asking models.')


planner_option = partial(
    option,
    None,
    'Planning method: brain_body (the default), base_llm, fltrnn, ft_cot, ft_vanilla, huang, '
    'inner_monologue, lang_prompt, llm_pop, llm_pop_no_evaluator, llm_state, planning_only, '
    'planning_reasoning or prog_prompt. Options go after a colon: '
    '`prog_prompt:check=graph,grounding=nearest`; a wrong one is answered with all there are.',
    metavar='NAME',
    autocompletion=beginning(planners),
)
scene_option = partial(
    option,
    None,
    'Scene to start with: a name (see `bbllm scenes`) or a .yaml file; `tabletop` by default.',
    metavar='NAME',
    autocompletion=beginning(scenes),
)
seed_option = partial(count, None, 'Of the noise of the sensors; 0 without it.', least=0)
loops_option = partial(
    count,
    None,
    'How often the Brain may plan anew, 3 by default.',
    *('--feedback-loops', '--k', '-k'),
    least=0,
    max=MAX_K,
)
viewer_option = partial(option, False, 'Open the MuJoCo viewer (needs a display).', '--viewer')
ros_option = partial(option, False, 'Use the nodes of a running stack.', '--ros')


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What an episode may do."""

    limit_steps: int | None = count(
        None, 'Calls that may be executed, 200 by default.', panel=LIMITS
    )
    safety: str | None = option(
        None,
        'What no motion may do: a .yaml file, or safety_slow; config/safety.yaml by default.',
        metavar='FILE',
        panel=LIMITS,
    )


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """What is planned with, and how steps become calls."""

    planner: str | None = planner_option()
    seed: int | None = seed_option()
    models: ModelOptions
    mapping: MappingMethod | None = option(
        None,
        'How steps become calls: by a model held to a JSON schema where it supports that (auto, '
        'the default), never (text) or always (schema); or by matching words (embedding).',
        panel=MODELS,
    )


@dataclass(frozen=True, kw_only=True)
class SpeedOptions:
    """How fast time passes, and what shows it."""

    speed: float | None = option(
        None,
        'Simulated seconds per second: 1 is real time, 0 is as fast as the simulation runs '
        '(the default; 1 with --viewer; the demo takes 2 on a terminal).',
        metavar='X',
        min=0.0,
        max=100.0,
    )
    viewer: bool = viewer_option()
    video: Path | None = option(
        None,
        'Save a video of the simulated arm, a .gif or .webp file as fast as the robot; needs no '
        'display.',
        metavar='FILE',
    )


@dataclass(frozen=True, kw_only=True)
class HouseOptions:
    """Which house, its rules, and how much of it is visible."""

    house: str | None = option(
        None,
        'Household to act in, in this process: a name (see `bbllm scenes`), a .yaml file, or '
        "a graph of VirtualHome's in .json; for planners such as prog_prompt.",
        metavar='NAME',
        autocompletion=beginning(_houses),
    )
    mode: str | None = option(
        None,
        "Rules of a house: sane (the default), or VirtualHome's: persistent, or fresh, as "
        'ProgPrompt runs it.',
        metavar='NAME',
        autocompletion=beginning(_modes),
    )
    visibility: str | None = option(
        None,
        "What is known of a house: full (the default); room, what is in the character's room "
        'and in nothing closed; rooms_seen, also of rooms that it was in; room_open_only and '
        'rooms_seen_open_only, of containers only what is in open ones.',
        metavar='NAME',
        autocompletion=beginning(_visibilities),
    )
