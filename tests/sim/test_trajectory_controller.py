"""What becomes of the goals of the joint trajectory controller, without physics."""

from __future__ import annotations

import numpy as np
import pytest
from trajectory_goals import END, START, STILL, ZEROS, asking, follow, goal

from bbllm.arm.driver import FollowError, GoalStatus
from bbllm.arm.model import ARM_JOINTS
from bbllm.sim.controllers.constraints import Constraints
from bbllm.sim.controllers.trajectory import (
    DEACTIVATED_TEXT,
    PREEMPTED_TEXT,
    SUCCESS_TEXT,
    TrajectoryController,
)


@pytest.mark.parametrize(
    ('changes', 'reason'),
    [
        ({'joint_names': ()}, 'Empty joint names'),
        ({'joint_names': (*ARM_JOINTS[:6], 'elbow')}, 'Unknown joints elbow'),
        ({'joint_names': ARM_JOINTS[:6]}, '6 different joints of 7'),
        ({'joint_names': (*ARM_JOINTS[:6], ARM_JOINTS[0])}, '6 different joints of 7'),
        (
            {
                'time_s': (),
                'position_rad': (),
                'velocity_rad_s': (),
                'acceleration_rad_s2': (),
            },
            'Empty trajectory',
        ),
        ({'position_rad': ()}, 'Wrong number of positions'),
        ({'position_rad': ((0.0,) * 6,)}, 'Wrong number of positions'),
        ({'velocity_rad_s': ((0.0,) * 6,)}, 'Wrong number of velocities'),
        ({'acceleration_rad_s2': (ZEROS, ZEROS)}, 'Wrong number of accelerations'),
        ({'velocity_rad_s': ((0.0,) * 6 + (0.1,),)}, 'velocity of the last point must be zero'),
        ({'time_s': (1.0, 1.0), 'position_rad': (ZEROS, ZEROS)}, 'Wrong number of velocities'),
        (
            {
                'time_s': (1.0, 1.0),
                'position_rad': (ZEROS, ZEROS),
                'velocity_rad_s': (),
                'acceleration_rad_s2': (),
            },
            'strictly increasing',
        ),
        ({'time_s': (-1.0,)}, 'strictly increasing'),
        ({'position_rad': ((float('nan'),) * 7,)}, 'finite'),
        ({'effort_nm': ((1.0,) * 6,)}, 'Wrong number of efforts'),
        ({'effort_nm': ((float('inf'),) * 7,)}, 'finite'),
        ({'start_s': 5.0}, 'ends in the past'),
    ],
)
def test_a_goal_that_breaks_a_rule_is_rejected_and_nothing_moves(
    changes: dict[str, object], reason: str
) -> None:
    controller = TrajectoryController(START)
    pending = controller.start(goal(**changes), 10.0, START, STILL)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.REJECTED
    assert reason in pending.result.error_string
    assert not controller.busy
    assert controller.update(11.0, START, STILL).position_rad == pytest.approx(START)


def test_a_rejected_goal_leaves_the_running_one_alone() -> None:
    controller = TrajectoryController(START)
    running = controller.start(goal(), 0.0, START, STILL)
    controller.start(goal(joint_names=()), 0.5, START, STILL)
    assert not running.done


def test_an_inactive_controller_rejects_goals() -> None:
    controller = TrajectoryController(START)
    controller.deactivate(0.0, START, STILL)
    pending = controller.start(goal(), 1.0, START, STILL)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.REJECTED
    controller.activate(2.0, START, STILL)
    assert not controller.start(goal(), 2.0, START, STILL).done


def test_a_goal_that_is_followed_ends_successfully_at_its_end_and_not_before() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(goal(), 0.0, START, STILL)
    follow(controller, 1.995)
    assert not pending.done
    controller.update(2.0, END, STILL)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.SUCCEEDED
    assert pending.result.error_code is FollowError.SUCCESSFUL
    assert pending.result.error_string == SUCCESS_TEXT


def test_joints_may_be_given_in_any_order() -> None:
    controller = TrajectoryController(START)
    backwards = goal(joint_names=ARM_JOINTS[::-1], position_rad=(tuple(END[::-1]),))
    controller.start(backwards, 0.0, START, STILL)
    assert controller.update(2.0, END, STILL).position_rad == pytest.approx(END)


