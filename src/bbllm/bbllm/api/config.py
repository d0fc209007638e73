"""What can be chosen for an episode: each option once, in groups that verbs and nodes share."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Self, TypedDict

from pydantic import BeforeValidator, InstanceOf, model_validator

from bbllm.api.settings import EVERYWHERE, Change, FilePath, Settings, setting, surface_of
from bbllm.core.constants import EXPERIENCE, NO_EXPERIENCE, REHEARSAL_SAMPLES, SLOW, OptionWord
from bbllm.core.conversation import MOST_TURNS
from bbllm.core.dialogue import AskingRules, AskMode
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.events import Limits
from bbllm.core.goals import AUTO
from bbllm.core.plugins import installed
from bbllm.core.protocols import (
    ChatModel,
    Planner,
    World,
    check_model,
)
from bbllm.core.registry import PlannerSpec
from bbllm.planners.common.methods import MappingMethod
from bbllm.scene.sources import NO_TROUBLE, TRUTH, Sources, TroubleName

if TYPE_CHECKING:
    from bbllm.arm.envelope import SafetyEnvelope
    from bbllm.skills.constraints import Never

ARMS = 'bbllm.arms'
"""Group of entry points: robots over their own network interface, each `open(options)`, a context
manager with a `Stage`."""
HOUSE = 'family_flat'
MAX_K = 100
"""The largest number of feedback loops."""
MODELS = 'Models'
LIMITS = 'Limits'

AnyPlanner = str | InstanceOf[PlannerSpec] | Callable[..., Planner]
"""A planner's name, with or without options; its spec; or its class, called as
`factory(brain, body, k=K)`."""


def _texts(value: object) -> object:
    """Return a tuple of texts; one text may have several, with semicolons between them."""
    if isinstance(value, str):
        return tuple(filter(None, (part.strip() for part in value.split(';'))))
    return tuple(value) if isinstance(value, list) else value


def _samples(value: object) -> object:
    """Return a number of simulations for whether there are any."""
    if isinstance(value, bool):
        return REHEARSAL_SAMPLES if value else 0
    return value


def _experience(value: object) -> object:
    """Return `yes`, `no`, or the whole path of a file."""
    if isinstance(value, bool):
        return EXPERIENCE if value else NO_EXPERIENCE
    if isinstance(value, PurePath) or (value not in (EXPERIENCE, NO_EXPERIENCE, '')):
        return str(Path(str(value)).expanduser().absolute())
    return value or NO_EXPERIENCE


def _model(value: object) -> object:
    return value if value is None or isinstance(value, str) else check_model(value)


AnyModel = Annotated[str | InstanceOf[ChatModel], BeforeValidator(_model)]
"""A model's name, a provider such as `offline`, or a model itself."""
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
NameOrFile = Annotated[
    str, BeforeValidator(lambda value: str(value) if isinstance(value, PurePath) else value)
]


def listed(module: str, name: str) -> Callable[[], Iterable[str]]:
    """Return what imports a module and calls a function of it that lists names."""
    return lambda: getattr(importlib.import_module(module), name)()


planners = listed('bbllm.core.registry', 'planner_names')
scenes = listed('bbllm.scene.scene_file', 'list_scenes')
SIM, ARM, TABLE, HOUSEHOLD, BUILT, FURNISHED = map(
    frozenset,
    (
        ('sim',),
        ('arm',),
        ('sim', 'arm'),
        ('household',),
        ('sim', 'household'),
        ('sim', 'arm', 'household'),
    ),
)


def arms() -> tuple[str, ...]:
    """Return the names of the robots that can be driven without ROS, sorted."""
    return tuple(sorted({plugin.name for plugin in installed(ARMS)}))


def worlds() -> tuple[str, ...]:
    """Return what a `Robot` may be."""
    return ('sim', 'household', 'ros', *arms())


def kind_of(world: str) -> str:
    """Return the kind of a world of `worlds`, as settings know it."""
    return 'arm' if world in arms() else world


