"""Whoever makes the robot stop: the simulator, or the person beside the arm."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol

from bbllm.core.errors import WorldError
from bbllm.nodes.driver_checks.motions import LONG_S


class Cause(Enum):
    """What makes a robot stop."""

    REFLEX = 'reflex'
    """It touches something."""
    USER_STOP = 'user_stop'
    """The external activation device is pressed."""


class Provoker(Protocol):
    """
    Makes the robot stop, and lets it go again.

    `prepare` is called before the arm moves, `provoke` while it does, `release` when the robot
    shall be free to recover. A user stop is in force from `provoke` to `release`.
    """

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Get ready; may wait for a person."""

    def provoke(self, cause: Cause) -> None:
        """Make it stop; may wait for a person."""

    def release(self, cause: Cause) -> None:
        """Take the cause away; may wait for a person."""


class SimProvoker:
    """Asks `mujoco_sim`, through its own service: the only name here that no driver has."""

    def __init__(self, driver: Any):
        self._driver = driver

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Nothing has to be prepared."""

    def provoke(self, cause: Cause) -> None:
        """Inject the fault."""
        self._inject(cause, clear=False)

    def release(self, cause: Cause) -> None:
        """Clear the fault."""
        self._inject(cause, clear=True)

    def _inject(self, cause: Cause, *, clear: bool) -> None:
        from bbllm_interfaces.srv import InjectFault

        request = InjectFault.Request(fault=cause.value, clear=clear)
        answer = self._driver.call(InjectFault, 'sim/inject_fault', request)
        if not answer.success:
            raise WorldError(f'sim/inject_fault refused {cause.value}: {answer.message}')


class PersonProvoker:
    """Asks the person at the terminal, who stands beside the arm."""

    def __init__(self, ask: Callable[[str], object]):
        """
        Ask a person.

        Args:
            ask: Shows a text and returns when the person is done; raises when they give up.
        """
        self._ask = ask
        self._moving = False

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Say what will be wanted, and wait until the person is ready."""
        self._moving = moving
        if not moving:
            return
        deed = {
            Cause.REFLEX: 'push against the hand, firmly and sideways, until the arm stops',
            Cause.USER_STOP: 'press the external activation device, and keep it pressed',
        }[cause]
        self._ask(
            f'Joint 7 will turn slowly for {LONG_S:g} s. While it does, {deed}. '
            'Press Enter when you are ready: it starts then.'
        )

    def provoke(self, cause: Cause) -> None:
        """Wait for the deed where no motion tells that it was done."""
        if not self._moving:
            self._ask(f'The arm stands. {_DEEDS[cause]}, then press Enter.')

    def release(self, cause: Cause) -> None:
        """Wait until the robot is free to recover."""
        if cause is Cause.USER_STOP:
            self._ask('Release the external activation device, then press Enter.')
        else:
            self._ask('Take your hands off the arm, then press Enter: it recovers then.')


_DEEDS = {
    Cause.REFLEX: 'Push against the hand until the robot stops',
    Cause.USER_STOP: 'Press the external activation device and keep it pressed',
}
