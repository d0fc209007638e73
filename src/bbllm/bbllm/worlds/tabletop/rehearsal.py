"""Plans and calls are tried in simulations of the table before they move the robot."""

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from bbllm.arm.envelope import SafetyEnvelope
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import REHEARSAL_SAMPLES
from bbllm.core.errors import WorldError
from bbllm.core.events import PlanRehearsed
from bbllm.core.protocols import (
    World,
    WorldFeatures,
)
from bbllm.core.text import rehearsed_cause
from bbllm.core.types import Code, Outcome, Scene, Skill, SkillCall, Status
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.robots.registry import DEFAULT_ROBOT
from bbllm.sim.simulation import Simulation
from bbllm.skills.catalog import find_skill, moves
from bbllm.skills.grasps import grips_for
from bbllm.worlds.tabletop.deviation import Deviation, drawn, of_objects
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm.worlds.tabletop.twin import twin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalSettings:
    """How plans are rehearsed."""

    robot: str = DEFAULT_ROBOT
    """Name of the robot at the table."""
    samples: int = REHEARSAL_SAMPLES
    """Number of simulations: the scene as it was observed, and others that differ from it."""
    seed: int = 0
    """Of the differences."""
    deviation: Deviation = Deviation()  # noqa: RUF009  # frozen, so sharing it is safe
    """What all simulations have in common that is not in the scene."""
    safety: SafetyEnvelope | None = None
    """The safety rules; those of config/safety.yaml by default."""