model_setting = partial(setting, panel=MODELS)
limit = partial(setting, panel=LIMITS, change=Change.AT_REST)


class ModelFileChoice(Settings):
    """Where models are described."""

    llm_config: FilePath | None = model_setting(
        None, 'Description of the models, instead of config/llm.yaml.'
    )


class ModelChoice(ModelFileChoice):
    """Which models plan and map."""

    brain: AnyModel | None = model_setting(
        None,
        'Model that plans: a provider (offline, openai) or the name of a model; config/llm.yaml '
        'by default.',
        common=True,
        kind=str,
    )
    body: AnyModel | None = model_setting(
        None,
        'Model that turns steps into calls, likewise; with the mapping embedding the embedding '
        'model, or `lexical`.',
        kind=str,
    )


class RecordChoice(Settings):
    """Whether conversations with models are recorded, or answered from a recording."""

    record: FilePath | None = model_setting(
        None, 'Keep the whole conversation with the models in this new file.'
    )
    replay: FilePath | None = model_setting(
        None, 'Answer from such a file instead of asking models.'
    )


class PlannerChoice(Settings):
    """What is planned with."""

    planner: AnyPlanner = setting(
        'brain_body',
        'Planning method, such as brain_body, prog_prompt or llm_state; an unknown name lists all '
        'that there are. Options go after a colon: '
        '`prog_prompt:check=graph,grounding=nearest`; an unknown option lists the valid ones.',
        metavar='NAME',
        words=planners,
        listed=True,
        common=True,
        kind=str,
    )


class MappingChoice(Settings):
    """How steps become calls."""

    mapping: Annotated[MappingMethod, BeforeValidator(MappingMethod)] = model_setting(
        MappingMethod.AUTO,
        'How steps become calls: by a model that follows a JSON schema where it supports that '
        '(auto), never (text) or always (schema); or by matching words (embedding).',
    )


class SeedChoice(Settings):
    """The noise of sensors."""

    seed: int = setting(0, 'Seed of the noise of the sensors.', low=0, high=2**31, worlds=BUILT)


class MethodChoice(SeedChoice, MappingChoice, ModelChoice, PlannerChoice):
    """What is planned with, and how steps become calls."""


class ExperienceChoice(Settings):
    """Whether what worked is kept and shown."""

    experience: Annotated[str, BeforeValidator(_experience)] = setting(
        NO_EXPERIENCE,
        'Show the Brain what worked in similar situations, and keep repaired plans that meet '
        'their goal: yes, no, or the file to use (docs/experience.md).',
        metavar='WORD|FILE',
        change=Change.AT_REST,
    )


class LoopChoice(Settings):
    """How often a plan is repaired."""

    feedback_loops: int = setting(
        3,
        'How often the Brain may plan anew (K in the paper).',
        *('--feedback-loops', '--k', '-k'),
        low=0,
        high=MAX_K,
        change=Change.AT_REST,
        common=True,
        worlds=EVERYWHERE,
    )


class TalkChoice(Settings):
    """How a planner talks with the person."""

    ask: Annotated[AskMode, BeforeValidator(AskMode)] = setting(
        AskMode.AUTO,
        'Whether the planner may ask how a task is meant: auto, where a person can answer; yes; '
        'no; or safest, yes, and where nobody answers in time it takes the safest reading.',
        common=True,
        worlds=EVERYWHERE,
    )
    answer: Texts = setting(
        (),
        'An answer to a question of the planner, given in advance; may be repeated.',
        metavar='WORDS',
        worlds=EVERYWHERE,
    )
    answer_timeout_s: float = setting(
        300.0,
        'How long a question waits for its answer, wall clock [s].',
        '--answer-timeout',
        metavar='SECONDS',
        low=0.0,
        high=1e6,
    )
    turns: int = setting(
        MOST_TURNS,
        'How many earlier turns of the conversation a task is given with; 0 for none.',
        low=0,
        high=50,
    )

    def asking(self, *, attended: bool) -> AskingRules:
        """Return how questions are answered, where a person is there or not."""
        waits = self.ask in (AskMode.YES, AskMode.SAFEST) or (
            self.ask is AskMode.AUTO and attended
        )
        return AskingRules(
            timeout_s=self.answer_timeout_s,
            safest=self.ask is AskMode.SAFEST,
            answers=() if self.ask is AskMode.NO else self.answer,
            person=waits,
        )


