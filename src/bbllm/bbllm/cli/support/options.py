"""Options that several verbs share: one name, one help text, one completion each."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer

from bbllm.cli.support.requests import flag, flag_of, option
from bbllm.core.constants import REHEARSAL_SAMPLES, checked_namespace
from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.planners.common.methods import MappingMethod
from bbllm.scene.sources import Sources, TroubleName

MODELS = 'Models'
LIMITS = 'Limits'
WorldName = Literal['ros', 'tabletop', 'household']
"""Where a task is carried out."""
MAX_K = 100
"""The largest number of feedback loops."""


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
    return lambda: getattr(importlib.import_module(module), name)()


planners = _listed('bbllm.core.registry', 'planner_names')
scenes = _listed('bbllm.scene.scene_file', 'list_scenes')
recorded_tasks = _listed('bbllm_bench.runner.recorded_runs', 'recorded_tasks')
_houses = _listed('bbllm.worlds.household.houses', 'list_houses')


count = partial(option, min=1)
"""Called with a help text: a whole number."""
seconds = partial(option, metavar='SECONDS', min=0.001, panel=LIMITS)
"""Called with a help text: a wall time [s]."""

JsonOption = Annotated[
    bool,
    typer.Option(
        '--json', help='Print exactly one JSON object on stdout; all else goes to stderr.'
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


domain_option = partial(
    count, 'ROS domain of the stack, instead of $ROS_DOMAIN_ID.', min=0, max=232
)


@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """Which running stack is meant."""

    domain: int | None = domain_option()
    namespace: str | None = option(
        'Where the names of the stack lie; needed only where several stacks run.',
        callback=lambda name: None if name is None else checked_namespace(name),
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which models plan and map."""

    panel: ClassVar[str] = MODELS
    brain: str | None = option(
        'Model that plans: a provider (offline, openai) or the name of a model; config/llm.yaml '
        'by default.',
    )
    body: str | None = option(
        'Model that turns steps into calls, likewise; with --mapping embedding the embedding '
        'model, or `lexical`.',
    )
    llm_config: LlmConfigOption = None


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """Whether conversations with models are recorded, or answered from a recording."""

    panel: ClassVar[str] = MODELS
    record: Path | None = option('Keep the whole conversation with the models in this new file.')
    replay: Path | None = option('Answer from such a file instead of asking models.')


planner_option = partial(
    option,
    'Planning method, brain_body by default; there are brain_body, base_llm, fltrnn, ft_cot, '
    'ft_vanilla, huang, inner_monologue, lang_prompt, llm_pop, llm_pop_no_evaluator, llm_state, '
    'planning_only, planning_reasoning or prog_prompt. Options go after a colon: '
    '`prog_prompt:check=graph,grounding=nearest`; a wrong one is answered with all there are.',
    metavar='NAME',
    autocompletion=beginning(planners),
)
scene_option = partial(
    option,
    'Scene to start with: a name (see `bbllm scenes`) or a .yaml file; `tabletop` by default.',
    metavar='NAME',
    autocompletion=beginning(scenes),
)
seed_option = partial(count, 'Of the noise of the sensors; 0 without it.', min=0)
loops_option = partial(
    count,
    'How often the Brain may plan anew, 3 by default.',
    *('--feedback-loops', '--k', '-k'),
    min=0,
    max=MAX_K,
)
goal_option = partial(
    option,
    'What the scene must show at the end: conditions as in docs/goals.md, for example '
    "'on(red_cube, blue_cube)'; auto, what the Brain reads from the task (the default); or no.",
    metavar='CONDITIONS',
)
memory_option = partial(
    option,
    'Ledger of failures for the planner brain_body:memory=yes: the Brain is shown those of its '
    'earlier episodes, and what worked after them (docs/design/failure-ledger.md).',
    panel=MODELS,
)
viewer_option = partial(flag, 'Open the MuJoCo viewer (needs a display).', '--viewer')
ros_option = partial(flag, 'Use the nodes of a running stack.', '--ros')


@dataclass(frozen=True, kw_only=True)
class NeverOptions:
    """What no call and no motion may do."""

    panel: ClassVar[str] = LIMITS
    never: list[str] | None = option(
        "What the robot may never do, in plain words: 'touch OBJECT', 'move OBJECT' or 'place "
        "anything on OBJECT', such as 'touch the blue cylinder'; may be repeated "
        '(docs/design/constraints.md).',
        metavar='WORDS',
    )
    keep_out: list[str] | None = option(
        "Box that nothing may enter, by two corners in metres in the base frame: 'x y z x y z'; "
        'may be repeated.',
        metavar='CORNERS',
    )


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What an episode may do."""

    panel: ClassVar[str] = LIMITS
    limit_steps: int | None = count('Calls that may be executed, 200 by default.')
    limit_remarks: int | None = count('Remarks and denials that may change plans, 10 by default.')
    allow_circles: bool = flag(
        'Let an episode that goes in circles go on up to its other limits.', panel=LIMITS
    )
    safety: str | None = option(
        'What no motion may do: a .yaml file, or safety_slow; config/safety.yaml by default.',
        metavar='FILE',
    )
    constraints: NeverOptions = NeverOptions()


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """What is planned with, and how steps become calls."""

    planner: str | None = planner_option()
    seed: int | None = seed_option()
    models: ModelOptions
    memory: Path | None = memory_option()
    mapping: MappingMethod | None = option(
        'How steps become calls: by a model held to a JSON schema where it supports that (auto, '
        'the default), never (text) or always (schema); or by matching words (embedding).',
        panel=MODELS,
    )


@dataclass(frozen=True, kw_only=True)
class SpeedOptions:
    """How fast time passes, and what shows it."""

    speed: float | None = option(
        'Simulated seconds per second: 1 is real time, 0 is as fast as the simulation runs '
        '(the default; 1 with --viewer; the demo takes 2 on a terminal).',
        metavar='X',
        min=0.0,
        max=100.0,
    )
    stream: bool | None = option(
        'Begin a plan while its model writes it, and map steps while the arm moves (the default), '
        'or wait for each reply, as always with --record and --replay.',
        '--stream/--no-stream',
    )
    viewer: bool = viewer_option()
    video: Path | None = option(
        'Save a video of the simulated arm, a .gif, .webp or .mp4 file as fast as the robot; '
        'needs no display.'
    )


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Where scenes of a simulated table come from."""

    sources: Sources | None = option(
        'Where scenes of the simulated table come from: truth, the state of the simulator (the '
        'default), or camera, the pictures of simulated cameras alone (docs/perception.md).'
    )
    trouble: TroubleName | None = option(
        'With --sources camera, what makes pictures harder to use: light, clutter (unknown '
        'objects) or moved (cameras that are 5 mm off their calibration); none by default.'
    )


