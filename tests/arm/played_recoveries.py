"""A driver that plays the way back from a stop, step by step, and a person who is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from bbllm.arm.driver import RecoveryError, RobotCondition, RobotMode
from bbllm.arm.execution.recovery import Recovery
from bbllm.arm.safety.contact_limits import ContactLimiter

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

    def __call__(self, what: str, look: Callable[[], None]) -> bool:
        self.asked.append(what)
        look()
        self._first()
        return self._answers.pop(0)


def recovery_of(
    robot: Any, person: Person | None = None, forces: ContactLimiter | None = None
) -> Recovery:
    return Recovery(robot, person, lambda _: None, forces)


def nothing() -> None:
    """Nobody cancels."""