class GoalChoice(Settings):
    """What is checked at the end."""

    goal: str = setting(
        AUTO,
        'What the scene must show at the end: conditions as in docs/goals.md, for example '
        "'on(red_cube, blue_cube)'; auto, what the Brain reads from the task; or no.",
        metavar='CONDITIONS',
        common=True,
        worlds=EVERYWHERE,
    )


class LimitChoice(Settings):
    """What an episode may use."""

    step_limit: int = limit(
        200, 'Calls that may be executed; 0: no limit.', '--limit-steps', low=0, high=100_000
    )
    model_call_limit: int = limit(
        300, 'Requests to models; 0: no limit.', '--limit-model-calls', low=0, high=100_000
    )
    token_limit: int = limit(
        0, 'Tokens, replies included; 0: no limit.', '--limit-tokens', low=0, high=2**31 - 1
    )
    wall_limit_s: float = limit(
        0.0,
        'Wall time that the episode may take [s]; 0: no limit.',
        '--timeout',
        metavar='SECONDS',
        low=0.0,
        high=1e6,
    )
    remark_limit: int = limit(
        10, 'Remarks and denials that may change the plan.', '--limit-remarks', low=0, high=1000
    )
    allow_circles: bool = limit(
        False, 'Let an episode that goes in circles go on up to its other limits.'
    )

    @model_validator(mode='before')
    @classmethod
    def _spread(cls, values: Any) -> Any:
        """Take the limits of an episode as one value, too."""
        limits = values.get('limits') if isinstance(values, dict) else None
        if not isinstance(limits, Limits):
            return values
        spread = {
            'step_limit': limits.steps or 0,
            'model_call_limit': limits.model_calls or 0,
            'token_limit': limits.tokens or 0,
            'wall_limit_s': limits.wall_s or 0.0,
            'remark_limit': limits.remarks,
            'allow_circles': limits.allow_circles,
        }
        return {**spread, **{name: x for name, x in values.items() if name != 'limits'}}

    @property
    def limits(self) -> Limits:
        return Limits(
            steps=self.step_limit or None,
            model_calls=self.model_call_limit or None,
            tokens=self.token_limit or None,
            wall_s=self.wall_limit_s or None,
            remarks=self.remark_limit,
            allow_circles=self.allow_circles,
        )


class NeverChoice(Settings):
    """What no call and no motion may do."""

    never: Texts = setting(
        (),
        "What the robot may never do, in plain words: 'touch OBJECT', 'move OBJECT' or 'place "
        "anything on OBJECT', such as 'touch the blue cylinder'; besides the constraints of the "
        'safety file; may be repeated (docs/safety.md).',
        metavar='WORDS',
        panel=LIMITS,
        change=Change.FIXED,
        common=True,
        worlds=TABLE,
    )
    keep_out: Texts = setting(
        (),
        'Box that nothing may enter, by two corners in the frame of the base [m]: '
        "'x y z x y z'; besides those of the safety file; may be repeated.",
        metavar='CORNERS',
        panel=LIMITS,
        change=Change.FIXED,
        worlds=TABLE,
    )


class RuleChoice(NeverChoice):
    """The safety envelope, and what it is extended by."""

    safety: NameOrFile = setting(
        '',
        'Safety envelope: a .yaml file, or safety_slow; config/safety.yaml by default, and '
        'safety_slow for a robot without ROS.',
        metavar='FILE',
        panel=LIMITS,
        change=Change.FIXED,
        worlds=TABLE,
    )

    @property
    def envelope(self) -> SafetyEnvelope:
        """The safety rules; raises ConfigError for a file or a constraint that cannot be used."""
        from bbllm.arm.envelope import load_envelope

        return load_envelope(self.safety).stricter(self.never, self.keep_out)


