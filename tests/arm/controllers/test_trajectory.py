"""The simulated trajectory controller: goals, splines between points, tolerances."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bbllm.arm.controllers.trajectory import (
    PATH_TEXT,
    PREEMPTED_TEXT,
    SUCCESS_TEXT,
    Setpoint,
    TrajectoryController,
)
from bbllm.arm.controllers.trajectory_goal import (
    AskedTolerances,
    Constraints,
    TrajectoryGoal,
    driver_constraints,
    in_force,
)
from bbllm.arm.driver import Array, FollowError, GoalStatus
from bbllm.robots.fr3 import FR3

STILL = np.zeros(7)
START = np.full(7, 0.1)
END = np.linspace(0.2, 0.8, 7)
ZEROS = (0.0,) * 7


@pytest.fixture
def controller() -> TrajectoryController:
    return TrajectoryController(FR3, START)


def goal(**changes: Any) -> TrajectoryGoal:
    """Return a goal of one point after two seconds, at rest there."""
    base = TrajectoryGoal(
        joint_names=FR3.joints,
        time_s=(2.0,),
        position_rad=(tuple(END),),
        velocity_rad_s=(ZEROS,),
        acceleration_rad_s2=(ZEROS,),
    )
    return replace(base, **changes)


def update(controller: TrajectoryController, now_s: float, q: Array, dq: Array) -> Setpoint:
    controller.check(now_s, q, dq)
    return controller.set_point(now_s)


def asking(**tolerances: Any) -> TrajectoryGoal:
    """Return the same goal with tolerances."""
    return goal(tolerances=AskedTolerances(**tolerances))


def follow(controller: TrajectoryController, until_s: float, error: Array | float = 0.0) -> None:
    """Let an arm follow perfectly but for a constant error."""
    for now_s in np.arange(0.0, until_s, 0.01):
        q, dq, _ = controller.reference.at(np.array([now_s]))
        update(controller, float(now_s), q[0] + error, dq[0])


@pytest.mark.parametrize(
    ('changes', 'reason'),
    [
        ({'joint_names': ()}, 'Empty joint names'),
        ({'joint_names': (*FR3.joints[:6], 'elbow')}, 'Unknown joints elbow'),
        ({'joint_names': FR3.joints[:6]}, '6 different joints of 7'),
        ({'joint_names': (*FR3.joints[:6], FR3.joints[0])}, '6 different joints of 7'),
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
    controller: TrajectoryController, changes: dict[str, object], reason: str
) -> None:
    pending = controller.start(goal(**changes), 10.0, START, STILL)
    assert pending.result.status is GoalStatus.REJECTED
    assert reason in pending.result.error_string
    assert not controller.busy
    assert update(controller, 11.0, START, STILL).position_rad == pytest.approx(START)


def test_a_goal_that_is_followed_ends_successfully_at_its_end_and_not_before(
    controller: TrajectoryController,
) -> None:
    pending = controller.start(goal(), 0.0, START, STILL)
    follow(controller, 1.995)
    assert not pending.done
    update(controller, 2.0, END, STILL)
    assert pending.result.status is GoalStatus.SUCCEEDED
    assert pending.result.error_code is FollowError.SUCCESSFUL
    assert pending.result.error_string == SUCCESS_TEXT


def test_a_new_goal_preempts_the_old_one_and_starts_from_the_measured_state(
    controller: TrajectoryController,
) -> None:
    old = controller.start(goal(), 0.0, START, STILL)
    measured, speed = np.full(7, 0.3), np.full(7, 0.2)
    new = controller.start(goal(position_rad=(tuple(START),)), 1.0, measured, speed)
    assert old.result.status is GoalStatus.ABORTED
    assert old.result.error_code is FollowError.INVALID_GOAL
    assert old.result.error_string == PREEMPTED_TEXT
    assert not new.done
    now = update(controller, 1.0, measured, speed)
    assert now.position_rad == pytest.approx(measured)
    assert now.velocity_rad_s == pytest.approx(speed)


def test_cancel_brakes_from_the_set_point_within_the_limits_and_holds_where_it_comes_to_rest(
    controller: TrajectoryController,
) -> None:
    pending = controller.start(goal(), 0.0, START, STILL)
    before = controller.set_point(0.9)
    controller.cancel(0.9, before.position_rad + 0.0004, before.velocity_rad_s)
    assert pending.result.status is GoalStatus.CANCELED
    after = controller.set_point(0.9)
    assert after.position_rad == pytest.approx(before.position_rad)
    assert after.velocity_rad_s == pytest.approx(before.velocity_rad_s)
    q, dq, ddq = controller.reference.at(np.arange(0.9, 1.9, 0.001))
    took_s = np.abs(before.velocity_rad_s).max() / 10 + 0.02
    assert np.all(dq[int(took_s * 1000) :] == 0.0)
    assert np.abs(ddq).max() <= 10.0 + 1e-9
    assert np.abs(np.diff(ddq, axis=0)).max() <= 1.1  # 1000 rad/s^3, a fifth of the limit
    assert np.abs(np.diff(dq, axis=0)).max() <= 0.0101
    assert np.all(q[-1] == controller.set_point(9.0).position_rad)


def test_cancel_of_an_arm_that_is_held_back_does_not_go_on_pushing(
    controller: TrajectoryController,
) -> None:
    controller.start(goal(), 0.0, START, STILL)
    measured, speed = np.full(7, 0.3), np.full(7, 1.0)
    controller.cancel(1.0, measured, speed)
    q, dq, ddq = controller.reference.at(np.arange(1.0, 1.5, 0.001))
    assert np.all(dq[200:] == 0.0)  # within 0.2 s
    assert np.abs(ddq).max() <= 40.0
    assert np.abs(q[-1] - measured).max() < 0.05
    assert np.all(q[200:] == q[-1])


def test_a_later_start_stamp_delays_the_end(controller: TrajectoryController) -> None:
    pending = controller.start(goal(start_s=11.0), 10.0, START, STILL)
    update(controller, 12.5, END, STILL)
    assert not pending.done
    update(controller, 13.0, END, STILL)
    assert pending.done


def test_a_trajectory_from_the_topic_is_followed_and_leaves_the_goal_running(
    controller: TrajectoryController,
) -> None:
    running = controller.start(goal(), 0.0, START, STILL)

    assert controller.replace(goal(position_rad=(tuple(START),)), 0.5, START, STILL) is None

    update(controller, 2.0, START, STILL)
    assert not running.done  # its new trajectory ends at 2.5
    update(controller, 2.5, START, STILL)
    assert running.result.status is GoalStatus.SUCCEEDED


def test_the_state_of_a_trajectory_can_be_asked_for_until_it_ends(
    controller: TrajectoryController,
) -> None:
    controller.start(goal(velocity_rad_s=(), acceleration_rad_s2=()), 1.0, START, STILL)

    middle = controller.query(2.0, END, STILL)
    too_late, too_early = (controller.query(at_s, END, STILL) for at_s in (3.5, 0.5))

    assert middle.success
    assert middle.state.position_rad == pytest.approx((START + END) / 2)
    assert not too_late.success
    assert too_late.state.position_rad == pytest.approx(END)
    assert not too_early.success
    controller.deactivate(2.0, START, STILL)
    assert controller.query(2.0, END, STILL) is None


def test_the_splines_pass_through_points_with_their_derivatives() -> None:
    rng = np.random.default_rng(3)
    position, velocity, acceleration = rng.normal(size=(3, 4, 7))
    velocity[-1] = acceleration[-1] = 0.0
    times = np.array([0.0, 0.3, 1.0, 1.2])
    controller = TrajectoryController(FR3, START)
    controller.start(
        goal(
            time_s=tuple(times),
            position_rad=tuple(map(tuple, position)),
            velocity_rad_s=tuple(map(tuple, velocity)),
            acceleration_rad_s2=tuple(map(tuple, acceleration)),
        ),
        5.0,
        START,
        STILL,
    )
    for shift in (-1e-9, 1e-9):
        q, dq, ddq = controller.reference.at(5.0 + times[1:3] + shift)
        assert q == pytest.approx(position[1:3], abs=1e-6)
        assert dq == pytest.approx(velocity[1:3], abs=1e-5)
        assert ddq == pytest.approx(acceleration[1:3], abs=1e-3)


def test_a_motion_towards_an_accelerated_first_point_starts_without_acceleration(
    controller: TrajectoryController,
) -> None:
    controller.start(goal(), 0.0, START, np.full(7, 0.3))

    q, dq, ddq = controller.reference.at(np.array([0.0]))

    assert (q[0], dq[0], ddq[0]) == (
        pytest.approx(START),
        pytest.approx(np.full(7, 0.3)),
        pytest.approx(STILL),
    )


def test_a_goal_that_began_in_the_past_is_joined_where_it_is_by_now(
    controller: TrajectoryController,
) -> None:
    late = goal(
        time_s=(0.0, 2.0),
        position_rad=(tuple(START), tuple(END)),
        velocity_rad_s=(),
        acceleration_rad_s2=(),
        start_s=9.0,
    )
    controller.start(late, 10.0, START, STILL)
    assert update(controller, 10.0, START, STILL).position_rad == pytest.approx((START + END) / 2)


def test_efforts_are_added_between_the_points_that_give_them(
    controller: TrajectoryController,
) -> None:
    pushed = goal(
        time_s=(0.0, 2.0),
        position_rad=(tuple(START), tuple(START)),
        velocity_rad_s=(),
        acceleration_rad_s2=(),
        effort_nm=((0.0,) * 7, (4.0,) * 7),
    )
    assert not controller.start(pushed, 0.0, START, STILL).done

    assert controller.reference.effort_at(np.array([0.5])) == pytest.approx(np.full((1, 7), 1.0))


def test_a_violated_path_tolerance_aborts_the_goal(controller: TrajectoryController) -> None:
    tolerance = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
    pending = controller.start(asking(path_rad=tolerance), 0.0, START, STILL)
    error = np.array([1.0, 1.0, 0.04, 1.0, 1.0, 1.0, 1.0])  # unchecked ones may be anything
    follow(controller, 1.0, error)
    assert not pending.done
    error[2] = 0.06
    q, dq, _ = controller.reference.at(np.array([1.0]))
    held = update(controller, 1.0, q[0] + error, dq[0])
    assert pending.result.status is GoalStatus.ABORTED
    assert pending.result.error_code is FollowError.PATH_TOLERANCE_VIOLATED
    assert pending.result.error_string == PATH_TEXT
    assert held.position_rad == pytest.approx(q[0] + error)


@pytest.mark.parametrize(
    ('goal_time_s', 'late_s', 'error_rad', 'ends'),
    [
        (0.5, 0.4, 0.009, FollowError.SUCCESSFUL),
        (0.5, 0.6, 0.02, FollowError.GOAL_TOLERANCE_VIOLATED),
        (0.0, 1000.0, 0.02, None),  # without a goal time it waits for ever
    ],
)
def test_a_goal_tolerance_may_be_met_late_but_not_too_late(
    controller: TrajectoryController,
    goal_time_s: float,
    late_s: float,
    error_rad: float,
    ends: FollowError | None,
) -> None:
    wanted = asking(goal_rad=np.full(7, 0.01), goal_time_s=goal_time_s)
    pending = controller.start(wanted, 0.0, START, STILL)
    update(controller, 2.3, END + 0.02, STILL)
    assert not pending.done

    update(controller, 2.0 + late_s, END + error_rad, STILL)

    assert (pending.result and pending.result.error_code) is ends
    if ends is FollowError.GOAL_TOLERANCE_VIOLATED:
        assert pending.result.error_string.endswith('exceeding by 0.600000 seconds')


def test_a_tolerance_of_zero_is_the_default_and_of_minus_one_is_none() -> None:
    default = Constraints(path_rad=np.full(7, 0.1), goal_rad=np.full(7, 0.02), goal_time_s=1.0)
    path = np.array([0.0, -1.0, 0.3, 0.0, 0.0, 0.0, 0.0])

    held = in_force(AskedTolerances(path_rad=path), default)

    assert held.path_rad.tolist() == [0.1, 0.0, 0.3, 0.1, 0.1, 0.1, 0.1]
    assert held.goal_rad.tolist() == [0.02] * 7
    assert held.goal_rad_s.tolist() == [0.01] * 7
    assert held.goal_time_s == 1.0
    assert in_force(AskedTolerances(goal_time_s=-1.0), default).goal_time_s == 0.0


def test_the_controllers_own_constraints_are_read_from_its_file() -> None:
    read = driver_constraints()
    assert read.path_rad.tolist() == [0.1] * 7
    assert read.goal_rad.tolist() == [0.015] * 7
    assert (read.goal_time_s, read.goal_rad_s.tolist()) == (1.0, [0.01] * 7)


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


def test_a_velocity_that_is_off_on_the_way_aborts_the_goal(
    controller: TrajectoryController,
) -> None:
    pending = controller.start(asking(path_rad_s=np.full(7, 0.05)), 0.0, START, STILL)
    q, dq, _ = controller.reference.at(np.array([1.0]))
    update(controller, 1.0, q[0], dq[0] + 0.04)
    assert not pending.done
    update(controller, 1.0, q[0], dq[0] + 0.06)
    assert pending.result.error_code is FollowError.PATH_TOLERANCE_VIOLATED


def test_a_joint_that_still_moves_keeps_the_goal_from_ending(
    controller: TrajectoryController,
) -> None:
    pending = controller.start(goal(), 0.0, START, STILL)
    update(controller, 2.1, END, np.array([0.011, *ZEROS[1:]]))
    assert not pending.done
    update(controller, 2.2, END, np.array([0.009, *ZEROS[1:]]))
    assert pending.done
