"""Plans and calls are tried in simulations of the table before they move the robot."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.envelope import SafetyEnvelope
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import REHEARSAL_SAMPLES
from bbllm.core.errors import WorldError
from bbllm.core.events import PlanRehearsed
from bbllm.core.protocols import World, WorldFeatures
from bbllm.core.text import rehearsed_cause
from bbllm.core.types import Code, Outcome, Scene, Skill, SkillCall, Status
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.robots.registry import DEFAULT_ROBOT
from bbllm.skills.catalog import moves
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm.worlds.tabletop.twin import Deviation, drawn, twin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalSettings:
    """How plans are rehearsed."""

    robot: str = DEFAULT_ROBOT
    """Name of the robot at the table."""
    samples: int = REHEARSAL_SAMPLES
    """Number of simulations: the scene as it was observed, and others that differ from it."""
    seed: int = 0
    """Of the differences."""
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
        others = range(settings.samples - 1)
        deviations = [Deviation(), *(drawn(scene, dice) for _ in others)]
        self._worlds = [
            twin_of(scene, each, robot=settings.robot, safety=settings.safety)
            for each in deviations
        ]
        self._going = list(self._worlds)
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
        self._result = replace(self._result, robot_s=before.robot_s + done.duration_s)
        self._on_success(call)
        return done

    def stop(self) -> None:
        for world in self._going:
            world.stop()

    @property
    def result(self) -> PlanRehearsed:
        return replace(self._result, wall_s=time.monotonic() - self._begun_s)

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