class RehearsalChoice(Settings):
    """Whether plans are tried in simulations of the table first."""

    rehearse: Annotated[int, BeforeValidator(_samples)] = setting(
        -1,
        'Try each plan in simulations of the table before it moves the arm, and let the Brain '
        'repair what fails there: their number, 0 for none; by default 3 where a person approves '
        'plans.',
        '--rehearse/--no-rehearse',
        low=-1,
        high=100,
        kind=bool,
        change=Change.AT_REST,
        worlds=TABLE,
    )

    def samples(self, *, approved: bool = False) -> int:
        """Return the number of simulations, where a person approves plans or not."""
        if self.rehearse >= 0:
            return self.rehearse
        return REHEARSAL_SAMPLES if approved else 0


class SourceChoice(Settings):
    """Where scenes of a simulated table come from."""

    sources: Sources = setting(
        TRUTH,
        'Where scenes of the simulated table come from: truth, the state of the simulator, or '
        'camera, the pictures of simulated cameras alone (docs/perception.md).',
        common=True,
        worlds=SIM,
    )
    trouble: TroubleName = setting(
        NO_TROUBLE,
        'With pictures as sources, what makes them harder to use: light, clutter (unknown '
        'objects) or moved (cameras that are 5 mm off their calibration).',
        worlds=SIM,
    )


class HouseChoice(Settings):
    """Which house, its rules, and how much of it is visible."""

    house: NameOrFile = setting(
        '',
        'Household to act in, in this process: a name (see `bbllm scenes`), a .yaml file, or '
        "a graph of VirtualHome's in .json; for planners such as prog_prompt.",
        metavar='NAME',
        words=listed('bbllm.worlds.household.houses', 'list_houses'),
        common=True,
        worlds=HOUSEHOLD,
    )
    mode: str = setting(
        'sane',
        "Rules of a house: sane, or VirtualHome's: persistent, fresh, as ProgPrompt runs it, or "
        'eai, as the Embodied Agent Interface mends it.',
        metavar='NAME',
        words=listed('bbllm.worlds.household.household', 'mode_names'),
        worlds=HOUSEHOLD,
    )
    visibility: str = setting(
        'full',
        'What is known of a house: full, all_rooms or rooms_seen (docs/household.md).',
        metavar='NAME',
        words=listed('bbllm.worlds.household.visibility', 'visibility_names'),
        worlds=HOUSEHOLD,
    )


class SceneChoice(Settings):
    """Which table."""

    scene: NameOrFile = setting(
        'tabletop',
        'Scene to start with: a name (see `bbllm scenes`) or a .yaml file; for a robot without '
        'ROS the file with the positions that you measured.',
        metavar='NAME',
        words=scenes,
        common=True,
        worlds=FURNISHED,
    )


class Realtime(OptionWord):
    """Whether a computer without real time may drive a robot."""

    AUTO = 'auto'
    ENFORCE = 'enforce'
    IGNORE = 'ignore'


class RobotAddress(Settings):
    """Where a robot is, over its own network interface."""

    ip: str = setting(
        '',
        "Address of the robot's control, such as 172.16.0.2.",
        metavar='ADDRESS',
        common=True,
        worlds=ARM,
    )
    simulated_robot: bool = setting(
        False,
        'The address is that of a simulation, in which no arm moves and no person has to approve.',
        worlds=ARM,
    )


class ArmAddress(RobotAddress):
    """Where a robot is, and whether a computer without real time may drive it."""

    realtime: Annotated[Realtime, BeforeValidator(Realtime)] = setting(
        Realtime.AUTO,
        'Whether a computer without real time, or that does not keep up with the robot, is '
        'refused: enforce, ignore, or auto, which is ignore for a simulation.',
        worlds=ARM,
    )

    @property
    def ignores_realtime(self) -> bool:
        """Whether a computer without real time may drive it."""
        auto = self.realtime is Realtime.AUTO
        return self.realtime is Realtime.IGNORE or (auto and self.simulated_robot)