def test_a_new_goal_preempts_the_old_one_and_starts_from_the_measured_state() -> None:
    controller = TrajectoryController(START)
    old = controller.start(goal(), 0.0, START, STILL)
    measured, speed = np.full(7, 0.3), np.full(7, 0.2)
    new = controller.start(goal(position_rad=(tuple(START),)), 1.0, measured, speed)
    assert old.result is not None
    assert old.result.status is GoalStatus.ABORTED
    assert old.result.error_code is FollowError.INVALID_GOAL
    assert old.result.error_string == PREEMPTED_TEXT
    assert not new.done
    now = controller.update(1.0, measured, speed)
    assert now.position_rad == pytest.approx(measured)
    assert now.velocity_rad_s == pytest.approx(speed)


def test_cancel_ends_the_goal_and_holds_where_the_arm_comes_to_rest() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(goal(), 0.0, START, STILL)
    measured, speed = np.full(7, 0.3), np.full(7, 1.0)
    controller.cancel(1.0, measured, speed)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.CANCELED
    q, dq, ddq = controller.sample(np.arange(1.0, 1.5, 0.001))
    assert np.all(dq[200:] == 0.0)  # within 0.2 s
    assert np.abs(ddq).max() <= 40.0
    assert np.abs(q[-1] - measured).max() < 0.05
    assert np.all(q[200:] == q[-1])


def test_cancel_without_a_goal_changes_nothing() -> None:
    controller = TrajectoryController(START)
    before = controller.revision
    controller.cancel(1.0, END, STILL)
    assert controller.revision == before


def test_deactivation_aborts_the_goal_with_the_text_that_clients_know() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(goal(), 0.0, START, STILL)
    controller.deactivate(1.0, START, STILL)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.ABORTED
    assert pending.result.error_code is FollowError.INVALID_GOAL
    assert pending.result.error_string == DEACTIVATED_TEXT


def test_a_later_start_stamp_delays_the_end() -> None:
    controller = TrajectoryController(START)
    pending = controller.start(goal(start_s=11.0), 10.0, START, STILL)
    controller.update(12.5, END, STILL)
    assert not pending.done
    controller.update(13.0, END, STILL)
    assert pending.done


def test_an_endless_goal_ends_only_when_it_is_cancelled() -> None:
    controller = TrajectoryController(START)
    controller.hold_results = True
    pending = controller.start(asking(goal_time_s=0.1), 0.0, START, STILL)
    controller.update(50.0, END, STILL)
    assert not pending.done
    controller.cancel(51.0, END, STILL)
    assert pending.result is not None
    assert pending.result.status is GoalStatus.CANCELED


def test_a_trajectory_from_the_topic_is_followed_and_leaves_the_goal_running() -> None:
    controller = TrajectoryController(START)
    running = controller.start(goal(), 0.0, START, STILL)

    assert controller.replace(goal(position_rad=(tuple(START),)), 0.5, START, STILL) is None

    controller.update(2.0, START, STILL)
    assert not running.done  # its new trajectory ends at 2.5
    controller.update(2.5, START, STILL)
    assert running.result is not None
    assert running.result.status is GoalStatus.SUCCEEDED


def test_a_bad_trajectory_from_the_topic_is_ignored() -> None:
    controller = TrajectoryController(START)
    before = controller.revision
    assert 'Empty joint names' in (
        controller.replace(goal(joint_names=()), 0.0, START, STILL) or ''
    )
    assert controller.revision == before


def test_a_trajectory_from_the_topic_off_its_way_is_given_up_for_holding() -> None:
    controller = TrajectoryController(START, Constraints(path_rad=np.full(7, 0.1)))
    controller.replace(goal(), 0.0, START, STILL)
    held = controller.update(1.0, START + 0.9, STILL)
    assert held.position_rad == pytest.approx(START + 0.9)
    assert not controller.busy


def test_the_state_of_a_trajectory_can_be_asked_for_until_it_ends() -> None:
    controller = TrajectoryController(START)
    controller.start(goal(velocity_rad_s=(), acceleration_rad_s2=()), 1.0, START, STILL)

    middle = controller.query(2.0, END, STILL)
    too_late, too_early = (controller.query(at_s, END, STILL) for at_s in (3.5, 0.5))

    assert middle is not None
    assert middle.success
    assert middle.state.position_rad == pytest.approx((START + END) / 2)
    assert too_late is not None
    assert not too_late.success
    assert too_late.state.position_rad == pytest.approx(END)
    assert too_early is not None
    assert not too_early.success
    controller.deactivate(2.0, START, STILL)
    assert controller.query(2.0, END, STILL) is None
