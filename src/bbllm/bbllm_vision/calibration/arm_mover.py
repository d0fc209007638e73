"""Motions of the arm to poses of the hand, slow, straight in joint space, and checked."""

import numpy as np

from bbllm.arm.driver import ArmDriver, Array, JointTrajectory
from bbllm.arm.envelope import SafetyEnvelope
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.motion_planner import plan_transit
from bbllm.arm.motion.trajectory import NoPathError, joint_move
from bbllm.arm.obstacles import held_by, obstacles_from_scene
from bbllm.arm.safety.envelope_guard import EnvelopeGuard
from bbllm.core.types import Scene
from bbllm.robots.kinematics import HAND
from bbllm.robots.registry import load_robot

SCALE = 0.2
"""Share of the joint limits that motions use."""
TRIES = 6
"""Solutions of the inverse kinematics of one pose that are tried, the nearest first."""
FARTHEST_RAD = 1.5
"""Solutions that differ more from where the arm is are another posture [rad]."""
_ARM, _HOME = load_robot().kinematics, load_robot().home_rad
T_HAND_TCP: Array = np.linalg.inv(_ARM.link_frames(_HOME)[HAND]) @ _ARM.forward(_HOME)


def hand_pose(position_rad: Array) -> Array:
    """Return T_base_hand, the pose of the hand, of joint positions, shape (7,) [rad]."""
    return np.asarray(_ARM.link_frames(position_rad)[HAND])


class ArmMover:
    """
    One arm, with an envelope around every motion.

    What is in the hand of the scene moves with it, and is kept clear of everything too.
    """

    def __init__(self, driver: ArmDriver, envelope: SafetyEnvelope, *, scale: float = SCALE):
        self.driver = driver
        self._guard = EnvelopeGuard(
            driver.robot_model, envelope, width_m=lambda: driver.joint_state().width_m
        )
        self._executor = TrajectoryExecutor(driver, guard=self._guard)
        self._checker = CollisionChecker(driver.robot_model)
        self._boxes = tuple(box.obstacle for box in envelope.keep_out)
        self._scale = min(scale, envelope.joint_speed.max_share)

    def update(self, scene: Scene) -> None:
        """Set what is around the arm, and what is in its hand."""
        hand = self._executor.hand()
        held = None if scene.held is None else held_by(scene.object(scene.held), hand)
        obstacles = (*obstacles_from_scene(scene), *self._boxes)
        self._checker.update(obstacles, held, width_m=hand.width_m)
        self._guard.update(scene, hand)

    def way_to(self, T_base_hand: Array) -> JointTrajectory | None:
        """Return a straight, free motion to a pose; None where the first few tries find none."""
        start = self._executor.q_start()
        for goal in postures(T_base_hand, start)[:TRIES]:
            if np.abs(goal - start).max() > FARTHEST_RAD:
                break
            way = joint_move(self.driver.robot_model, start, goal, scale=self._scale)
            if self._checker.path_clear(way) is None and self._is_allowed(way):
                return way
        return None

    def follow(self, way: JointTrajectory) -> None:
        """Move, and rest; raises SkillError where the arm does not arrive."""
        self._executor.begin()
        self._executor.follow(way, 'moving to the next view of the board')

    def route_to(self, position_rad: Array) -> JointTrajectory | None:
        """Return a motion to joint positions, shape (7,) [rad], around what is in the way."""
        if self._checker.clear(position_rad):
            return None
        try:
            start = self._executor.q_start()
            way = plan_transit(start, position_rad, self._checker, scale=self._scale)
        except NoPathError:
            return None
        return way if self._is_allowed(way) else None

    def _is_allowed(self, way: JointTrajectory) -> bool:
        try:
            self._executor.check_ahead(way, 'moving to the next view of the board')
        except SkillError:
            return False
        return True


def postures(T_base_hand: Array, near_rad: Array) -> Array:
    """Return the joint positions of a pose of the hand, shape (n, 7) [rad], the nearest first."""
    found = _ARM.inverse_branches(T_base_hand @ T_HAND_TCP, _ARM.q7_grid()).reshape(-1, 7)
    found = found[~np.isnan(found).any(axis=1)]
    return np.asarray(found[np.argsort(np.abs(found - near_rad).max(axis=1))])
