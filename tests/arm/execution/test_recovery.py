"""Recovery from a stop: causes, steps, and when a person is asked."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bbllm.arm.driver import RecoveryError, RobotCondition, RobotMode
from bbllm.arm.execution.recovery import MOST_QUESTIONS, ContactLimiter, Recovery
from bbllm.arm.failures import SkillError, StuckError
from bbllm.arm.stop_causes import (
    CAUSES,
    Stop,
    StopCause,
    diagnose,
    hardware_is_up,
)
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Code

DOWN = RobotCondition(controllers_active=False, hardware_active=False, mode=RobotMode.MOVE)
"""As the driver shows a stop: its broadcasters went down before they could tell of it."""
ALL_STEPS = [
    'error recovery',
    'hardware',
    'broadcasters',
    'fresh states',
    'controller',
]


@dataclass
class Played:
    """A robot that is down, and whose errors show once its broadcasters are up again."""

    errors: tuple[str, ...] = ('cartesian_reflex',)
    mode_when_down: RobotMode = RobotMode.REFLEX
    refuses: set[str] = field(default_factory=set)
    stays_down: bool = False
    now: RobotCondition = DOWN
    steps: list[str] = field(default_factory=list)
    cleared: bool = False

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        return self.now

    def clear_errors(self) -> None:
        self._step('error recovery')
        self.cleared = True

    def activate_hardware(self) -> None:
        self._step('hardware')
        self.now = replace(self.now, hardware_active=True)

    def activate_broadcasters(self) -> None:
        self._step('broadcasters')

    def wait_fresh(self, timeout_s: float) -> None:
        self._step('fresh states')
        shown = RobotMode.IDLE if self.cleared else self.mode_when_down
        current = () if self.cleared else self.errors
        self.now = replace(self.now, mode=shown, current_errors=current, last_errors=self.errors)

    def activate_controller(self) -> None:
        self._step('controller')
        if not self.stays_down:
            self.now = replace(self.now, controllers_active=True, mode=RobotMode.MOVE)

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if name in self.refuses:
            raise RecoveryError(f'{name} was refused by the test.')


class Person:
    """Answers what it is asked, in order; does something first."""

    def __init__(self, *answers: bool, first: Callable[[], None] = lambda: None) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)
        self._first = first

    def __call__(self, what: str, cancel: CancelToken) -> bool:
        self.asked.append(what)
        cancel.raise_if_cancelled()
        self._first()
        return self._answers.pop(0)


def recovery_of(
    robot: Any, person: Person | None = None, forces: ContactLimiter | None = None
) -> Recovery:
    return Recovery(robot, person, lambda _: None, forces)


class Forces(ContactLimiter):
    """Notes when the forces at which the robot stops are set."""

    def __init__(self, robot: Played) -> None:
        self.robot = robot

    def set(self) -> None:
        self.robot._step('forces')


def test_the_steps_come_in_the_drivers_order_with_the_controller_last() -> None:
    robot = Played()

    stop = recovery_of(robot).run('lifting red_cube', CancelToken())

    assert robot.steps == ALL_STEPS
    assert (stop.cause, stop.asked) == (StopCause.REFLEX, False)


def test_the_forces_at_which_it_stops_are_set_on_the_idle_robot_before_the_controller() -> None:
    robot = Played()
    recovery = recovery_of(robot, forces=Forces(robot))

    recovery.run('lifting red_cube', CancelToken())

    assert robot.steps == [*ALL_STEPS[:-1], 'forces', 'controller']


def test_a_robot_that_does_not_take_the_forces_stays_down_and_a_person_is_asked() -> None:
    robot, person = Played(refuses={'forces'}), Person(False)
    recovery = recovery_of(robot, person, Forces(robot))

    with pytest.raises(StuckError, match='safety rule contact_force') as raised:
        recovery.run('lifting red_cube', CancelToken())

    assert raised.value.code is Code.NEEDS_PERSON
    assert 'forces was refused by the test' in person.asked[0]
    assert 'controller' not in robot.steps


def test_a_reflex_is_recovered_from_twice_and_then_a_person_is_asked() -> None:
    robot, person = Played(), Person(True, True)
    recovery = recovery_of(robot, person)

    asked = []
    for _ in range(4):
        robot.now = DOWN
        asked.append(recovery.run('lifting red_cube', CancelToken()).asked)

    assert asked == [False, False, True, True]
    assert 'recovered 2 times already' in person.asked[0]


def test_a_call_that_succeeded_lets_the_count_begin_anew() -> None:
    robot = Played()
    recovery = recovery_of(robot)
    for _ in range(6):
        robot.now = DOWN
        assert not recovery.run('lifting red_cube', CancelToken()).asked
        recovery.succeeded()


def test_a_robot_that_somebody_else_has_brought_back_is_a_closed_case() -> None:
    robot = Played(errors=())
    recovery = recovery_of(robot)
    with pytest.raises(StuckError):
        recovery.run('lifting red_cube', CancelToken())
    robot.activate_controller()
    assert recovery.able()
    robot.errors, robot.now = ('cartesian_reflex',), DOWN

    assert not recovery.able()
    assert recovery.run('lifting red_cube', CancelToken()).cause is StopCause.REFLEX


def test_a_controller_that_somebody_took_down_by_hand_is_no_user_stop() -> None:
    robot = Played(errors=())
    robot.now = replace(DOWN, hardware_active=True)

    stop = recovery_of(robot).run('lifting red_cube', CancelToken())

    assert (stop.cause, stop.asked) == (StopCause.UNKNOWN, False)
    assert stop.sentence('lifting red_cube') == (
        'the robot stopped while lifting red_cube and reported no reason.'
    )


def test_a_robot_that_stops_again_at_once_is_not_called_recovered() -> None:
    robot, person = Played(stays_down=True), Person(False)

    with pytest.raises(StuckError, match='stopped again at once'):
        recovery_of(robot, person).run('lifting red_cube', CancelToken())

    assert len(person.asked) == 1


@pytest.mark.parametrize('step', ALL_STEPS)
def test_a_cancel_is_heeded_before_every_step(step: str) -> None:
    robot = Played()

    def cancelled_before_the_step() -> None:
        if robot.steps == ALL_STEPS[: ALL_STEPS.index(step)]:
            raise SkillError(Code.CANCELLED, 'the robot was stopped.')

    with pytest.raises(SkillError) as raised:
        recovery_of(robot).run('lifting red_cube', CancelToken(cancelled_before_the_step))

    assert raised.value.code is Code.CANCELLED
    assert step not in robot.steps


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

    stop = recovery_of(robot, person).run('lifting red_cube', CancelToken())

    assert (stop.cause, stop.asked) == (cause, True)
    assert steps_when_asked == [ALL_STEPS[:-1]]
    assert robot.steps[-1] == 'controller'
    assert robot.steps.count('controller') == 1


def test_a_stop_without_any_error_is_taken_for_a_user_stop() -> None:
    robot, person = Played(errors=()), Person(False)

    with pytest.raises(StuckError, match='stopped from outside while lifting red_cube') as raised:
        recovery_of(robot, person).run('lifting red_cube', CancelToken())

    assert raised.value.code is Code.NEEDS_PERSON
    assert 'controller' not in robot.steps


def test_what_a_person_has_not_allowed_is_asked_again_and_never_recovered_from_unasked() -> None:
    robot, person = Played(errors=()), Person(False, False, True)
    recovery = recovery_of(robot, person)

    for _ in range(2):
        with pytest.raises(StuckError):
            recovery.run('lifting red_cube', CancelToken())
        assert robot.now.hardware_active  # so the stop itself is no longer to be seen
        assert 'controller' not in robot.steps
    stop = recovery.run('waiting for pick(red_cube)', CancelToken())

    assert (stop.cause, stop.asked, len(person.asked)) == (StopCause.USER_STOP, True, 3)
    assert 'while lifting red_cube' in person.asked[2]


def test_a_user_stop_that_is_known_is_not_touched_before_a_person_allows_it() -> None:
    robot = Played()
    robot.now = replace(DOWN, mode=RobotMode.USER_STOPPED)
    steps_when_asked: list[list[str]] = []
    person = Person(True, first=lambda: steps_when_asked.append(list(robot.steps)))

    stop = recovery_of(robot, person).run('lifting red_cube', CancelToken())

    assert steps_when_asked == [[]]
    assert stop.asked
    assert 'release the user stop' in person.asked[0]


def test_the_state_of_a_robot_that_refuses_recovery_is_read_before_a_person_is_asked() -> None:
    robot = Played(errors=(), mode_when_down=RobotMode.USER_STOPPED, refuses={'error recovery'})
    person = Person(True, first=robot.refuses.clear)

    stop = recovery_of(robot, person).run('lifting red_cube', CancelToken())

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
        recovery_of(robot, person).run('lifting red_cube', CancelToken())

    assert raised.value.code is Code.NEEDS_PERSON
    assert len(person.asked) == MOST_QUESTIONS
    assert not robot.now.able


def test_without_a_person_to_ask_the_message_states_what_to_do() -> None:
    robot = Played(refuses={'hardware'})

    with pytest.raises(StuckError) as raised:
        recovery_of(robot).run('lifting red_cube', CancelToken())

    assert str(raised.value) == (
        'the robot stopped while lifting red_cube and reported no reason. It does not recover: '
        'activation of the hardware failed: hardware was refused by the test. It stays stopped '
        'until a person allows it to go on. Check the robot and Desk: is the user stop '
        'pressed, are the joints locked, is a joint beyond its limit, is the network up? '
        'Then run the task again.'
    )


def test_every_error_of_the_driver_has_a_cause() -> None:
    franka = pytest.importorskip('franka_msgs.msg')

    assert set(CAUSES) > set(franka.Errors.get_fields_and_field_types())


def test_every_error_of_libfranka_has_a_cause_with_a_remedy() -> None:
    if importlib.util.find_spec('pylibfranka') is None:
        pytest.skip('pylibfranka is not installed: make extras')
    # In a process of its own, as it cannot be imported beside franky.
    code = (
        'import pylibfranka; print(*(name for name, kind in vars(pylibfranka.Errors).items() '
        'if isinstance(kind, property)))'
    )
    fields = {*subprocess.check_output([sys.executable, '-c', code], text=True).split()}

    assert len(fields) == 41
    assert set(CAUSES) == fields
    for name in fields:
        stop = Stop(cause=CAUSES[name], errors=(name,))
        assert stop.advice
        assert 'lifting' in stop.sentence('lifting red_cube')


def test_of_several_errors_the_one_that_needs_a_person_counts() -> None:
    shown = replace(
        DOWN,
        mode=RobotMode.REFLEX,
        current_errors=('joint_reflex', 'joint_position_limits_violation'),
    )

    assert diagnose(shown, hardware_was_down=True).cause is StopCause.JOINT_LIMIT


def test_a_step_of_the_commands_points_to_the_network_and_another_refusal_does_not() -> None:
    step = Stop(
        cause=StopCause.MOTION_LIMIT, errors=('joint_motion_generator_velocity_discontinuity',)
    )
    limit = Stop(
        cause=StopCause.MOTION_LIMIT,
        errors=('joint_motion_generator_velocity_limits_violation',),
    )

    assert step.sentence('lifting red_cube').endswith(
        'joint motion generator velocity discontinuity, as where commands come late.'
    )
    assert 'Check the network' in step.advice
    assert limit.sentence('lifting red_cube').endswith('velocity limits violation.')
    assert 'network' not in limit.advice


@pytest.mark.parametrize(
    ('shown', 'answered', 'controllers_active', 'up'),
    [
        (True, True, False, True),  # somebody has only taken a controller down
        (True, False, True, True),
        (True, False, False, False),  # nobody knows, so a person is asked
        (False, True, True, False),
    ],
)
def test_hardware_counts_as_up_only_where_something_shows_that_it_is(
    shown: bool, answered: bool, controllers_active: bool, up: bool
) -> None:
    reported = hardware_is_up(
        shown=shown, answered=answered, controllers_active=controllers_active
    )

    assert reported is up


def test_errors_received_before_the_stop_are_not_taken_for_its_cause() -> None:
    errors_before = replace(DOWN, last_errors=('communication_constraints_violation',))

    assert diagnose(errors_before, hardware_was_down=True).cause is StopCause.UNKNOWN
