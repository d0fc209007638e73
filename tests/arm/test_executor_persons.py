"""What the executor asks a person before a robot that stopped goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kinematic_arm import DEACTIVATED, PICK_RED, KinematicArm, cube, executor_on

from bbllm.arm.driver import GoalStatus, GripperResult, RobotMode
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.core.types import Code, Status


def test_a_hand_that_a_stop_cuts_off_ends_the_call_and_a_person_is_asked_before_it_moves_on() -> (
    None
):
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.mode, arm.errors = RobotMode.USER_STOPPED, ()
    asked: list[tuple[str, int, int]] = []

    def cut(*args: float) -> GripperResult:
        arm.hand_commands += 1
        arm.down, arm.width_m = True, 0.06
        return GripperResult(status=GoalStatus.CANCELED, width_m=0.06)

    def allow(what: str, look: Callable[[], None]) -> bool:
        asked.append((what, len(arm.sent), arm.hand_commands))
        return True

    arm.grasp = cut  # type: ignore[method-assign]  # of this arm only
    outcome = executor_on(arm, allow).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.USER_STOP)
    assert 'while closing the hand on red_cube' in outcome.message
    [(what, *before)] = asked
    assert 'user stop' in what
    assert before == [len(arm.sent), arm.hand_commands] == [2, 2]  # opened, and closed half-way


@pytest.mark.parametrize(
    ('mode', 'errors', 'code', 'says'),
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
    mode: RobotMode, errors: tuple[str, ...], code: Code, says: str
) -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [DEACTIVATED]
    arm.mode, arm.errors = mode, errors
    asked: list[tuple[str, int, int]] = []

    def allow(what: str, look: Callable[[], None]) -> bool:
        asked.append((what, len(arm.sent), arm.recoveries))
        return True

    executor = executor_on(arm, allow)
    outcome = executor.execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, code)
    assert says in outcome.message
    assert outcome.message.endswith('A person has let the robot go on since.')
    [(what, sent, recoveries)] = asked
    assert says in what
    assert (sent, recoveries) == (1, 0)
    assert len(arm.sent) == 1  # nothing more moved in this call
    assert executor.execute(PICK_RED).succeeded


def test_after_a_third_reflex_that_a_person_had_to_see_to_the_arm_stays_where_it_is() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    moved: list[int] = []

    def allow(what: str, look: Callable[[], None]) -> bool:
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


def test_a_user_stop_that_nobody_lifts_ends_with_what_to_do() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [DEACTIVATED]
    arm.mode, arm.errors = RobotMode.USER_STOPPED, ()

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.NEEDS_PERSON)
    assert outcome.message == (
        'the user stop of the robot was pressed while moving above red_cube. It stays stopped, '
        'as nobody has allowed it to go on. See that nobody is in reach of the arm, then '
        'release the user stop. Then run the task again.'
    )
    assert (arm.recoveries, len(arm.sent)) == (0, 1)


def test_a_call_can_be_cancelled_while_a_person_is_waited_for() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [DEACTIVATED]
    arm.mode = RobotMode.USER_STOPPED
    executor: SkillExecutor

    def nobody_comes(what: str, look: Callable[[], None]) -> bool:
        executor.stop()
        look()
        raise AssertionError('the wait should have ended')

    executor = executor_on(arm, nobody_comes)
    outcome = executor.execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.CANCELLED)
    assert (arm.recoveries, len(arm.sent)) == (0, 1)
