"""
Recovery of a stopped robot in the order that its driver requires, or after a person agreed.

Error recovery, hardware component, broadcasters, fresh joint states, the forces at which it stops,
controller of the arm. The controller comes last, so that the broadcasters, which a stop takes down
too, can tell why the robot stopped before anything could move; only an idle robot takes forces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bbllm.arm.driver import ArmDriver, RecoveryError
from bbllm.arm.failures import StuckError
from bbllm.arm.safety.contact_limits import STEP, ContactLimiter
from bbllm.arm.stop_causes import Stop, diagnose
from bbllm.core.approval import AskPerson
from bbllm.core.types import Code

MOST_AUTOMATIC = 2
"""How often the robot is recovered without asking, since the last call that succeeded: what stops
it again will go on doing so."""
MOST_QUESTIONS = 3
"""How often a person is asked about one stop: each time the last answer did not help."""
FRESH_S = 5.0
"""How long the first joint states after a recovery may take, wall clock [s]."""


@dataclass(slots=True)
class _Case:
    """A stop from which the robot was not brought back yet."""

    stop: Stop
    doing: str
    was_down: bool
    """Whether it took the hardware component down."""


class Recovery:
    """
    The way back from a stop, and the count of how often it was gone.

    Args:
        driver: The robot.
        ask_person: Asked where a program may not, or can not, recover by itself; by default
            nobody is there.
        tell: Told what is done, for people.
        limiter: Sets the forces at which the robot stops, while it is idle.
    """

    def __init__(
        self,
        driver: ArmDriver,
        ask_person: AskPerson | None,
        tell: Callable[[str], None],
        limiter: ContactLimiter | None = None,
    ) -> None:
        self._driver = driver
        self._limiter = limiter
        self._ask_person = ask_person
        self._tell = tell
        self._automatic = 0
        self._open: _Case | None = None

    def able(self, patience_s: float = 0.0) -> bool:
        """Return whether a motion may be sent; see `ArmDriver.condition` for the patience [s]."""
        if not self._driver.condition(patience_s).able:
            return False
        self._open = None  # whoever brought the robot back has seen to it
        return True

    def succeeded(self) -> None:
        """Begin to count anew: a call has moved the robot and succeeded."""
        self._automatic = 0

    def run(self, doing: str, look: Callable[[], None]) -> Stop:
        """
        Recover the robot and return what had stopped it.

        Args:
            doing: What the arm was about: `lifting red_cube`.
            look: Called all the time; what it raises ends the recovery.

        Raises:
            StuckError: It stays stopped, with code NEEDS_PERSON.
            WorldError: The driver has gone.
        """
        condition = self._driver.condition()
        if self._open is None:
            was_down = not condition.hardware_active
            stop = diagnose(condition, hardware_was_down=was_down)
            self._open = _Case(stop, doing, was_down)
        # Else an attempt was in vain: hardware and broadcasters may be up since, and what had
        # stopped the robot is still what a person has to see to.
        stop = self._solve(self._open, look)
        self._open = None
        return stop

    def _solve(self, case: _Case, look: Callable[[], None]) -> Stop:
        problem, asked = self._too_often(), 0
        while True:  # every time but the first a person is asked
            if problem or (case.stop.needs_person and not asked):
                if asked == MOST_QUESTIONS:
                    raise _stuck(case, problem)
                self._ask(case, problem, look)
                asked += 1
            else:
                self._automatic += 1
            self._tell('recovering the robot')
            try:
                self._bring_up_states(look)
                case.stop, problem = case.stop.or_known(self._told(case)), ''
                if case.stop.needs_person and not asked:
                    continue
                look()
                if self._limiter is not None:
                    _do(STEP, self._limiter.set)
                look()
                _do('activation of the controller', self._driver.activate_controller)
                if self._driver.condition().able:
                    return replace(case.stop, asked=asked > 0)
                problem = 'It was recovered, and stopped again at once.'
            except RecoveryError as error:
                problem = f'It does not recover: {error}'
                case.stop = case.stop.or_known(self._peek(case))

    def _too_often(self) -> str:
        """Return why a person has to be asked whatever the cause is; mostly nothing."""
        if self._automatic < MOST_AUTOMATIC:
            return ''
        return f'It was recovered {MOST_AUTOMATIC} times already, and no call has succeeded since.'

    def _bring_up_states(self, look: Callable[[], None]) -> None:
        """Clear the error and bring back what tells of the robot, all but what moves it."""
        driver = self._driver
        for name, step in (
            ('error recovery', driver.clear_errors),
            ('activation of the hardware', driver.activate_hardware),
            ('activation of the broadcasters', driver.activate_broadcasters),
            ('a wait for fresh joint states', lambda: driver.wait_fresh(FRESH_S)),
        ):
            look()
            _do(name, step)

    def _peek(self, case: _Case) -> Stop:
        """
        Look why the robot does not recover.

        Its broadcasters went down with the stop; hardware and broadcasters, which move nothing,
        can be brought up in any mode.
        """
        try:
            self._driver.activate_hardware()
            self._driver.activate_broadcasters()
            self._driver.wait_fresh(FRESH_S)
        except RecoveryError:
            pass  # then what is known without has to do
        stop = self._told(case)
        # No error shown says nothing as long as the robot refuses to be recovered.
        return stop if stop.told else Stop()

    def _told(self, case: _Case) -> Stop:
        return diagnose(self._driver.condition(), hardware_was_down=case.was_down)

    def _ask(self, case: _Case, problem: str, look: Callable[[], None]) -> None:
        """Wait for a person's word; raises StuckError without it."""
        text = _sentences(case.stop.sentence(case.doing), problem, case.stop.advice)
        if self._ask_person is None or not self._ask_person(text, look):
            raise _stuck(case, problem)


def _do(name: str, step: Callable[[], None]) -> None:
    try:
        step()
    except RecoveryError as error:
        raise RecoveryError(f'{name} failed: {error}') from error


def _stuck(case: _Case, problem: str) -> StuckError:
    return StuckError(
        Code.NEEDS_PERSON,
        _sentences(
            case.stop.sentence(case.doing),
            problem,
            'It stays stopped, as nobody has allowed it to go on.',
            case.stop.advice,
            'Then run the task again.',
        ),
    )


def _sentences(*parts: str) -> str:
    return ' '.join(part for part in parts if part)
