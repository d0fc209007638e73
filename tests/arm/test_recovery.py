"""The way back from a stop, on a driver that plays one step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from played_recoveries import ALL_STEPS, DOWN, Person, Played, nothing, recovery_of

from bbllm.arm.execution.stop_causes import StopCause
from bbllm.arm.failures import SkillError, StuckError
from bbllm.arm.safety.contact_limits import ContactLimiter
from bbllm.core.types import Code


class Forces(ContactLimiter):
    """Notes when the forces at which the robot stops are set."""

    def __init__(self, robot: Played) -> None:
        self.robot = robot

    def set(self) -> None:
        self.robot._step('forces')


def test_the_steps_come_in_the_drivers_order_with_the_controller_last() -> None:
    robot = Played()

    stop = recovery_of(robot).run('lifting red_cube', nothing)

    assert robot.steps == ALL_STEPS
    assert (stop.cause, stop.asked) == (StopCause.REFLEX, False)


def test_the_forces_at_which_it_stops_are_set_on_the_idle_robot_before_the_controller() -> None:
    robot = Played()
    recovery = recovery_of(robot, forces=Forces(robot))

    recovery.run('lifting red_cube', nothing)

    assert robot.steps == [*ALL_STEPS[:-1], 'forces', 'controller']


def test_a_robot_that_does_not_take_the_forces_stays_down_and_a_person_is_asked() -> None:
    robot, person = Played(refuses={'forces'}), Person(False)
    recovery = recovery_of(robot, person, Forces(robot))

    with pytest.raises(StuckError, match='safety rule contact_force') as raised:
        recovery.run('lifting red_cube', nothing)

    assert raised.value.code is Code.NEEDS_PERSON
    assert 'forces was refused by the test' in person.asked[0]
    assert 'controller' not in robot.steps


def test_a_reflex_is_recovered_from_twice_and_then_a_person_is_asked() -> None:
    robot, person = Played(), Person(True, True)
    recovery = recovery_of(robot, person)

    asked = []
    for _ in range(4):
        robot.now = DOWN
        asked.append(recovery.run('lifting red_cube', nothing).asked)

    assert asked == [False, False, True, True]
    assert 'recovered 2 times already' in person.asked[0]


def test_a_call_that_succeeded_lets_the_count_begin_anew() -> None:
    robot = Played()
    recovery = recovery_of(robot)
    for _ in range(6):
        robot.now = DOWN
        assert not recovery.run('lifting red_cube', nothing).asked
        recovery.succeeded()


def test_a_robot_that_somebody_else_has_brought_back_is_a_closed_case() -> None:
    robot = Played(errors=())
    recovery = recovery_of(robot)
    with pytest.raises(StuckError):
        recovery.run('lifting red_cube', nothing)
    robot.activate_controller()
    assert recovery.able()
    robot.errors, robot.now = ('cartesian_reflex',), DOWN

    assert not recovery.able()
    assert recovery.run('lifting red_cube', nothing).cause is StopCause.REFLEX


def test_a_controller_that_somebody_took_down_by_hand_is_no_user_stop() -> None:
    robot = Played(errors=())
    robot.now = replace(DOWN, hardware_active=True)

    stop = recovery_of(robot).run('lifting red_cube', nothing)

    assert (stop.cause, stop.asked) == (StopCause.UNKNOWN, False)
    assert stop.sentence('lifting red_cube') == (
        'the robot stopped while lifting red_cube and did not tell why.'
    )


def test_a_robot_that_stops_again_at_once_is_not_called_recovered() -> None:
    robot, person = Played(stays_down=True), Person(False)

    with pytest.raises(StuckError, match='stopped again at once'):
        recovery_of(robot, person).run('lifting red_cube', nothing)

    assert len(person.asked) == 1


@pytest.mark.parametrize('step', ALL_STEPS)
def test_a_cancel_is_heeded_before_every_step(step: str) -> None:
    robot = Played()

    def cancelled_before_the_step() -> None:
        if robot.steps == ALL_STEPS[: ALL_STEPS.index(step)]:
            raise SkillError(Code.CANCELLED, 'the robot was stopped.')

    with pytest.raises(SkillError) as raised:
        recovery_of(robot).run('lifting red_cube', cancelled_before_the_step)

    assert raised.value.code is Code.CANCELLED
    assert step not in robot.steps
