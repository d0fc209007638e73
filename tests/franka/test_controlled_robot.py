"""What a robot that is led by positions fills into goals."""

import numpy as np
import pytest

from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal, goal_spline
from bbllm.arm.motion.trajectory import excess
from bbllm.robots.fr3 import FR3
from bbllm_franka.controlled_robot import whole_goal
from bbllm_franka.motion import motion_of

START = FR3.home_rad
STILL = np.zeros(7)


def goal(*by_rad: float, **fields: object) -> TrajectoryGoal:
    """Return a goal of joint 1 with a point each second, its joints in reverse order."""
    rows = [(START + np.eye(7)[0] * by)[::-1].tolist() for by in by_rad]
    return TrajectoryGoal(
        joint_names=FR3.joints[::-1],
        time_s=tuple(float(i + 1) for i in range(len(rows))),
        position_rad=tuple(map(tuple, rows)),
        **fields,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize('by_rad', [(0.2,), (0.1, 0.2), (0.1, 0.1, 0.3)])
def test_positions_alone_become_a_motion_that_the_robot_can_follow(
    by_rad: tuple[float, ...],
) -> None:
    whole = whole_goal(goal(*by_rad), START)

    move = motion_of(goal_spline(FR3.joints, whole, 0.0, START, STILL))

    assert move.position_rad[1:, 0] - START[0] == pytest.approx(by_rad)
    assert excess(FR3, move) < 1.0
    assert not move.velocity_rad_s[-1].any()


def test_a_point_on_the_way_is_passed_with_the_mean_of_the_slopes() -> None:
    whole = whole_goal(goal(0.1, 0.3), START)

    assert [row[0] for row in whole.velocity_rad_s] == pytest.approx([0.15, 0.0])
    assert not np.any(whole.acceleration_rad_s2)


def test_what_a_goal_states_is_kept() -> None:
    velocity = ((0.0,) * 6 + (0.3,), (0.0,) * 7)

    whole = whole_goal(goal(0.1, 0.3, velocity_rad_s=velocity), START)

    assert whole.velocity_rad_s[0][0] == 0.3
    assert whole.joint_names == FR3.joints
