"""A table in physics that keeps every motion sent, and how it shows that a rule refused one."""

from __future__ import annotations

from typing import Any

from bbllm.arm.driver import ArmDriver, JointTrajectory
from bbllm.arm.envelope import SafetyEnvelope, SafetyRule
from bbllm.bench.safety.recording import RecordingDriver
from bbllm.core.types import Code, Outcome, SkillCall
from bbllm.sim.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.worlds.tabletop.tabletop import TabletopWorld

RED = ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.2))
PLACE_A = LocationSpec(name='location_A', xy=(0.45, -0.2))
PICK, PLACE = SkillCall('pick', ('red_cube',)), SkillCall('place', ('location_A',))


class Recorded:
    """A table of which every motion that was sent is kept."""

    def __init__(self, safety: dict[str, Any] | None = None, **more: Any) -> None:
        self.sent: list[JointTrajectory] = []
        envelope = SafetyEnvelope.model_validate(safety or {})
        scene = SceneFile(objects=(RED,), locations=(PLACE_A,))
        self.world = TabletopWorld(scene, wrap_driver=self._wrap, safety=envelope, **more)

    def _wrap(self, driver: ArmDriver) -> ArmDriver:
        recorder = RecordingDriver(driver)
        self.sent = recorder.trajectories
        return recorder

    def hold_to(self, **rules: Any) -> None:
        """Hold motions to other rules than those that the planner knows of."""
        self.world.guard.envelope = SafetyEnvelope.model_validate(rules)

    def run(self, *calls: SkillCall) -> list[Outcome]:
        return [self.world.execute(call) for call in calls]


def refused(outcome: Outcome, rule: SafetyRule) -> bool:
    return (
        outcome.code is Code.UNSAFE and f'the safety rule {rule.value} forbids' in outcome.message
    )


def old_scene(table: Recorded) -> None:
    table.world.guard.scene_age_s = lambda: 9.0
