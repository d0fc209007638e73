"""The arm's records to the driver's messages and back."""

from __future__ import annotations

import numpy as np
import pytest

from bbllm.arm.driver import JointTrajectory, Tolerances
from bbllm.arm.model import ARM_JOINTS
from bbllm.ros.convert import arm as convert_arm
from bbllm.sim.controllers.trajectory_goal import goal_from_trajectory

pytestmark = pytest.mark.ros


def test_trajectory_reaches_the_controller_as_it_was_planned() -> None:
    rng = np.random.default_rng(1)
    position, velocity, acceleration = (rng.normal(size=(4, 7)) for _ in range(3))
    velocity[-1] = acceleration[-1] = 0.0
    trajectory = JointTrajectory(
        time_s=np.array([0.0, 0.1, 0.25, 1.5]),
        position_rad=position,
        velocity_rad_s=velocity,
        acceleration_rad_s2=acceleration,
    )
    tolerances = Tolerances(path_rad=0.2, goal_rad=0.03, goal_time_s=0.5)

    msg = convert_arm.trajectory_to_goal(trajectory, tolerances)
    record = convert_arm.goal_to_record(msg, lambda stamp_s: stamp_s)

    wanted = goal_from_trajectory(trajectory, tolerances)
    assert record.joint_names == ARM_JOINTS
    assert record.time_s == pytest.approx(wanted.time_s)
    for name in ('position_rad', 'velocity_rad_s', 'acceleration_rad_s2'):
        np.testing.assert_array_equal(getattr(record, name), getattr(wanted, name))
    for name in ('path_rad', 'path_rad_s', 'goal_rad', 'goal_rad_s'):
        seen = getattr(record.tolerances, name)
        np.testing.assert_array_equal(seen, getattr(wanted.tolerances, name))
    assert (record.tolerances.goal_time_s, record.start_s) == (0.5, None)
    assert record.tolerances.legible


def test_joint_states_are_read_by_name_in_any_order() -> None:
    names = (*reversed(ARM_JOINTS), 'other')
    values = np.arange(8.0)
    msg = convert_arm.joint_state_to_msg(names, values, values + 10, values, 1.5)

    position, velocity = convert_arm.arm_from_msg(msg) or pytest.fail('not read')

    np.testing.assert_array_equal(position, [6, 5, 4, 3, 2, 1, 0])
    np.testing.assert_array_equal(velocity, [16, 15, 14, 13, 12, 11, 10])
    msg.name[0] = 'unknown'
    assert convert_arm.arm_from_msg(msg) is None
    assert convert_arm.width_from_msg(msg) is None
