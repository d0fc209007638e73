"""What checks are given: a client, and what happened when the robot was made to stop."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.motions import Arm
from bbllm.nodes.driver_checks.provoker import Cause, Provoker
from bbllm.nodes.driver_checks.story import Story, tell_idle_stop, tell_stop


class Session:
    """One run of checks against one driver. The robot is made to stop once for many checks."""

    def __init__(self, driver: DriverClient, provoker: Provoker | None = None):
        self.driver = driver
        self.provoker = provoker
        self.arm = Arm(driver)

    @cached_property
    def reflex(self) -> Story:
        """What happened when the moving arm touched something."""
        return self._tell(tell_stop, Cause.REFLEX)

    @cached_property
    def user_stop(self) -> Story:
        """What happened when the moving arm was stopped by a person."""
        return self._tell(tell_stop, Cause.USER_STOP)

    @cached_property
    def idle_user_stop(self) -> Story:
        """What happened when a person stopped the robot that no controller held."""
        return self._tell(tell_idle_stop, Cause.USER_STOP)

    def _tell(self, tell: Callable[[Arm, Provoker, Cause], Story], cause: Cause) -> Any:
        assert self.provoker is not None  # such checks are skipped without one
        return tell(self.arm, self.provoker, cause)