@dataclass(frozen=True, kw_only=True)
class RehearsalOptions:
    """Whether plans are tried in simulations of the table first."""

    rehearse: bool | None = option(
        'Try each plan in simulations of the table before it moves the arm, and let the Brain '
        'repair what fails there; by default where a person approves plans.',
        '--rehearse/--no-rehearse',
    )
    rehearsal_samples: int | None = count(
        'In so many simulations, which differ in poses, masses and friction; 3 by default.',
        max=100,
    )

    def samples(self, *, default: bool = False) -> int:
        """
        Return the number of simulations, 0 for no rehearsal; *default* decides where none is said.

        Raises:
            ConfigError: There is a number and no rehearsal.
        """
        wanted = default if self.rehearse is None else self.rehearse
        if not wanted and self.rehearsal_samples is not None:
            raise ConfigError('--rehearsal-samples is for rehearsals: add --rehearse.')
        return (self.rehearsal_samples or REHEARSAL_SAMPLES) if wanted else 0


@dataclass(frozen=True, kw_only=True)
class BagOptions:
    """Whether what happens is kept as a bag."""

    bag: Path | None = option(
        'Record scenes, plans, events, joint states, goals, forces and images in this new .mcap '
        'file, which Foxglove and `ros2 bag` read (docs/bags.md).'
    )


@dataclass(frozen=True, kw_only=True)
class HouseOptions:
    """Which house, its rules, and how much of it is visible."""

    house: str | None = option(
        'Household to act in, in this process: a name (see `bbllm scenes`), a .yaml file, or '
        "a graph of VirtualHome's in .json; for planners such as prog_prompt.",
        autocompletion=beginning(_houses),
    )
    mode: str | None = option(
        "Rules of a house: sane (the default), or VirtualHome's: persistent, fresh, as "
        'ProgPrompt runs it, or eai, as the Embodied Agent Interface mends it.',
        autocompletion=beginning(lambda: ('sane', 'persistent', 'fresh', 'eai')),
    )
    visibility: str | None = option(
        'What is known of a house: full (the default); all_rooms, what is in nothing closed; '
        "room, the same of the character's room; rooms_seen, also of rooms that it was in; "
        'room_open_only and rooms_seen_open_only, of containers only what is in open ones.',
        autocompletion=beginning(
            lambda: (
                *('full', 'all_rooms', 'room', 'rooms_seen'),
                *('room_open_only', 'rooms_seen_open_only'),
            )
        ),
    )


@dataclass(frozen=True, kw_only=True)
class CameraOptions:
    """Where the scenes of a simulated stack come from."""

    panel: ClassVar[str] = 'Scenes from pictures'
    sources: str | None = option(
        'Where the objects of scenes come from: objects (the default), the simulator itself; '
        'camera, the pictures of simulated cameras; others are in docs/perception.md.',
        metavar='NAMES',
    )
    cameras: str | None = option(
        'With --sources camera: table_camera (the default), hand_camera, or both with a comma.',
        metavar='NAMES',
    )
    detector: str | None = option(
        'With --sources camera: what finds the objects in pictures: blocks (the default), onnx or '
        'vlm.',
        metavar='NAME',
    )
    detector_model: str | None = option(
        'The file of the network of --detector onnx, or the model of --detector vlm.',
        metavar='NAME|FILE',
    )


OF_CAMERAS = ('cameras', 'detector', 'detector_model')


def uses_cameras(options: CameraOptions) -> bool:
    """
    Return whether pictures are a source of scenes.

    Raises UnknownNameError for another source or a camera that the simulator does not have,
    ConfigError for options that are without effect.
    """
    from bbllm.worlds.perception.sources import SceneSource, parse_sources

    sources = options.sources
    if sources is not None and SceneSource.CAMERA in parse_sources(sources):
        _check_cameras(options.cameras)
        return True
    if names := [flag_of(name) for name in OF_CAMERAS if getattr(options, name)]:
        raise ConfigError(f'{", ".join(names)}: only with --sources camera.')
    return False


def _check_cameras(names: str | None) -> None:
    from bbllm.sim.camera_settings import HAND_CAMERA, TABLE_CAMERA

    known = (TABLE_CAMERA.name, HAND_CAMERA.name)
    for name in map(str.strip, (names or '').split(',')):
        # A name with a leading slash is that of a camera beside the simulation.
        if name and not name.startswith('/') and name not in known:
            raise UnknownNameError('simulated camera', name, known)
