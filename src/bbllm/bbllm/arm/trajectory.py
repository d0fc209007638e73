"""
Joint motions timed within velocity (position dependent), acceleration and jerk limits.

Every motion is a cubic between its knots wherever it is straight in joint space, so that the
controller's quintic interpolation of position, velocity and acceleration repeats it exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import JointTrajectory
from bbllm.core.errors import BbllmError

Array = NDArray[np.float64]


class NoPathError(BbllmError):
    """No legal motion was found; the text says what stands in the way."""

    def __init__(self, reason: str, blockers: tuple[str, ...] = ()):
        super().__init__(reason)
        self.blockers = blockers
        """Names of what was touched: scene objects, `table`, or links of the arm."""


def joint_move(q_start: Array, q_goal: Array, *, scale: float = 1.0) -> JointTrajectory:
    """
    Move in a straight line in joint space, from rest to rest.

    Args:
        q_start: Where the arm stands, shape (7,) [rad].
        q_goal: Where it goes, shape (7,) [rad].
        scale: Share of the velocity and acceleration limits to use, in (0, 1].

    Raises:
        NoPathError: An end is outside the limits.
    """
    raise NotImplementedError


def waypoint_move(waypoints: Sequence[Array], *, scale: float = 1.0) -> JointTrajectory:
    """
    Move from the first to the last joint position through those between, without stops.

    Corners are rounded as far as the limits allow; a point between is passed near, not hit.

    Args:
        waypoints: At least two joint positions, each of shape (7,) [rad].
        scale: Share of the velocity and acceleration limits to use, in (0, 1].
    """
    raise NotImplementedError


def concatenate(*parts: JointTrajectory) -> JointTrajectory:
    """Play motions one after the other; each starts from rest where the one before ended."""
    raise NotImplementedError


def blend(
    first: JointTrajectory, second: JointTrajectory, *, scale: float = 1.0
) -> tuple[JointTrajectory, float]:
    """
    Start the second motion before the first has ended, as early as the limits allow.

    Args:
        first: A motion that ends where *second* starts.
        second: The motion after it.
        scale: Share of the velocity and acceleration limits to use, in (0, 1].

    Returns:
        The joined motion and how much time was saved [s]. The corner is rounded: check the
        result for collisions, and fall back to `concatenate`.
    """
    raise NotImplementedError


def sample(trajectory: JointTrajectory, time_s: Array) -> tuple[Array, Array, Array]:
    """
    Interpolate as the controller does: quintics between the points, held beyond the end.

    Returns:
        Position, velocity and acceleration, each of shape (n, 7) [rad, rad/s, rad/s^2].
    """
    raise NotImplementedError