class TwinRehearsal:
    """
    A `Rehearsal` of a table: one simulation of the scene as observed, others with `drawn` poses.

    A simulation whose physics fails counts as one in which the call failed.
    """

    def __init__(
        self,
        scene: Scene,
        settings: RehearsalSettings,
        dice: np.random.Generator,
        *,
        cancel: CancelToken | None = None,
        on_success: Callable[[SkillCall], object] = lambda call: None,
    ) -> None:
        self._begun_s = time.monotonic()
        self._cancel, self._on_success = cancel or CancelToken(), on_success
        common, others = of_objects(scene, settings.deviation), range(settings.samples - 1)
        deviations = [common, *(drawn(scene, dice, around=common) for _ in others)]
        self._worlds = [
            twin_of(scene, each, robot=settings.robot, safety=settings.safety)
            for each in deviations
        ]
        self._going = list(self._worlds)
        self._nearest = NearestApproach(self._worlds[0].robot.simulation)
        self._worlds[0].on_advance = self._nearest.sample
        self._result = PlanRehearsed(samples=settings.samples, succeeded=settings.samples, calls=0)
        self.is_intact = True
        """Whether all simulations are where the last call that succeeded has left them."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._going[0].skills

    def observe(self) -> Scene:
        return self._going[0].observe()

    def execute(self, call: SkillCall) -> Outcome:
        self._cancel.raise_if_cancelled()
        scene = self.observe()
        self._nearest.begin(call, scene)
        outcomes = [(world, _outcome(world, call)) for world in self._going]
        failed = [outcome for _, outcome in outcomes if not outcome.succeeded]
        left = len(outcomes) - len(failed)
        before = self._result
        self._result = replace(before, succeeded=left, calls=before.calls + 1)
        if 2 * left < before.samples:
            self.is_intact = all(it.status is Status.REJECTED for _, it in outcomes)
            return failed[0]
        self._going = [world for world, outcome in outcomes if outcome.succeeded]
        done = next(outcome for _, outcome in outcomes if outcome.succeeded)
        self._result = replace(
            self._result,
            robot_s=before.robot_s + done.duration_s,
            grip_room_m=_least(before.grip_room_m, _grip_room(done.call, scene)),
        )
        self._on_success(call)
        return done

    def stop(self) -> None:
        for world in self._going:
            world.stop()

    @property
    def result(self) -> PlanRehearsed:
        return replace(
            self._result,
            nearest_m=self._nearest.distance_m,
            nearest_object=self._nearest.name,
            wall_s=time.monotonic() - self._begun_s,
        )

    def close(self) -> None:
        for world in self._worlds:
            world.close()


class RehearsedWorld(WorldWrapper):
    """
    A table whose plans are rehearsed where a planner asks for it, and whose other calls are.

    A call that failed in its rehearsal is rejected: nothing has moved.
    """

    def __init__(self, inner: World, settings: RehearsalSettings) -> None:
        super().__init__(inner)
        self._settings = settings
        self._dice = np.random.default_rng(settings.seed)
        self._passed: deque[SkillCall] = deque()
        """Calls that a rehearsal of the plan has found to succeed, in their order."""

    @property
    def features(self) -> WorldFeatures:
        return replace(super().features, rehearse=self.rehearsal)

    def rehearsal(self, cancel: CancelToken | None = None) -> TwinRehearsal:
        """Begin a rehearsal of a plan; see `WorldFeatures`."""
        self._passed.clear()
        return self._begin(cancel, self._passed.append)

    def execute(self, call: SkillCall) -> Outcome:
        if self._passed and self._passed[0] == call:
            self._passed.popleft()
        else:
            self._passed.clear()
            if moves(call) and (refusal := self._refusal(call)) is not None:
                return refusal
        outcome = self.inner.execute(call)
        if not outcome.succeeded:
            self._passed.clear()
        return outcome

    def _refusal(self, call: SkillCall) -> Outcome | None:
        rehearsal = self._begin(None)
        try:
            outcome = rehearsal.execute(call)
        finally:
            rehearsal.close()
        if outcome.succeeded:
            return None
        message = rehearsed_cause(outcome.message)
        return replace(outcome, status=Status.REJECTED, message=message, duration_s=0.0)

    def _begin(
        self,
        cancel: CancelToken | None,
        on_success: Callable[[SkillCall], object] = lambda _: None,
    ) -> TwinRehearsal:
        scene = self.inner.observe()
        return TwinRehearsal(
            scene, self._settings, self._dice, cancel=cancel, on_success=on_success
        )


def _outcome(world: TabletopWorld, call: SkillCall) -> Outcome:
    try:
        return world.execute(call)
    except WorldError as error:
        return Outcome(call=call, status=Status.FAILED, code=Code.INTERNAL, message=str(error))


def _grip_room(call: SkillCall, scene: Scene) -> float | None:
    """Return the room beside the fingers at the roomiest grip of a pick; None of other calls."""
    skill = find_skill(call.skill)
    takes = () if skill is None or skill.halves else skill.handling(call).takes
    name = next((name for name in takes if name in scene.names), None)  # a wait names no object
    if name is None:
        return None
    item = scene.object(name)
    grips = grips_for(item, [other for other in scene.objects if other.name != item.name])
    return grips[0].side_room_m if isinstance(grips, tuple) else None


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


NEAR_M = 0.05
"""Distances beyond this are not measured [m]."""
AROUND_M = 0.25
"""Objects whose middle is farther from the hand than this are not near [m]."""


class NearestApproach:
    """
    The least distance of one simulation so far; `sample` is called while time passes.

    By `mj_geomDistance` of MuJoCo, between the shapes that collide.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        hand = simulation.robot_model.hand
        self._hand = _shapes(simulation, (hand.body, *hand.fingers))
        names = (item.name for item in simulation.scene.movables)
        self._objects = {name: _shapes(simulation, (name,)) for name in names}
        self._about: frozenset[str] = frozenset()
        self._carried: str | None = None
        self.distance_m: float | None = None
        """None where nothing came nearer than `NEAR_M` [m]."""
        self.name = ''
        """The object of that distance."""

    def begin(self, call: SkillCall, scene: Scene) -> None:
        """Measure for a call from now on: not to its objects, nor to what these stand on."""
        about = {*call.args, *([scene.held] if scene.held else [])}
        below = {fact.object for fact in scene.facts if fact.predicate in ('on', 'in')}
        self._about = frozenset(about | {name for name in below if _carries(name, about, scene)})
        self._carried = scene.held

    def sample(self) -> None:
        """Measure the distances as they are now."""
        model, data = self._simulation.model, self._simulation.data
        hand_m = data.geom_xpos[self._hand[0]]
        movers = [*self._hand, *self._objects.get(self._carried or '', ())]
        for name, shapes in self._objects.items():
            if name in self._about or not shapes:
                continue
            if np.linalg.norm(data.geom_xpos[shapes[0]] - hand_m) > AROUND_M:
                continue
            for one in movers:
                for other in shapes:
                    found = mujoco.mj_geomDistance(model, data, one, other, NEAR_M, None)
                    if found < (NEAR_M if self.distance_m is None else self.distance_m):
                        self.distance_m, self.name = max(found, 0.0), name


def _carries(name: str, above: Collection[str], scene: Scene) -> bool:
    return any(fact.object == name and fact.subject in above for fact in scene.facts)


def _shapes(simulation: Simulation, bodies: Collection[str]) -> list[int]:
    model = simulation.model
    ids = {int(model.body(name).id) for name in bodies}
    return [
        geom
        for geom in range(model.ngeom)
        if int(model.geom_bodyid[geom]) in ids and model.geom_contype[geom]
    ]