class ArmChoice(ArmAddress):
    """Which robot is moved over its own network interface, and what it is."""

    robot: str = setting(
        '',
        'Robot to move without ROS, over its own network interface (docs/real-arm.md).',
        metavar='NAME',
        words=arms,
        listed=True,
        common=True,
        worlds=ARM,
    )
    load_kg: float = setting(
        0.0,
        'Mass of what is mounted on the hand and set as load in the robot [kg]; another load in '
        'the robot is refused.',
        '--load',
        metavar='KG',
        low=0.0,
        high=3.0,
        worlds=ARM,
    )


class SpeedChoice(Settings):
    """How fast time passes, and whether it is watched."""

    speed: float | None = setting(
        None,
        'Simulated seconds per second: 1 is real time, 0 is as fast as the simulation runs '
        '(the default; 1 with a viewer; the demo takes 2 on a terminal).',
        metavar='X',
        low=0.0,
        high=100.0,
        change=Change.AT_REST,
        common=True,
        worlds=BUILT,
    )
    viewer: bool = setting(
        False, 'Open the MuJoCo viewer (needs a display).', common=True, worlds=SIM
    )


class StreamChoice(Settings):
    """Whether plans begin while they are written."""

    stream: bool = setting(
        True,
        'Begin a plan while its model writes it, and map steps while the arm moves, or wait for '
        'each reply, as always where a person approves plans, with --record and --replay.',
        '--stream/--no-stream',
    )


# Help lists the fields of the last of these first.
class EpisodeConfig(
    LimitChoice,
    RuleChoice,
    RehearsalChoice,
    RecordChoice,
    StreamChoice,
    ExperienceChoice,
    SpeedChoice,
    GoalChoice,
    TalkChoice,
    LoopChoice,
    MethodChoice,
    SourceChoice,
    HouseChoice,
    ArmChoice,
    SceneChoice,
):
    """Everything that can be chosen for the episodes of one world."""

    @property
    def domain(self) -> str:
        """The kind of world: `household` or `tabletop`."""
        return 'household' if self.house else 'tabletop'

    def on_arm(self, robot: str) -> Self:
        """
        Return these options for a robot without ROS: in the slow envelope, plans rehearsed.

        Raises UnknownNameError where none of that name can be driven.
        """
        if robot not in arms():
            raise UnknownNameError('robot', robot, arms())
        update = {'robot': robot, 'safety': self.safety or SLOW}
        return self.model_copy(update={**update, 'rehearse': self.samples(approved=True)})

    @property
    def constraints(self) -> tuple[Never, ...]:
        """What the arm never does; raises as `envelope`."""
        return () if self.house else self.envelope.never

    @property
    def kept_out(self) -> tuple[str, ...]:
        """Which space it never enters, in words; raises as `envelope`."""
        return () if self.house else self.envelope.kept_out

    def rehearsed(self, world: World) -> World:
        """Return a world whose plans are rehearsed, where these options ask for it."""
        if not (samples := self.samples()):
            return world
        from bbllm.scene.scene_file import load_scene
        from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld

        settings = RehearsalSettings(
            robot=load_scene(self.scene).robot,
            samples=samples,
            seed=self.seed,
            safety=self.envelope,
        )
        return RehearsedWorld(world, settings)

    @property
    def of_task(self) -> dict[str, Any]:
        """What a running stack is given with a task, where it was chosen."""
        return self.given_in('ros')

    def given_in(self, kind: str) -> dict[str, Any]:
        """Return what was chosen of that which a kind of world has."""
        known = type(self).model_fields
        return {n: x for n, x in self.given.items() if kind in surface_of(known[n]).worlds}

    @property
    def settings(self) -> dict[str, object]:
        """What journals record of these options, as JSON values."""
        rules = {'mode': self.mode, 'visibility': self.visibility} if self.house else {}
        seen = {'sources': self.sources, 'trouble': self.trouble}
        arm = {'robot': self.robot, 'ip': self.ip, 'simulated_robot': self.simulated_robot}
        return {
            'world': self.domain,
            'scene': self.house or self.scene,
            **rules,
            **(arm if self.robot else {}),
            **(seen if self.sources != TRUTH else {}),
            **({} if self.experience == NO_EXPERIENCE else {'experience': self.experience}),
            **({'rehearse': samples} if (samples := self.samples()) else {}),
            'seed': self.seed,
            'feedback_loops': self.feedback_loops,
            'goal': self.goal,
            'mapping': self.mapping.value,
        }


