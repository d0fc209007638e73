"""
A simulation of a table as it was observed: the same objects and arm, begun at the same poses.

Only the scene is used, as it would be on a real arm: masses, friction and what is bolted down are
not in it. What of them differs, and by how much poses may be off, is a `Deviation`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.driver import Array, GraspGoal
from bbllm.arm.envelope import SafetyEnvelope
from bbllm.arm.execution.trajectory_executor import GRIPPER_SPEED_M_S
from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.types import HandReading, Pose, Scene
from bbllm.robots.registry import DEFAULT_ROBOT
from bbllm.robots.robot_model import RobotModel
from bbllm.scene.transforms import compose, inverse
from bbllm.sim.driver import SimDriver
from bbllm.sim.observed_scene import observed_scene
from bbllm.skills.segments import GRIP_FORCE_N, WIDTH_WINDOW_M
from bbllm.worlds.tabletop.deviation import LOOSE, NOT_OFF, Deviation
from bbllm.worlds.tabletop.object_source import TruthSource
from bbllm.worlds.tabletop.table import TableView
from bbllm.worlds.tabletop.tabletop import TabletopWorld

SETTLE_S = 0.2
"""How long a simulation settles before anything is asked of it, simulated time [s]."""


def twin_of(
    scene: Scene,
    deviation: Deviation,
    *,
    robot: str = DEFAULT_ROBOT,
    safety: SafetyEnvelope | None = None,
) -> TabletopWorld:
    """
    Return the simulation of a robot at the scene of a table; `observe` returns what would be seen.

    Raises ConfigError for the safety file, also where its constraints are about none of the
    objects.
    """

    def source(driver: SimDriver) -> _OffSource:
        return _OffSource(TruthSource(driver, driver.robot.objects), scene, deviation.offsets)

    file = observed_scene(scene, deviation.mass, robot)
    world = TabletopWorld(file, safety=safety, make_source=source)
    arm = world.robot
    for item in scene.objects:
        if item.kind in LOOSE:
            off = deviation.offsets.get(item.name, NOT_OFF)
            arm.set_object_pose(item.name, compose(item.pose, off))
    with arm.paused() as simulation:
        simulation.scale_friction(deviation.friction)
    if scene.hand is not None:
        arm.set_arm(_posture(arm.robot_model, scene.hand), scene.hand.width_m)
        if scene.held is not None:
            arm.grasp(_grasp_of(scene.hand))
    arm.advance(SETTLE_S)
    return world


def _posture(robot: RobotModel, hand: HandReading) -> Array:
    """Return the posture of a hand that is nearest to the base posture, shape (7,) [rad]."""
    arm, home = robot.kinematics, robot.home_rad
    found = arm.inverse_branches(matrix_from_pose(hand.tcp), arm.q7_grid()).reshape(-1, 7)
    found = found[~np.isnan(found).any(axis=1)]
    if not len(found):  # a scene may be seen before the hand is where it will be
        return home
    return np.asarray(found[np.abs(found - home).max(axis=1).argmin()])


def _grasp_of(hand: HandReading) -> GraspGoal:
    return GraspGoal(
        width_m=hand.width_m,
        speed_m_s=GRIPPER_SPEED_M_S,
        force_n=GRIP_FORCE_N,
        inner_m=WIDTH_WINDOW_M,
        outer_m=WIDTH_WINDOW_M,
    )


@dataclass(frozen=True, slots=True)
class _OffSource:
    """Locates objects where they would be observed: off from where they are."""

    truth: TruthSource
    seen: Scene
    offsets: Mapping[str, Pose]

    def take_hand(self) -> None:
        """Do nothing: what is in the hand is found out from the objects."""

    def look(self) -> TableView:
        view = self.truth.look()
        poses = {item.name: item.pose for item in view.objects}
        objects = tuple(
            replace(item, pose=self._observed(item.name, poses[item.name]))
            if item.kind in LOOSE
            else item
            for item in self.seen.objects
        )
        return replace(view, objects=objects)

    def _observed(self, name: str, pose: Pose) -> Pose:
        off = self.offsets.get(name)
        return pose if off is None else compose(pose, inverse(off))

    def close(self) -> None:
        """Do nothing."""
