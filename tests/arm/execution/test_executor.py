"""The skill executor: calls, failures, stops and their recovery, persons, lifts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import (
    FingerMove,
    FollowError,
    FollowResult,
    GoalStatus,
    GripperResult,
    JointTrajectory,
    RobotMode,
    Tolerances,
)
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import SceneError
from bbllm.core.types import Code, Kind, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.robots.fr3 import FR3
from tests.arm.kinematic_arm import (
    DEACTIVATED,
    PICK_RED,
    REFUSED,
    KinematicArm,
    cube,
    executor_on,
    location,
    place,
    run,
)

DONE = (Status.SUCCEEDED, Code.NONE, '')


@pytest.fixture
def arm() -> KinematicArm:
    """An arm with a red cube in reach."""
    return KinematicArm(cube('red_cube', 0.45, 0.15))


def test_every_trajectory_starts_where_the_last_one_ended_and_ends_at_rest() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15, yaw_deg=20), location('location_A', 0.5, -0.2))

    results = run(arm, PICK_RED, place('location_A'), SkillCall('return_to_base'))

    assert [result[0] for result in results] == [Status.SUCCEEDED] * 3
    assert arm.position('red_cube') == pytest.approx((0.5, -0.2, 0.02), abs=1e-3)
    end = np.array(FR3.home_rad)
    for trajectory in arm.sent:
        assert trajectory.position_rad[0] == pytest.approx(end, abs=1e-9)
        assert not trajectory.velocity_rad_s[-1].any()
        assert not trajectory.acceleration_rad_s2[-1].any()
        end = trajectory.position_rad[-1]
    assert end == pytest.approx(FR3.home_rad)


@pytest.mark.parametrize(
    ('call', 'code', 'message'),
    [
        (
            SkillCall('pick', ('aqua_cube',)),
            Code.OUT_OF_WORKSPACE,
            'aqua_cube is out of the workspace of the robot.',
        ),
        (
            place('location_A'),
            Code.NOT_HOLDING,
            'nothing is in the hand, so nothing can be placed; pick an object first.',
        ),
        (
            SkillCall('pick', ('location_A',)),
            Code.NOT_GRASPABLE,
            'location_A is a location, and that cannot be picked.',
        ),
    ],
)
def test_what_cannot_be_done_is_rejected_and_nothing_moves(
    call: SkillCall, code: Code, message: str
) -> None:
    arm = KinematicArm(
        cube('red_cube', 0.45, 0.15), cube('aqua_cube', 0.95, 0.1), location('location_A', 0.5, 0)
    )

    assert run(arm, call) == [(Status.REJECTED, code, message)]
    assert arm.sent == []


def test_a_reach_into_something_names_a_pose_above_that_works() -> None:
    tower = replace(cube('tower', 0.45, 0.2, 0.1), size_m=(0.04, 0.04, 0.2))
    arm = KinematicArm(tower)

    into, above = run(
        arm, SkillCall('reach', ('0.45 0.2 0.02',)), SkillCall('reach', ('0.45 0.2 0.18',))
    )

    assert into == (
        Status.REJECTED,
        Code.NO_PATH,
        'no free way to the pose 0.45 0.2 0.02 was found: tower is in the way; '
        'the pose 0.45 0.2 0.18 would do.',
    )
    assert above == DONE


def test_stop_ends_the_call_that_runs_and_what_is_held_stays_held() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_A', 0.5, -0.2))
    executor = executor_on(arm)
    executor.execute(PICK_RED)
    arm.on_follow = executor.stop

    outcome = executor.execute(place('location_A'))

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.CANCELLED)
    assert arm.held == 'red_cube'
    assert len(arm.sent) == 3


@pytest.mark.parametrize(
    ('text', 'code'),
    [
        ('The scene is stale: it was sensed 3.0 s ago.', Code.STALE_SCENE),
        ('The scene is empty: no objects were sensed.', Code.EMPTY_SCENE),
    ],
)
def test_nothing_moves_on_a_scene_that_is_stale_or_empty(
    arm: KinematicArm, text: str, code: Code
) -> None:
    def observe() -> Scene:
        raise SceneError(text)

    outcome = SkillExecutor(arm, observe).execute(PICK_RED)

    assert (outcome.status, outcome.code, outcome.message) == (Status.REJECTED, code, text)
    assert arm.sent == []


def test_a_grasp_of_nothing_is_reported_and_the_arm_rises(arm: KinematicArm) -> None:
    arm.grip_result = GripperResult(status=GoalStatus.ABORTED, success=False, width_m=0.0)

    results = run(arm, PICK_RED)

    assert results == [
        (
            Status.FAILED,
            Code.GRASP_FAILED,
            'grasp of red_cube failed: fingers closed on nothing.',
        )
    ]
    assert FR3.kinematics.forward(arm.q)[2, 3] > 0.1
    assert arm.width_m > 0.06


@pytest.mark.parametrize(
    ('width_m', 'why'),
    [
        (0.06, 'the fingers stopped 6.0 cm apart, but red_cube is 4.0 cm wide.'),
        (
            0.0402,
            'the hand reported a miss, though the fingers stopped 4.0 cm apart, as wide as it.',
        ),
    ],
)
def test_a_missed_grasp_names_the_widths_only_where_they_differ(
    arm: KinematicArm, width_m: float, why: str
) -> None:
    arm.grip_result = GripperResult(status=GoalStatus.ABORTED, success=False, width_m=width_m)

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GRASP_FAILED
    assert outcome.message == f'grasp of red_cube failed: {why}'


def test_a_hand_that_breaks_is_not_a_missed_grasp(arm: KinematicArm) -> None:
    arm.grip_result = GripperResult(
        status=GoalStatus.ABORTED, error='libfranka gripper: Command failed!', width_m=0.05
    )

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GRIPPER_FAILED
    assert outcome.raw == 'libfranka gripper: Command failed!'


@pytest.mark.parametrize(
    ('fault', 'target', 'wanted', 'sent', 'held'),
    [
        (
            {'slips_after': 3}, 'location_A',
            (Status.FAILED, Code.OBJECT_LOST, 'red_cube was lost on the way to location_A.'),
            3, None,
        ),
        (
            {'drop_offset_m': (0.032, 0.0)}, 'location_A',
            (Status.FAILED, Code.MISPLACED, 'red_cube came to rest 3.2 cm from location_A.'),
            5, None,
        ),
        (
            {}, 'location_G',
            (Status.REJECTED, Code.OUT_OF_WORKSPACE,
             'location_G is out of the workspace of the robot.'),
            2, 'red_cube',
        ),
    ],
)  # fmt: skip
def test_a_cube_that_does_not_come_to_its_target_is_reported(
    fault: dict[str, object], target: str, wanted: object, sent: int, held: str | None
) -> None:
    places = location('location_A', 0.5, -0.2), location('location_G', 0.95, -0.3)
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), *places)
    vars(arm).update(fault)

    assert run(arm, PICK_RED, place(target))[1] == wanted
    assert (len(arm.sent), arm.held) == (sent, held)


@pytest.mark.parametrize(
    ('reply', 'code'),
    [
        (FollowResult(status=GoalStatus.REJECTED), Code.GOAL_REJECTED),
        (
            FollowResult(
                status=GoalStatus.ABORTED,
                error_code=FollowError.PATH_TOLERANCE_VIOLATED,
                error_string='Aborted due to path tolerance violation',
            ),
            Code.PATH_TOLERANCE,
        ),
        (
            FollowResult(
                status=GoalStatus.ABORTED,
                error_code=FollowError.GOAL_TOLERANCE_VIOLATED,
                error_string='Aborted due to goal_time_tolerance exceeding by 1.0 seconds',
            ),
            Code.GOAL_TOLERANCE,
        ),
        (replace(DEACTIVATED, error_string='preempted'), Code.CONTROLLER_ABORTED),
        (DEACTIVATED, Code.REFLEX),
        (replace(DEACTIVATED, status=GoalStatus.CANCELED), Code.REFLEX),
        (FollowResult(status=GoalStatus.TIMED_OUT, error_string='no result'), Code.TIMEOUT),
        (FollowResult(status=GoalStatus.ENDLESS, error_string='no result'), Code.TIMEOUT),
        (FollowResult(status=GoalStatus.CANCELED), Code.CANCELLED),
    ],
)
def test_every_ending_of_a_goal_has_its_code_and_keeps_the_controllers_text(
    arm: KinematicArm, reply: FollowResult, code: Code
) -> None:
    arm.replies = [reply]

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, code)
    assert outcome.raw == reply.error_string
    assert 'moving above red_cube' in outcome.message


def test_a_refused_motion_of_a_robot_that_is_well_is_not_sent_again(arm: KinematicArm) -> None:
    arm.replies = [REFUSED]

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GOAL_REJECTED
    assert (arm.recoveries, len(arm.sent)) == (0, 1)


def test_a_goal_that_succeeds_elsewhere_is_not_believed(arm: KinematicArm) -> None:
    arm.on_follow = lambda: setattr(arm, 'error_rad', 0.05)

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GOAL_TOLERANCE
    assert '2.9 degrees' in outcome.message


def test_a_hand_that_a_stop_cuts_off_ends_the_call_and_a_person_is_asked_before_it_moves_on(
    arm: KinematicArm,
) -> None:
    arm.mode, arm.errors = RobotMode.USER_STOPPED, ()
    asked: list[tuple[str, int, int]] = []

    def cut(*args: float) -> GripperResult:
        arm.hand_commands += 1
        arm.down, arm.width_m = True, 0.06
        return GripperResult(status=GoalStatus.CANCELED, width_m=0.06)

    def allow(what: str, cancel: CancelToken) -> bool:
        asked.append((what, len(arm.sent), arm.hand_commands))
        return True

    arm.grasp = cut  # type: ignore[method-assign]  # of this arm only
    outcome = executor_on(arm, allow).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.USER_STOP)
    assert 'while closing the hand on red_cube' in outcome.message
    [(what, *before)] = asked
    assert 'user stop' in what
    assert before == [len(arm.sent), arm.hand_commands] == [1, 2]  # opened, and closed half-way


@pytest.mark.parametrize(
    ('mode', 'errors', 'code', 'wording'),
    [
        (RobotMode.USER_STOPPED, (), Code.USER_STOP, 'user stop'),
        (
            RobotMode.REFLEX, ('communication_constraints_violation',),
            Code.COMMUNICATION_LOSS, 'lost the packets',
        ),
        (
            RobotMode.REFLEX, ('joint_position_limits_violation', 'joint_reflex'),
            Code.JOINT_LIMIT, 'a joint passed its limit',
        ),
    ],
)  # fmt: skip
def test_what_needs_a_person_ends_the_call_with_its_own_code_once_one_allows_to_go_on(
    arm: KinematicArm, mode: RobotMode, errors: tuple[str, ...], code: Code, wording: str
) -> None:
    arm.replies = [DEACTIVATED]
    arm.mode, arm.errors = mode, errors
    asked: list[tuple[str, int, int]] = []

    def allow(what: str, cancel: CancelToken) -> bool:
        asked.append((what, len(arm.sent), arm.recoveries))
        return True

    executor = executor_on(arm, allow)
    outcome = executor.execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, code)
    assert wording in outcome.message
    assert outcome.message.endswith('A person has let the robot go on since.')
    [(what, sent, recoveries)] = asked
    assert wording in what
    assert (sent, recoveries) == (1, 0)
    assert len(arm.sent) == 1  # nothing more moved in this call
    assert executor.execute(PICK_RED).succeeded


def test_a_call_can_be_cancelled_while_a_person_is_waited_for(arm: KinematicArm) -> None:
    arm.replies = [DEACTIVATED]
    arm.mode = RobotMode.USER_STOPPED
    executor: SkillExecutor

    def nobody_comes(what: str, cancel: CancelToken) -> bool:
        executor.stop()
        cancel.raise_if_cancelled()
        raise AssertionError('the wait should have ended')

    executor = executor_on(arm, nobody_comes)
    outcome = executor.execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.CANCELLED)
    assert (arm.recoveries, len(arm.sent)) == (0, 1)


def test_a_reflex_is_reported_and_recovered_from_and_the_arm_is_raised(arm: KinematicArm) -> None:
    arm.replies = [DEACTIVATED]

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.REFLEX)
    assert outcome.message == (
        'a reflex stopped the arm while moving above red_cube: it met more force than it '
        'may (too heavy, fixed, or a collision).'
    )
    assert outcome.raw == DEACTIVATED.error_string
    assert (arm.recoveries, len(arm.sent)) == (1, 2)


def test_a_third_stop_needs_a_person_unless_a_call_has_succeeded_in_between(
    arm: KinematicArm,
) -> None:
    executor = executor_on(arm)

    def pick_with(*replies: FollowResult) -> Code:
        arm.replies = list(replies)
        return executor.execute(PICK_RED).code

    codes = [
        pick_with(DEACTIVATED, DEACTIVATED),  # a reflex on the way there and one in the rise
        pick_with(),
        pick_with(),  # refused, as it is in the hand; nothing moved
    ]
    executor.execute(SkillCall('open_gripper'))
    codes += [pick_with(DEACTIVATED, DEACTIVATED), pick_with(DEACTIVATED), pick_with()]

    assert codes == [
        Code.REFLEX, Code.NONE, Code.ALREADY_HOLDING, Code.REFLEX, Code.NEEDS_PERSON,
        Code.NEEDS_PERSON,
    ]  # fmt: skip
    assert arm.recoveries == 4


def test_a_call_that_moved_nothing_does_not_let_the_count_begin_anew(arm: KinematicArm) -> None:
    executor = executor_on(arm)

    codes = []
    for _ in range(2):
        arm.replies = [DEACTIVATED, DEACTIVATED]
        codes.append(executor.execute(PICK_RED).code)
        codes.append(executor.execute(SkillCall('wait', ('1',))).code)

    assert codes == [Code.REFLEX, Code.NONE, Code.NEEDS_PERSON, Code.NEEDS_PERSON]


@pytest.mark.parametrize('stopped_at_rest', [True, False])
def test_a_robot_that_stopped_before_or_in_the_first_observation_is_recovered_and_observed_again(
    arm: KinematicArm, stopped_at_rest: bool
) -> None:
    arm.down = stopped_at_rest
    observations = []

    def stop_in_the_first_observation() -> Scene:
        observations.append(arm.down)
        arm.down |= not stopped_at_rest and len(observations) == 1
        if arm.down:
            raise SceneError('The scene is stale: the robot is stopped.')
        return arm.observe()

    outcome = SkillExecutor(arm, stop_in_the_first_observation).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert (arm.recoveries, len(arm.sent)) == (1, 2)


def test_a_motion_that_is_refused_because_the_robot_has_just_stopped_is_sent_again(
    arm: KinematicArm,
) -> None:
    def stop_once() -> None:
        arm.down = len(arm.sent) == 1

    arm.on_follow = stop_once

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert arm.recoveries == 1
    assert arm.sent[0] is arm.sent[1]


def test_a_motion_whose_start_the_arm_has_left_in_a_stop_is_not_begun(arm: KinematicArm) -> None:
    def stop_and_push() -> None:
        arm.down = len(arm.sent) == 1
        arm.q = arm.q + 0.05 * arm.down

    arm.on_follow = stop_and_push

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.CONTROLLER_ABORTED
    assert 'has moved meanwhile' in outcome.message
    assert len(arm.sent) == 2  # the one that was refused, and the rise


def test_no_goal_of_arm_or_hand_is_sent_while_the_robot_is_stopped(arm: KinematicArm) -> None:
    arm.recovers = False
    executor = executor_on(arm)

    def stop_before_the_lift() -> None:
        arm.down = len(arm.sent) == 2

    arm.on_follow = stop_before_the_lift
    sent_by_hand = []
    outcomes = []
    for call in (PICK_RED, SkillCall('open_gripper'), SkillCall('return_to_base'), PICK_RED):
        outcomes.append(executor.execute(call))
        sent_by_hand.append(arm.hand_commands)

    assert [outcome.code for outcome in outcomes] == [Code.NEEDS_PERSON] * 4
    assert all(outcome.status is Status.FAILED for outcome in outcomes)
    assert (len(arm.sent), sent_by_hand) == (2, [2, 2, 2, 2])  # opened and closed before


@pytest.mark.parametrize(('lift_takes_n', 'sent'), [(None, 2), (9.0, 3)])
def test_a_stop_that_comes_while_the_hand_closes_is_recovered_from_before_the_arm_moves(
    arm: KinematicArm, lift_takes_n: float | None, sent: int
) -> None:
    arm.lift_takes_n = lift_takes_n  # which the stop silences
    grasp = arm.grasp

    def stop_in_the_grasp(*args: float) -> GripperResult:
        result = grasp(*args)
        arm.down = True
        return result

    arm.grasp = stop_in_the_grasp  # type: ignore[method-assign]  # of this arm only

    assert run(arm, PICK_RED) == [DONE]
    assert (arm.recoveries, len(arm.sent), arm.held) == (1, sent, 'red_cube')


def test_a_goal_of_the_hand_that_a_stop_kept_from_being_sent_is_sent_after_the_recovery(
    arm: KinematicArm,
) -> None:
    grasp = arm.grasp

    def kept_back(*args: float) -> GripperResult:
        arm.grasp = grasp  # type: ignore[method-assign]  # of this arm only
        arm.down = True
        return GripperResult(status=GoalStatus.REJECTED)

    arm.grasp = kept_back  # type: ignore[method-assign]  # of this arm only

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert (arm.recoveries, arm.hand_commands) == (1, 2)  # opened, and closed once


def test_a_wait_closes_no_hand_that_was_cut_off_and_the_next_call_that_moves_does(
    arm: KinematicArm,
) -> None:
    grasp = arm.grasp

    def cut(*args: float) -> GripperResult:
        return replace(grasp(*args), status=GoalStatus.CANCELED, success=False)

    arm.grasp = cut  # type: ignore[method-assign]  # of this arm only
    executor = executor_on(arm)
    assert executor.execute(PICK_RED).code is Code.CANCELLED
    arm.grasp = grasp  # type: ignore[method-assign]  # of this arm only

    before = arm.hand_commands

    assert executor.execute(SkillCall('wait', ('1',))).succeeded
    assert arm.hand_commands == before

    assert executor.execute(SkillCall('return_to_base')).succeeded
    assert arm.hand_commands == before + 1
    assert 'closing the hand on red_cube again' in arm.activities


def test_a_stop_in_a_wait_is_recovered_from_and_the_wait_goes_on_to_its_end(
    arm: KinematicArm,
) -> None:
    def stop_half_way(duration_s: float) -> None:
        first = not arm.recoveries
        arm.clock_s += duration_s / 2 if first else duration_s
        arm.down = first

    arm.wait = stop_half_way  # type: ignore[method-assign]  # of this arm only

    outcome = executor_on(arm).execute(SkillCall('wait', ('2',)))

    assert outcome.succeeded
    assert outcome.duration_s == pytest.approx(2.0)
    assert arm.recoveries == 1


def test_hand_opens_on_the_way_where_nothing_is_in_the_hand_and_above_the_grip_otherwise(
    arm: KinematicArm,
) -> None:
    opened_at: list[tuple[int, bool]] = []
    move_gripper = arm.move_gripper

    def note(width_m: float, speed_m_s: float) -> GripperResult:
        opened_at.append((len(arm.sent), arm.held is not None))
        return move_gripper(width_m, speed_m_s)

    arm.move_gripper = note  # type: ignore[method-assign]  # of this arm only
    arm.objects['location_A'] = location('location_A', 0.5, -0.2)

    assert run(arm, PICK_RED, place('location_A'), PICK_RED) == [DONE] * 3
    # Down, up; over, down and release, up; wider on the way to the next.
    assert [held for _, held in opened_at] == [False, True, False]
    assert [count for count, _ in opened_at] == [1, 4, 6]


@pytest.mark.parametrize('beside_m', [0.0, 0.005])
def test_hand_opens_above_the_grip_where_its_fingers_would_touch_something_on_the_way(
    beside_m: float,
) -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.width_m = 0.0
    # A tall thing at the outer side of the closed fingers where the arm sets off.
    tcp = FR3.kinematics.forward(arm.q)[:3, 3]
    y = float(tcp[1]) + 0.02 + 0.025 + beside_m
    size_m = (0.02, 0.02, float(tcp[2]) + 0.02)
    pose = Pose(position_m=(float(tcp[0]), y, size_m[2] / 2))
    post = SceneObject(name='post', kind=Kind.CUBE, pose=pose, size_m=size_m)
    arm.objects['post'] = post
    both: list[float] = []
    move_both = arm.move_both

    def note(*asked: Any) -> Any:
        both.append(asked[2].width_m)
        return move_both(*asked)

    arm.move_both = note  # type: ignore[method-assign]  # of this arm only

    assert run(arm, PICK_RED) == [DONE]
    assert (both, len(arm.openings)) == ([], 1)


@pytest.mark.parametrize('arm_stopped', [False, True])
def test_hand_that_fails_on_the_way_ends_the_call_as_one_that_fails_above_the_grip(
    arm: KinematicArm, arm_stopped: bool
) -> None:
    def fail(
        trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        failed = stuck(fingers.width_m, fingers.speed_m_s)
        if arm_stopped:
            return FollowResult(status=GoalStatus.CANCELED), failed
        return arm.follow(trajectory, tolerances), failed

    arm.move_both = fail  # type: ignore[method-assign]  # of this arm only

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.GRIPPER_FAILED)
    assert message == 'the hand failed while opening the hand: it is stuck.'


@pytest.mark.parametrize('arrived', [False, True], ids=['cut', 'arrived while the arm braked'])
def test_fingers_that_are_late_open_at_rest_and_the_pick_goes_on_with_a_stop_above_it(
    arm: KinematicArm, arrived: bool
) -> None:
    def late(
        trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        assert fingers.due_s < trajectory.duration_s
        arm.q = trajectory.position_rad[len(trajectory.position_rad) // 2]
        if arrived:
            return FollowResult(status=GoalStatus.CANCELED), arm.move_gripper(
                fingers.width_m, fingers.speed_m_s
            )
        arm.width_m = (arm.width_m + fingers.width_m) / 2
        hand = GripperResult(status=GoalStatus.TIMED_OUT, width_m=arm.width_m)
        return FollowResult(status=GoalStatus.CANCELED), hand

    arm.move_both = late  # type: ignore[method-assign]  # of this arm only

    assert run(arm, PICK_RED) == [DONE]

    over, down, up = heights(arm)
    assert over > down + 0.05
    assert up == pytest.approx(over, abs=1e-3)
    assert len(arm.openings) == 1 + arrived


def test_a_stop_while_the_hand_opens_counts_before_the_failure_of_the_hand(
    arm: KinematicArm,
) -> None:
    executor = executor_on(arm)

    def stop(*asked: Any) -> tuple[FollowResult, GripperResult]:
        executor.stop()
        cut = GripperResult(status=GoalStatus.CANCELED, error='Command aborted!')
        return FollowResult(status=GoalStatus.CANCELED), cut

    arm.move_both = stop  # type: ignore[method-assign]  # of this arm only

    outcome = executor.execute(PICK_RED)

    assert (outcome.code, outcome.message) == (
        Code.CANCELLED, 'the robot was stopped while moving above red_cube.',
    )  # fmt: skip
    assert arm.sent == []


def test_hand_that_the_stop_of_the_robot_cut_after_the_arm_had_arrived_is_recovered_from(
    arm: KinematicArm,
) -> None:
    def cut(trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove) -> Any:
        followed = arm.follow(trajectory, tolerances)
        arm.down = True
        return followed, GripperResult(status=GoalStatus.CANCELED)

    arm.move_both = cut  # type: ignore[method-assign]  # of this arm only

    [(status, code, _)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.REFLEX)
    assert arm.recoveries == 1


FIXED = (
    'red_cube did not rise: the lift took more than 10 N, as it does of what is fixed to the '
    'table or weighs about 1 kg or more'
)
UNFELT = (
    'red_cube was not lifted, as it may be fixed: the robot no longer reports the force at '
    'its hand. With its state broadcaster active and the arm away from a '
    'singularity it would be lifted; the hand has let go of it.'
)


def heights(arm: KinematicArm) -> list[float]:
    """Return where each motion ended [m]."""
    return [float(FR3.kinematics.forward(sent.position_rad[-1])[2, 3]) for sent in arm.sent]


def arm_that_feels(lift_takes_n: float) -> KinematicArm:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))
    arm.lift_takes_n = lift_takes_n
    return arm


@pytest.mark.parametrize('force_is_late', [False, True])
def test_what_does_not_rise_is_let_go_of_and_the_arm_goes_up_without_it(
    force_is_late: bool,
) -> None:
    arm = arm_that_feels(12.0)
    arm.force_is_late = force_is_late

    assert run(arm, PICK_RED) == [
        (Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}; the hand has let go of it.')
    ]

    assert arm.held is None
    assert arm.width_m > 0.04
    assert len(arm.sent) == 3  # down, the first bit of the lift, up without it
    assert heights(arm)[2] == pytest.approx(heights(arm)[0] + 0.08, abs=2e-3)
    assert arm.recoveries == 0


def test_what_rises_is_lifted_gently_at_first_and_then_all_the_way() -> None:
    arm = arm_that_feels(9.0)

    assert run(arm, PICK_RED) == [DONE]

    down, first, up = heights(arm)
    assert 1e-4 < first - down < 1e-3
    assert up == pytest.approx(down + 0.08, abs=1e-4)
    np.testing.assert_array_equal(arm.sent[1].position_rad[-1], arm.sent[2].position_rad[0])
    assert arm.held == 'red_cube'


@pytest.mark.parametrize(
    ('motions', 'sent'), [(1, 2), (2, 3)], ids=['before the lift', 'on its first bit']
)
def test_a_force_that_is_no_longer_reported_ends_the_lift_and_the_hand_lets_go(
    motions: int, sent: int
) -> None:
    arm = arm_that_feels(12.0)
    arm.force_silent_from = motions

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.TIMEOUT)
    assert message == UNFELT
    assert arm.held is None
    assert len(arm.sent) == sent
    assert heights(arm)[-1] == pytest.approx(heights(arm)[0] + 0.08, abs=2e-3)


def aborted(error: FollowError) -> FollowResult:
    return FollowResult(status=GoalStatus.ABORTED, error_code=error, error_string='aborted')


HELD_BACK = [
    aborted(FollowError.PATH_TOLERANCE_VIOLATED),
    aborted(FollowError.GOAL_TOLERANCE_VIOLATED),
]
TIMED_OUT = FollowResult(status=GoalStatus.TIMED_OUT, error_string='no result')


@pytest.mark.parametrize('force_is_late', [False, True])
@pytest.mark.parametrize('reply', [*HELD_BACK, TIMED_OUT])
def test_a_load_that_does_not_rise_is_reported_however_the_start_of_its_lift_fails(
    reply: FollowResult, force_is_late: bool
) -> None:
    arm = arm_that_feels(12.0)
    arm.force_is_late = force_is_late
    arm.cut_reply = reply
    arm.on_follow = lambda: arm.replies.append(reply) if len(arm.sent) == 2 else None

    assert run(arm, PICK_RED) == [
        (Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}; the hand has let go of it.')
    ]

    assert arm.held is None
    assert len(arm.sent) == 3


@pytest.mark.parametrize('feels_n', [9.0, None])
@pytest.mark.parametrize('reply', HELD_BACK)
def test_an_arm_that_is_held_back_on_a_lift_lets_go_before_it_rises(
    reply: FollowResult, feels_n: float | None
) -> None:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))
    arm.lift_takes_n = feels_n
    arm.on_follow = lambda: arm.replies.append(reply) if len(arm.sent) == 2 else None

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code.name) == (Status.FAILED, reply.error_code.name.removesuffix('_VIOLATED'))
    assert message.endswith('; the hand has let go of it.')
    assert arm.held is None
    assert arm.position('red_cube') == pytest.approx((0.5, 0.1, 0.02))
    assert len(arm.sent) == 3


@pytest.mark.parametrize(
    ('reply', 'code'),
    [
        (aborted(FollowError.INVALID_GOAL), Code.CONTROLLER_ABORTED),
        (DEACTIVATED, Code.REFLEX),
    ],
)
def test_a_lift_that_the_controller_gives_up_is_not_gone_on_with_out_of_the_way(
    reply: FollowResult, code: Code
) -> None:
    arm = arm_that_feels(9.0)
    arm.on_follow = lambda: arm.replies.append(reply) if len(arm.sent) == 2 else None

    [(status, found, message)] = run(arm, PICK_RED)

    assert (status, found) == (Status.FAILED, code)
    assert 'while lifting red_cube' in message
    assert (arm.held, len(arm.sent)) == ('red_cube', 2)


def test_a_reflex_in_a_lift_that_is_being_cancelled_for_its_force_is_the_reason() -> None:
    arm = arm_that_feels(12.0)
    arm.cut_reply = replace(DEACTIVATED, status=GoalStatus.CANCELED)

    [(status, code, _)] = run(arm, PICK_RED)

    assert (status, code, arm.recoveries) == (Status.FAILED, Code.REFLEX, 1)


def test_a_hand_that_does_not_open_is_not_reported_to_have_let_go() -> None:
    arm = arm_that_feels(12.0)

    def stick() -> None:
        if len(arm.sent) == 2:
            arm.move_gripper = stuck  # type: ignore[method-assign]

    arm.on_follow = stick

    assert run(arm, PICK_RED) == [(Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}.')]

    assert arm.held == 'red_cube'
    assert len(arm.sent) == 2  # what is held fast is not pulled at again


def test_a_stop_by_a_person_counts_before_the_force_of_a_lift() -> None:
    arm = arm_that_feels(12.0)
    executor = executor_on(arm)
    arm.on_follow = lambda: executor.stop() if len(arm.sent) == 2 else None

    outcome = executor.execute(PICK_RED)

    assert (outcome.code, outcome.message) == (
        Code.CANCELLED, 'the robot was stopped while lifting red_cube.',
    )  # fmt: skip
    assert arm.held == 'red_cube'


def stuck(width_m: float, speed_m_s: float) -> GripperResult:
    return GripperResult(status=GoalStatus.ABORTED, error='it is stuck', width_m=0.04)


def test_a_cube_that_slips_while_it_is_lifted_is_noticed(arm: KinematicArm) -> None:
    arm.slips_after = 2  # down, up

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.GRASP_FAILED)
    assert 'red_cube is not in the hand' in message


def test_a_load_that_does_not_rise_is_reported_where_the_arm_misses_its_goal() -> None:
    arm = arm_that_feels(12.0)
    arm.force_is_late = True
    arm.on_follow = lambda: setattr(arm, 'error_rad', 0.05 if len(arm.sent) == 2 else 0.0)

    [(_, code, _)] = run(arm, PICK_RED)

    assert code is Code.WOULD_NOT_RISE
    assert arm.held is None


def test_after_a_third_reflex_that_a_person_had_to_see_to_the_arm_stays_where_it_is(
    arm: KinematicArm,
) -> None:
    moved: list[int] = []

    def allow(what: str, cancel: CancelToken) -> bool:
        moved.append(len(arm.sent))
        return True

    executor = executor_on(arm, allow)
    for _ in range(3):
        before = len(arm.sent)
        arm.replies = [DEACTIVATED, DEACTIVATED]
        arm.mode, arm.errors = RobotMode.REFLEX, ('cartesian_reflex',)
        outcome = executor.execute(PICK_RED)
        if moved:
            break

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.REFLEX)
    assert outcome.message.endswith('A person has let the robot go on since.')
    assert len(arm.sent) > before
    assert moved == [len(arm.sent)]


def test_a_user_stop_that_nobody_lifts_ends_with_what_to_do(arm: KinematicArm) -> None:
    arm.replies = [DEACTIVATED]
    arm.mode, arm.errors = RobotMode.USER_STOPPED, ()

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.NEEDS_PERSON)
    assert outcome.message == (
        'the user stop of the robot was pressed while moving above red_cube. It stays stopped '
        'until a person allows it to go on. Make sure that nobody is in reach of the arm, then '
        'release the user stop. Then run the task again.'
    )
    assert (arm.recoveries, len(arm.sent)) == (0, 1)


def carrying(slip_m: float) -> KinematicArm:
    """Return an arm whose cube slips in the hand on the way to a place."""
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_A', 0.5, -0.2))
    arm.amends = True

    def slip() -> None:
        item = arm.objects['red_cube']
        x, y, z = item.pose.position_m
        pose = replace(item.pose, position_m=(x + slip_m, y - slip_m, z + slip_m / 2))
        arm.objects['red_cube'] = replace(item, pose=pose)

    arm.on_amend = slip
    return arm


@pytest.mark.parametrize(('slip_m', 'motions'), [(0.0, 2), (0.0015, 2), (0.004, 3)])
def test_a_place_stops_above_its_target_only_where_much_has_slipped(
    slip_m: float, motions: int
) -> None:
    arm = carrying(slip_m)
    run(arm, PICK_RED)
    before = len(arm.sent)

    [outcome] = run(arm, place('location_A'))

    assert outcome == DONE
    assert arm.position('red_cube') == pytest.approx((0.5, -0.2, 0.02), abs=1e-4)
    assert len(arm.sent) - before == motions
    for one, other in zip(arm.sent[before:], arm.sent[before + 1 :], strict=False):
        assert other.position_rad[0] == pytest.approx(one.position_rad[-1], abs=1e-9)


def test_a_cube_that_is_lost_before_the_way_down_is_noticed_above_the_place() -> None:
    arm = carrying(0.0)
    run(arm, PICK_RED)
    arm.on_amend = arm.let_go

    [outcome] = run(arm, place('location_A'))

    assert outcome == (
        Status.FAILED, Code.OBJECT_LOST, 'red_cube was lost on the way to location_A.',
    )  # fmt: skip


def test_a_descent_that_fails_is_reported_alike_with_and_without_a_stop_above_it() -> None:
    reported = []
    for amends, successes in ((True, 0), (False, 1)):
        arm = carrying(0.0)
        arm.amends = amends
        run(arm, PICK_RED)
        aborted = FollowResult(
            status=GoalStatus.ABORTED, error_code=FollowError.PATH_TOLERANCE_VIOLATED
        )
        arm.replies = [FollowResult(status=GoalStatus.SUCCEEDED)] * successes + [aborted]
        reported += run(arm, place('location_A'))

    assert reported[0] == reported[1]
    assert 'lowering red_cube onto location_A' in reported[0][2]
