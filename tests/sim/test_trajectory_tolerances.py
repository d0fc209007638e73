"""What the joint trajectory controller tolerates on the way, at the goal and after its time."""

from __future__ import annotations

import numpy as np
import pytest
from trajectory_goals import END, START, STILL, ZEROS, asking, follow, goal

from bbllm.arm.driver import FollowError, GoalStatus
from bbllm.arm.model import ARM_JOINTS
from bbllm.sim.controllers.constraints import (
    AskedTolerances,
    Constraints,
    constraints_from,
    in_force,
)
from bbllm.sim.controllers.trajectory import PATH_TEXT, TrajectoryController


def test_a_violated_path_tolerance_aborts_the_goal() -> None:
    controller = TrajectoryController(START)
    tolerance = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
    pending = controller.start(asking(path_rad=tolerance), 0.0, START, STILL)
    error = np.array([1.0, 1.0, 0.04, 1.0, 1.0, 1.0, 1.0])  # unchecked ones may be anything
    follow(controller, 1.0, error)
    assert not pending.done
    error[2] = 0.06
    q, dq, _ = controller.sample(np.array([1.0]))
    held = controller.update(1.0, q[0] + error, dq[0])
    assert pending.result is not None
    assert pending.result.status is GoalStatus.ABORTED
    assert pending.result.error_code is FollowError.PATH_TOLERANCE_VIOLATED
    assert pending.result.error_string == PATH_TEXT
    assert held.position_rad == pytest.approx(q[0] + error)


def test_a_goal_tolerance_that_is_not_met_in_time_aborts_the_goal() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(
        asking(goal_rad=np.full(7, 0.01), goal_time_s=0.5), 0.0, START, STILL
    )
    controller.update(2.4, END + 0.02, STILL)
    assert not pending.done
    controller.update(2.6, END + 0.02, STILL)
    assert pending.result is not None
    assert pending.result.error_code is FollowError.GOAL_TOLERANCE_VIOLATED
    assert pending.result.error_string == (
        'Aborted due to goal_time_tolerance exceeding by 0.600000 seconds'
    )


def test_a_goal_tolerance_that_is_met_late_but_in_time_succeeds() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(
        asking(goal_rad=np.full(7, 0.01), goal_time_s=0.5), 0.0, START, STILL
    )
    controller.update(2.3, END + 0.02, STILL)
    controller.update(2.4, END + 0.009, STILL)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.SUCCEEDED


def test_a_joint_that_still_moves_keeps_the_goal_from_ending() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(goal(), 0.0, START, STILL)
    controller.update(2.1, END, np.array([0.011, *ZEROS[1:]]))
    assert not pending.done
    controller.update(2.2, END, np.array([0.009, *ZEROS[1:]]))
    assert pending.done


def test_without_a_goal_time_the_controller_waits_for_ever() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(asking(goal_rad=np.full(7, 0.01)), 0.0, START, STILL)
    controller.update(1000.0, END + 0.02, STILL)
    assert not pending.done


def test_a_tolerance_of_zero_is_the_default_and_of_minus_one_is_none() -> None:
    default = Constraints(path_rad=np.full(7, 0.1), goal_rad=np.full(7, 0.02), goal_time_s=1.0)
    path = np.array([0.0, -1.0, 0.3, 0.0, 0.0, 0.0, 0.0])

    held = in_force(AskedTolerances(path_rad=path), default)

    assert held.path_rad.tolist() == [0.1, 0.0, 0.3, 0.1, 0.1, 0.1, 0.1]
    assert held.goal_rad.tolist() == [0.02] * 7
    assert held.goal_rad_s.tolist() == [0.01] * 7
    assert held.goal_time_s == 1.0
    assert in_force(AskedTolerances(goal_time_s=-1.0), default).goal_time_s == 0.0


@pytest.mark.parametrize(
    'asked',
    [
        AskedTolerances(path_rad=np.array([0.3, -0.5, 0, 0, 0, 0, 0])),
        AskedTolerances(path_rad=np.full(7, 0.3), legible=False),
    ],
)
def test_a_tolerance_without_meaning_leaves_all_at_their_defaults(asked: AskedTolerances) -> None:
    default = Constraints(path_rad=np.full(7, 0.1))
    assert in_force(asked, default) is default


def test_a_velocity_that_is_off_on_the_way_aborts_the_goal() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(asking(path_rad_s=np.full(7, 0.05)), 0.0, START, STILL)
    q, dq, _ = controller.sample(np.array([1.0]))
    controller.update(1.0, q[0], dq[0] + 0.04)
    assert not pending.done
    controller.update(1.0, q[0], dq[0] + 0.06)
    assert pending.result is not None
    assert pending.result.error_code is FollowError.PATH_TOLERANCE_VIOLATED


def test_the_controllers_own_constraints_are_read_from_its_parameters() -> None:
    given = {
        'goal_time': 2.0,
        'stopped_velocity_tolerance': 0.03,
        ARM_JOINTS[1]: {'trajectory': 0.2, 'goal': 0.04},
    }
    read = constraints_from(given)
    assert (read.path_rad[1], read.goal_rad[1], read.path_rad[0]) == (0.2, 0.04, 0.0)
    assert (read.goal_time_s, read.goal_rad_s.tolist()) == (2.0, [0.03] * 7)
    assert constraints_from({}).goal_rad_s.tolist() == [0.01] * 7
