"""
Recovery of a stopped robot in the order that its driver requires, or after a person agreed.

Error recovery, hardware component, broadcasters, fresh joint states, contact thresholds,
controller of the arm. The controller comes last, so that the broadcasters, which a stop takes down
too, can report why the robot stopped before anything could move; only an idle robot accepts
thresholds.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.driver import ArmDriver, ContactLimits, RecoveryError
from bbllm.arm.envelope import SafetyRule, refusal
from bbllm.arm.failures import SkillError, StuckError
from bbllm.arm.stop_causes import Stop, diagnose
from bbllm.core.approval import AskPerson
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Code

STEP = f'setting of the forces at which it stops (safety rule {SafetyRule.CONTACT_FORCE.value})'
"""What this is called among the steps of a recovery."""
REST_S = 1.0
"""How long an arm that still moves may take to come to rest, on the world's clock [s]."""
REST_CHECKS = 20


class ContactLimiter:
    """
    Sets the robot's own thresholds, or leaves them, where they are not in force.

    Not at the start of a program, when the robot may be absent or in use, but before the first
    motion, and again after the robot has restarted. Joints slower than *still_rad_s* are at rest.
    """

    def __init__(
        self, driver: ArmDriver, limits: ContactLimits | None, still_rad_s: float
    ) -> None:
        self._driver, self._limits, self._still_rad_s = driver, limits, still_rad_s

    @property
    def in_force(self) -> bool:
        """Whether nothing is left to be set."""
        return self._limits is None or self._driver.contact_limits == self._limits

    def set(self) -> None:
        """Set them, whether they are in force or not; raises RecoveryError."""
        if self._limits is not None:
            self._driver.limit_contacts(self._limits)

    def need(self, activity: str) -> None:
        """Set them where they are not in force; raises SkillError, so that nothing moves."""
        if self.in_force:
            return
        if not self._rests():
            why = 'the robot takes the forces at which it stops only at rest, and its arm moves'
            raise _unsafe(activity, f'{why}; a robot that no other program moves would do', '')
        try:
            self.set()
        except RecoveryError as error:
            reason = str(error).rstrip('.')
            raise _unsafe(
                activity,
                f'the robot did not take the forces at which it stops: {reason}; a robot that is '
                'idle, with no other program on it, would do, or a contact_force in the safety '
                'file that it takes',
                reason,
            ) from error

    def _rests(self) -> bool:
        for _ in range(REST_CHECKS):
            if float(np.abs(self._driver.joint_state().velocity_rad_s).max()) < self._still_rad_s:
                return True
            self._driver.wait(REST_S / REST_CHECKS)
        return False


def _unsafe(activity: str, why: str, raw: str) -> SkillError:
    named = f'safety rule {SafetyRule.CONTACT_FORCE.value}'
    return SkillError(
        Code.UNSAFE,
        refusal(SafetyRule.CONTACT_FORCE, activity, why),
        f'{named}: {raw}' if raw else named,
    )


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
    activity: str
    was_down: bool
    """Whether it took the hardware component down."""


class Recovery:
    """Recovers the robot, and counts the recoveries; without *ask_person* it may stay stopped."""

    def __init__(
        self,
        driver: ArmDriver,
        ask_person: AskPerson | None,
        on_activity: Callable[[str], None],
        limiter: ContactLimiter | None = None,
    ) -> None:
        self._driver = driver
        self._limiter = limiter
        self._ask_person = ask_person
        self._on_activity = on_activity
        self._automatic = 0
        self._open: _Case | None = None

    def able(self, patience_s: float = 0.0) -> bool:
        """Return whether a motion may be sent; see `ArmDriver.condition` for the patience [s]."""
        if not self._driver.condition(patience_s).able:
            return False
        self._open = None  # whoever brought the robot back has seen to it
        return True

    def succeeded(self) -> None:
        self._automatic = 0

    def run(self, activity: str, cancel: CancelToken) -> Stop:
        """
        Recover the robot and return what had stopped it.

        Raises:
            StuckError: It stays stopped, with code NEEDS_PERSON.
            WorldError: The driver has gone.
        """
        condition = self._driver.condition()
        if self._open is None:
            was_down = not condition.hardware_active
            stop = diagnose(condition, hardware_was_down=was_down)
            self._open = _Case(stop, activity, was_down)
        # Else an attempt was in vain: hardware and broadcasters may be up since, and what had
        # stopped the robot is still what a person has to see to.
        stop = self._solve(self._open, cancel)
        self._open = None
        return stop

    def _solve(self, case: _Case, cancel: CancelToken) -> Stop:
        problem, asked = '', 0
        if self._automatic >= MOST_AUTOMATIC:  # a person is asked whatever the cause is
            times = f'It was recovered {MOST_AUTOMATIC} times already'
            problem = f'{times}, and no call has succeeded since.'
        while True:  # every time but the first a person is asked
            if problem or (case.stop.needs_person and not asked):
                if asked == MOST_QUESTIONS:
                    raise _stuck(case, problem)
                self._ask(case, problem, cancel)
                asked += 1
            else:
                self._automatic += 1
            self._on_activity('recovering the robot')
            try:
                self._bring_up_states(cancel)
                case.stop, problem = case.stop.or_known(self._diagnosed(case)), ''
                if case.stop.needs_person and not asked:
                    continue
                cancel.raise_if_cancelled()
                if self._limiter is not None:
                    _do(STEP, self._limiter.set)
                cancel.raise_if_cancelled()
                _do('activation of the controller', self._driver.activate_controller)
                if self._driver.condition().able:
                    return replace(case.stop, asked=asked > 0)
                problem = 'It was recovered, and stopped again at once.'
            except RecoveryError as error:
                problem = f'It does not recover: {error}'
                case.stop = case.stop.or_known(self._peek(case))

    def _bring_up_states(self, cancel: CancelToken) -> None:
        """Clear the error and activate the sources of states, but nothing that moves the robot."""
        driver = self._driver
        for name, step in (
            ('error recovery', driver.clear_errors),
            ('activation of the hardware', driver.activate_hardware),
            ('activation of the broadcasters', driver.activate_broadcasters),
            ('a wait for fresh joint states', lambda: driver.wait_fresh(FRESH_S)),
        ):
            cancel.raise_if_cancelled()
            _do(name, step)

    def _peek(self, case: _Case) -> Stop:
        """
        Return why the robot does not recover.

        Its broadcasters went down with the stop; hardware and broadcasters, which move nothing,
        can be activated in any mode.
        """
        try:
            self._driver.activate_hardware()
            self._driver.activate_broadcasters()
            self._driver.wait_fresh(FRESH_S)
        except RecoveryError:
            pass  # then what is known without has to do
        stop = self._diagnosed(case)
        # No error shown says nothing as long as the robot refuses to be recovered.
        return stop if stop.reported else Stop()

    def _diagnosed(self, case: _Case) -> Stop:
        return diagnose(self._driver.condition(), hardware_was_down=case.was_down)

    def _ask(self, case: _Case, problem: str, cancel: CancelToken) -> None:
        """Wait for a person's word; raises StuckError without it."""
        text = _sentences(case.stop.sentence(case.activity), problem, case.stop.advice)
        if self._ask_person is None or not self._ask_person(text, cancel):
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
            case.stop.sentence(case.activity),
            problem,
            'It stays stopped until a person allows it to go on.',
            case.stop.advice,
            'Then run the task again.',
        ),
    )


def _sentences(*parts: str) -> str:
    return ' '.join(part for part in parts if part)
