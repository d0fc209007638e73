"""The way back from a stop that a person has to see to: when one is asked, and what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from played_recoveries import ALL_STEPS, DOWN, Person, Played, nothing, recovery_of

from bbllm.arm.driver import RobotMode
from bbllm.arm.execution.recovery import MOST_QUESTIONS
from bbllm.arm.execution.stop_causes import StopCause
from bbllm.arm.failures import StuckError
from bbllm.core.types import Code


@pytest.mark.parametrize(
    ('error', 'cause'),
    [
        ('communication_constraints_violation', StopCause.COMMUNICATION_LOSS),
        ('joint_position_limits_violation', StopCause.JOINT_LIMIT),
    ],
)
def test_a_cause_that_shows_only_after_the_error_is_cleared_still_asks_before_the_controller(
    error: str, cause: StopCause
) -> None:
    robot = Played(errors=(error,))
    steps_when_asked: list[list[str]] = []
    person = Person(True, first=lambda: steps_when_asked.append(list(robot.steps)))

    stop = recovery_of(robot, person).run('lifting red_cube', nothing)

    assert (stop.cause, stop.asked) == (cause, True)
    assert steps_when_asked == [ALL_STEPS[:-1]]
    assert robot.steps[-1] == 'controller'
    assert robot.steps.count('controller') == 1


def test_a_stop_without_any_error_is_taken_for_a_user_stop() -> None:
    robot, person = Played(errors=()), Person(False)

    with pytest.raises(StuckError, match='stopped from outside while lifting red_cube') as raised:
        recovery_of(robot, person).run('lifting red_cube', nothing)

    assert raised.value.code is Code.NEEDS_PERSON
    assert 'controller' not in robot.steps


def test_what_a_person_has_not_allowed_is_asked_again_and_never_recovered_from_unasked() -> None:
    robot, person = Played(errors=()), Person(False, False, True)
    recovery = recovery_of(robot, person)

    for _ in range(2):
        with pytest.raises(StuckError):
            recovery.run('lifting red_cube', nothing)
        assert robot.now.hardware_active  # so the stop itself is no longer to be seen
        assert 'controller' not in robot.steps
    stop = recovery.run('waiting for pick(red_cube)', nothing)

    assert (stop.cause, stop.asked, len(person.asked)) == (StopCause.USER_STOP, True, 3)
    assert 'while lifting red_cube' in person.asked[2]


def test_a_user_stop_that_is_known_is_not_touched_before_a_person_allows_it() -> None:
    robot = Played()
    robot.now = replace(DOWN, mode=RobotMode.USER_STOPPED)
    steps_when_asked: list[list[str]] = []
    person = Person(True, first=lambda: steps_when_asked.append(list(robot.steps)))

    stop = recovery_of(robot, person).run('lifting red_cube', nothing)

    assert steps_when_asked == [[]]
    assert stop.asked
    assert 'release the user stop' in person.asked[0]


def test_a_robot_that_refuses_error_recovery_is_looked_at_before_the_person_is_asked() -> None:
    robot = Played(errors=(), mode_when_down=RobotMode.USER_STOPPED, refuses={'error recovery'})
    person = Person(True, first=robot.refuses.clear)

    stop = recovery_of(robot, person).run('lifting red_cube', nothing)

    assert stop.cause is StopCause.USER_STOP
    assert robot.steps == [
        'error recovery', 'hardware', 'broadcasters', 'fresh states',
        *ALL_STEPS,
    ]  # fmt: skip
    [what] = person.asked
    assert 'the user stop of the robot was pressed while lifting red_cube.' in what
    assert 'error recovery failed: error recovery was refused by the test.' in what
    assert 'release the user stop' in what


@pytest.mark.parametrize('step', ALL_STEPS)
def test_every_step_that_fails_is_named_and_the_person_is_asked_at_most_three_times(
    step: str,
) -> None:
    robot, person = Played(refuses={step}), Person(*[True] * 9)

    with pytest.raises(StuckError, match=f'{step} was refused by the test') as raised:
        recovery_of(robot, person).run('lifting red_cube', nothing)

    assert raised.value.code is Code.NEEDS_PERSON
    assert len(person.asked) == MOST_QUESTIONS
    assert not robot.now.able


def test_without_anybody_to_ask_the_sentence_says_what_to_do() -> None:
    robot = Played(refuses={'hardware'})

    with pytest.raises(StuckError) as raised:
        recovery_of(robot).run('lifting red_cube', nothing)

    assert str(raised.value) == (
        'the robot stopped while lifting red_cube and did not tell why. It does not recover: '
        'activation of the hardware failed: hardware was refused by the test. It stays stopped, '
        'as nobody has allowed it to go on. Look at the robot and at Desk: is the user stop '
        'pressed, are the joints locked, is a joint beyond its limit, does the network hold? '
        'Then run the task again.'
    )