class EpisodeOptions(TypedDict, total=False):
    """The fields of `EpisodeConfig` as keywords, for type checkers; a test compares both."""

    brain: AnyModel | None
    body: AnyModel | None
    llm_config: str | Path | None
    record: str | Path | None
    replay: str | Path | None
    planner: AnyPlanner | None
    mapping: MappingMethod | str | None
    feedback_loops: int | None
    goal: str | None
    ask: AskMode | str | None
    answer: str | list[str] | tuple[str, ...] | None
    answer_timeout_s: float | None
    turns: int | None
    limits: Limits | None
    step_limit: int | None
    model_call_limit: int | None
    token_limit: int | None
    wall_limit_s: float | None
    remark_limit: int | None
    allow_circles: bool | None
    never: str | list[str] | tuple[str, ...] | None
    keep_out: str | list[str] | tuple[str, ...] | None
    safety: str | Path | None
    rehearse: bool | int | None
    sources: Sources | None
    trouble: TroubleName | None
    house: str | Path | None
    mode: str | None
    visibility: str | None
    scene: str | Path | None
    robot: str | None
    ip: str | None
    simulated_robot: bool | None
    realtime: Realtime | str | None
    load_kg: float | None
    seed: int | None
    speed: float | None
    viewer: bool | None
    stream: bool | None
    experience: bool | str | Path | None


REFUSED = {
    'sim': "A table does not have {}. A house does: --house NAME, or Robot('household').",
    'arm': 'A robot over its own network interface does not have {}. A simulated table does: '
    "--world tabletop, or Robot('sim').",
    'household': 'A household is symbols, and does not have {}. An arm that is simulated in this '
    "process does: --world tabletop, or Robot('sim').",
    'given': '{} would belong to the world, which was given.',
    'ros': 'Without --world, a task goes to a running stack, which cannot take {} any more: '
    'choose that when the stack is started (options of `bbllm up`, arguments of a launch file), '
    "or use a world in this process: --world tabletop, or Robot('sim').",
}
"""Why settings are refused, by the kind of world that does not have them."""


def check_world(
    kind: str,
    given: Mapping[str, object],
    record: type[EpisodeConfig] = EpisodeConfig,
    spell: Callable[[str], str] = str,
) -> None:
    """
    Raise ConfigError where settings of a record were chosen that a kind of world does not have.

    *spell* returns the name of a setting as the caller wrote it, such as its flag.
    """

    def has(name: str) -> bool:
        item = record.model_fields['step_limit' if name == 'limits' else name]
        return kind in surface_of(item).worlds

    def is_chosen(value: object) -> bool:
        # What is off is what a world without it does; a stack may have it on.
        return value is not None and (bool(value) or kind == 'ros')

    if odd := [spell(name) for name, x in given.items() if is_chosen(x) and not has(name)]:
        raise ConfigError(REFUSED[kind].format(', '.join(odd)))


def no_world(name: str) -> Exception:
    """Return the error for a world that does not exist, with what was perhaps meant."""
    from bbllm.scene.scene_file import list_scenes
    from bbllm.worlds.household.houses import list_houses

    for kind, names in (('sim', list_scenes()), ('household', list_houses())):
        if name in names:
            return ConfigError(f'{name!r} is a scene: write Robot({kind!r}, scene={name!r}).')
    return UnknownNameError('robot', name, worlds())
