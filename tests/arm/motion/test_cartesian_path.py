import math

import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.cartesian_path import line_path, path_move
from bbllm.arm.motion.motion_planner import choose_grasp_configuration
from bbllm.arm.motion.reachability import raised, top_down
from bbllm.arm.motion.trajectory import NoPathError, sample
from bbllm.robots.fr3 import FR3
from bbllm_bench.safety.limit_audit import audit


def line_move(
    q_start: Array, T_goal: Array, scale: float = 1.0, speed_m_s: float = math.inf
) -> JointTrajectory:
    return path_move(FR3, line_path(FR3, q_start, T_goal), scale=scale, speed_m_s=speed_m_s)


def off_line_m(move: JointTrajectory) -> float:
    """Return the largest distance of the tool from the straight line between its ends [m]."""
    position = sample(move, np.arange(0.0, move.duration_s, 0.001))[0]
    tool = FR3.kinematics.forward(position)[:, :3, 3]
    way = FR3.kinematics.forward(move.position_rad[-1])[:3, 3] - tool[0]
    way = way / np.linalg.norm(way)
    offset = tool - tool[0]
    return float(np.linalg.norm(offset - np.outer(offset @ way, way), axis=1).max())


@pytest.mark.parametrize('scale', [0.3, 0.8, 1.0])
def test_descents_all_over_the_table_are_straight_and_legal(scale: float) -> None:
    random = np.random.default_rng(3)
    for _ in range(12):
        radius, azimuth = random.uniform(0.30, 0.70), random.uniform(-1.3, 1.3)
        pose = top_down(
            (radius * np.cos(azimuth), radius * np.sin(azimuth), 0.02), random.uniform(-3, 3)
        )
        approach = choose_grasp_configuration(FR3, [pose], FR3.home_rad)[0]
        for move, goal in (
            (line_move(approach.path[0], pose, scale=scale), pose),
            (path_move(FR3, approach.path[::-1], scale=scale), raised(pose, 0.1)),
        ):
            assert off_line_m(move) < 1e-4
            assert audit(move).violations == 0
            np.testing.assert_allclose(
                FR3.kinematics.forward(move.position_rad[-1]), goal, atol=1e-8
            )
            assert (move.velocity_rad_s[[0, -1]] == 0).all()
            assert (move.acceleration_rad_s2[[0, -1]] == 0).all()


def test_the_tool_keeps_to_the_speed_that_was_asked() -> None:
    move = line_move(
        FR3.home_rad, raised(FR3.kinematics.forward(FR3.home_rad), -0.3), speed_m_s=0.2
    )

    tool = FR3.kinematics.forward(sample(move, np.arange(0, move.duration_s, 0.01))[0])[:, :3, 3]
    speed = np.linalg.norm(np.diff(tool, axis=0), axis=1) / 0.01
    assert 0.195 < speed.max() < 0.2002


def test_a_line_may_turn_the_tool_too_and_turns_it_evenly() -> None:
    start = FR3.kinematics.forward(FR3.home_rad)
    goal = top_down((0.45, 0.1, 0.4), 0.6)
    points = line_path(FR3, FR3.home_rad, goal)

    poses = FR3.kinematics.forward(points)
    np.testing.assert_allclose(poses[-1], goal, atol=1e-9)
    turned = np.arctan2(poses[:, 1, 0], poses[:, 0, 0])
    np.testing.assert_allclose(np.diff(turned, n=2), 0.0, atol=1e-9)
    np.testing.assert_allclose(
        poses[:, :3, 3], np.linspace(start[:3, 3], goal[:3, 3], len(points)), atol=1e-9
    )


def test_a_line_through_the_upright_shoulder_does_not_whirl() -> None:
    """The two shoulder solutions swap there; the nearest one must be followed across."""
    hover = np.array([0.785, 0.055, 0.0, -2.652, 0.0, 2.707, 1.371])
    points = line_path(FR3, hover, raised(FR3.kinematics.forward(hover), 0.1))

    assert points[-1, 1] < 0 < points[0, 1]
    assert np.abs(np.diff(points, axis=0)).max() * len(points) < 1.5


def test_near_the_singularity_the_line_is_tracked_with_all_joints() -> None:
    q = np.array([0.76, 0.055, 0.025, -2.652, -0.003, 2.707, 1.373])
    move = line_move(q, raised(FR3.kinematics.forward(q), 0.12))

    assert off_line_m(move) < 1e-4
    assert audit(move).violations == 0


def test_a_line_against_a_joint_limit_names_the_joint() -> None:
    q = FR3.home_rad.copy()
    q[5] = FR3.limits.upper_rad[5] - 0.03
    lean = FR3.kinematics.forward(q)
    turn = np.array([[np.cos(-0.8), 0, np.sin(-0.8)], [0, 1, 0], [-np.sin(-0.8), 0, np.cos(-0.8)]])
    further = lean.copy()
    further[:3, :3] = turn @ lean[:3, :3]
    back = lean.copy()
    back[:3, :3] = turn.T @ lean[:3, :3]

    outcomes = []
    for goal in (further, back):
        try:
            line_path(FR3, q, goal)
            outcomes.append('')
        except NoPathError as error:
            outcomes.append(str(error))
    assert any('joint 6 is at its limit' in text for text in outcomes)
    assert '' in outcomes
