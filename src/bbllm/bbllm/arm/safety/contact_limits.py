"""The contact forces of the safety envelope, set on the robot before the first motion."""

from __future__ import annotations

import numpy as np

from bbllm.arm.driver import ArmDriver, ContactLimits, RecoveryError
from bbllm.arm.envelope import SafetyRule, refusal
from bbllm.arm.failures import SkillError
from bbllm.core.types import Code

STEP = f'setting of the forces at which it stops (safety rule {SafetyRule.CONTACT_FORCE.value})'
"""What this is called among the steps of a recovery."""
REST_S = 1.0
"""How long an arm that still moves may take to come to rest, on the world's clock [s]."""
LOOKS = 20
"""How often it is looked at meanwhile."""


class ContactLimiter:
    """
    Sets the robot's own thresholds, where they are not in force.

    Not when a program begins: the robot may not be there yet, or somebody else may move it, and
    it has to be idle. But before the first motion, and again when the robot has begun anew.

    Args:
        driver: The robot.
        limits: What it is told; None leaves it as it is.
        still_rad_s: Joints that are slower than this rest [rad/s].
    """

    def __init__(
        self, driver: ArmDriver, limits: ContactLimits | None, still_rad_s: float
    ) -> None:
        self._driver = driver
        self._limits = limits
        self._still_rad_s = still_rad_s

    @property
    def in_force(self) -> bool:
        """Whether nothing is left to be set."""
        return self._limits is None or self._driver.contact_limits == self._limits

    def set(self) -> None:
        """Set them, whether they are in force or not; raises RecoveryError."""
        if self._limits is not None:
            self._driver.limit_contacts(self._limits)

    def need(self, doing: str) -> None:
        """
        Set them now where they are not in force.

        Args:
            doing: What the arm is about, for the sentence: `moving above red_cube`.

        Raises:
            SkillError: That is not possible, so that nothing may move.
        """
        if self.in_force:
            return
        if not self._rests():
            why = 'the robot takes the forces at which it stops only at rest, and its arm moves'
            raise _unsafe(doing, f'{why}; a robot that nobody else moves would do', '')
        try:
            self.set()
        except RecoveryError as error:
            told = str(error).rstrip('.')
            raise _unsafe(
                doing,
                f'the robot was not told the forces at which it stops: {told}; a robot that is '
                'idle, with no other program on it, would do, or a contact_force in the safety '
                'file that it takes',
                told,
            ) from error

    def _rests(self) -> bool:
        for _ in range(LOOKS):
            if float(np.abs(self._driver.joint_state().velocity_rad_s).max()) < self._still_rad_s:
                return True
            self._driver.wait(REST_S / LOOKS)
        return False


def _unsafe(doing: str, why: str, raw: str) -> SkillError:
    named = f'safety rule {SafetyRule.CONTACT_FORCE.value}'
    return SkillError(
        Code.UNSAFE,
        refusal(SafetyRule.CONTACT_FORCE, doing, why),
        f'{named}: {raw}' if raw else named,
    )
