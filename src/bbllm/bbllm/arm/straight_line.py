"""Straight motions of the tool: approach, retreat, and whatever must not swing sideways."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import JointTrajectory

Array = NDArray[np.float64]


def line_path(q_start: Array, T_goal: Array) -> tuple[Array, Array]:
    """
    Find joint positions that keep the tool on the straight line to a pose.

    Args:
        q_start: Joint position at the start of the line, shape (7,) [rad].
        T_goal: T_base_tcp at its end, shape (4, 4).

    Returns:
        Path parameters from 0 to 1, shape (n,), and joint positions, shape (n, 7) [rad].

    Raises:
        NoPathError: The line leaves the joint limits, or the posture would have to jump.
    """
    raise NotImplementedError


def line_move(
    q_start: Array, T_goal: Array, *, scale: float = 1.0, speed_m_s: float = 0.25
) -> JointTrajectory:
    """
    Move the tool along a straight line to a pose, from rest to rest.

    The position is interpolated linearly, the orientation by slerp; less than 0.1 mm off.

    Args:
        q_start: Joint position at the start of the line, shape (7,) [rad].
        T_goal: T_base_tcp at its end, shape (4, 4).
        scale: Share of the speed and of the joint limits to use, in (0, 1].
        speed_m_s: Tool speed at scale 1 [m/s].

    Raises:
        NoPathError: The line leaves the joint limits, or the posture would have to jump.
    """
    raise NotImplementedError
