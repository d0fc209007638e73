"""What can be chosen for episodes in this process, and the defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.events import Limits
from bbllm.core.goals import AUTO
from bbllm.core.protocols import COLD_START, ChatModel, FailureMemory, Planner, World
from bbllm.core.registry import PlannerSpec
from bbllm.planners.common.methods import MappingMethod
from bbllm.scene.sources import NO_TROUBLE, TRUTH, Sources, TroubleName

if TYPE_CHECKING:
    from bbllm.arm.envelope import SafetyEnvelope
    from bbllm.skills.constraints import Never

WORLDS = ('sim', 'household', 'ros')
"""What a `Robot` may be."""
SCENE = 'tabletop'
HOUSE = 'family_flat'
PLANNER = 'brain_body'
FEEDBACK_LOOPS = 3
STEPS = 200
GOAL = AUTO

AnyPlanner = str | PlannerSpec | Callable[..., Planner]
"""A planner's name, with or without options; its spec; or its class, called as
`factory(brain, body, k=K)`."""
AnyModel = str | ChatModel
"""A model's name, a provider such as `offline`, or a model itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOptions:
    """What was chosen for the episodes of one world."""

    scene: str = SCENE
    """Name of a scene, or the path of a scene file."""
    house: str = ''
    """Name of a house, or the path of its file: a household in place of the table."""
    mode: str = 'sane'
    """The rules of a house, a value of worlds.household.household.Mode."""
    visibility: str = 'full'
    """How much of a house is known, a word of worlds.household.visibility.SEEN."""
    planner: AnyPlanner = PLANNER
    brain: AnyModel | None = None
    """None takes what config/llm.yaml says."""
    body: AnyModel | None = None
    mapping: MappingMethod = MappingMethod.AUTO
    """How steps become calls."""
    k: int = FEEDBACK_LOOPS
    """Feedback loops."""
    goal: str = GOAL
    """What is checked at the end: conditions (core.goals), `auto` to let the Brain read them from
    the task, or `no`."""
    sources: Sources = TRUTH
    """Where scenes of the simulated table come from."""
    trouble: TroubleName = NO_TROUBLE
    """What makes pictures harder to use, where scenes come from them."""
    seed: int | None = None
    """Of the noise of the sensors; 0 where None."""
    speed: float | None = None
    """Simulated seconds per second; 0 is as fast as the simulation runs, None chooses."""
    viewer: bool = False
    video: Path | None = None
    """Where to save a video of the arm."""
    bag: Path | None = None
    """Where to write a bag (docs/bags.md)."""
    stream: bool = True
    """Whether plans begin while they are written, and steps are mapped while the arm moves. What
    models are asked then depends on time, so that it is left out of recordings."""
    record: Path | None = None
    replay: Path | None = None
    memory: Path | None = None
    """Ledger with failures of earlier episodes, for a planner with `memory=yes`."""
    llm_config: Path | None = None
    safety: str = ''
    """File with the safety envelope, or the name of one; empty is config/safety.yaml."""
    never: Sequence[str] = ()
    """Constraints in plain words, besides those of that file; see `skills.constraints`."""
    keep_out: Sequence[str] = ()
    """Boxes that nothing may enter, besides those of that file; see `arm.envelope.parse_box`."""
    rehearse: int = 0
    """In how many simulations of the table plans are tried first; 0 for none."""
    limits: Limits = Limits(steps=STEPS)  # noqa: RUF009  # frozen, so sharing it is safe

    @property
    def domain(self) -> str:
        """The kind of world: `household` or `tabletop`."""
        return 'household' if self.house else 'tabletop'

    @property
    def envelope(self) -> SafetyEnvelope:
        """The safety rules; raises ConfigError for a file or a constraint that cannot be used."""
        from bbllm.arm.envelope import load_envelope

        return load_envelope(self.safety).stricter(self.never, self.keep_out)

    @property
    def constraints(self) -> tuple[Never, ...]:
        """What an arm that is simulated here never does; raises as `envelope`."""
        return () if self.house else self.envelope.never

    def rehearsed(self, world: World) -> World:
        """Return a world whose plans are rehearsed, where these options ask for it."""
        if not self.rehearse:
            return world
        from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld

        settings = RehearsalSettings(
            samples=self.rehearse,
            seed=self.seed or 0,
            safety=self.envelope,
        )
        return RehearsedWorld(world, settings)

    def memory_of(self, brain: str) -> FailureMemory:
        """Return the failures of a Brain's earlier episodes; raises ConfigError without any."""
        if self.memory is None:
            return COLD_START
        from bbllm_bench.ledger.ledger import read_memory

        return read_memory(self.memory, brain)

    @property
    def settings(self) -> dict[str, object]:
        """What journals record of these options, as JSON values."""
        rules = {'mode': self.mode, 'visibility': self.visibility} if self.house else {}
        seen = {'sources': self.sources, 'trouble': self.trouble}
        return {
            'world': self.domain,
            'scene': self.house or self.scene,
            **rules,
            **(seen if self.sources != TRUTH else {}),
            **({'rehearse': self.rehearse} if self.rehearse else {}),
            'seed': self.seed or 0,
            'feedback_loops': self.k,
            'goal': self.goal,
            'mapping': self.mapping.value,
        }


def no_world(name: str) -> Exception:
    """Return the error for a world that does not exist, with what was perhaps meant."""
    from bbllm.scene.scene_file import list_scenes
    from bbllm.worlds.household.houses import list_houses

    for kind, names in (('sim', list_scenes()), ('household', list_houses())):
        if name in names:
            return ConfigError(f'{name!r} is a scene: write Robot({kind!r}, scene={name!r}).')
    return UnknownNameError('robot', name, WORLDS)
