"""What makes the robot stop: the simulator, or the person beside the arm."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import CheckFailedError
from franka_driver_conformance.motions import LONG_S


class Cause(Enum):
    """Why a robot stops."""

    REFLEX = 'reflex'
    """It touches something."""
    USER_STOP = 'user_stop'
    """The external activation device is pressed."""


DEEDS = {
    Cause.REFLEX: 'push against the hand, firmly and sideways, until the robot stops',
    Cause.USER_STOP: 'press the external activation device, and keep it pressed',
}


class Provoker(Protocol):
    """
    Makes the robot stop, and releases it.

    `prepare` is called before the arm moves, `provoke` while it moves, `release` before the
    recovery. A user stop is in force from `provoke` to `release`.
    """

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Get ready; may wait for a person."""

    def provoke(self, cause: Cause) -> None:
        """Make the robot stop; may wait for a person."""

    def release(self, cause: Cause) -> None:
        """Remove the cause; may wait for a person."""


class SimProvoker:
    """Calls the service `sim/inject_fault` of `mujoco_sim`, which no real driver has."""

    def __init__(self, driver: DriverClient):
        self._driver = driver

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Do nothing."""

    def provoke(self, cause: Cause) -> None:
        """Inject the fault."""
        self._inject(cause, clear=False)

    def release(self, cause: Cause) -> None:
        """Clear the fault."""
        self._inject(cause, clear=True)

    def _inject(self, cause: Cause, *, clear: bool) -> None:
        from bbllm_interfaces.srv import InjectFault  # only here: an interface of the simulator

        request = InjectFault.Request(fault=cause.value, clear=clear)
        answer = self._driver.call(InjectFault, 'sim/inject_fault', request)
        if not answer.success:
            raise CheckFailedError(f'that sim/inject_fault does {cause.value}', answer.message)


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
        """Describe what is needed, and wait until the person is ready."""
        self._moving = moving
        if moving:
            self._ask(
                f'Joint 7 will turn slowly for {LONG_S:g} s. While it does, {DEEDS[cause]}. '
                'Press Enter when you are ready: it starts then.'
            )

    def provoke(self, cause: Cause) -> None:
        """Wait for the person where no motion shows that the robot has stopped."""
        if not self._moving:
            self._ask(f'The arm stands. Now {DEEDS[cause]}, then press Enter.')

    def release(self, cause: Cause) -> None:
        """Wait until the robot is free to recover."""
        if cause is Cause.USER_STOP:
            self._ask('Release the external activation device, then press Enter.')
        else:
            self._ask('Take your hands off the arm, then press Enter: it recovers then.')
