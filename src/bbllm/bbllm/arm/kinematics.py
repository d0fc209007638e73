"""
Where the FR3's tool is for a joint position, and all joint positions for a tool pose.

Frames: base = fr3_link0 = world, tcp = fr3_hand_tcp. Poses are homogeneous matrices
`T_base_tcp`, shape (4, 4), metres. Lengths from franka_description `kinematics.yaml`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def forward(q: Array) -> Array:
    """
    Return the tool poses of joint positions.

    Args:
        q: Joint positions, shape (..., 7) [rad].

    Returns:
        T_base_tcp, shape (..., 4, 4).
    """
    raise NotImplementedError


def link_frames(q: Array) -> Array:
    """
    Return the frames of fr3_link1 to fr3_link7, fr3_link8, fr3_hand and fr3_hand_tcp.

    Args:
        q: Joint positions, shape (..., 7) [rad].

    Returns:
        T_base_link, shape (..., 10, 4, 4), in the order above.
    """
    raise NotImplementedError


def jacobian(q: Array) -> Array:
    """
    Return the tool's Jacobian in the base frame.

    Args:
        q: Joint positions, shape (..., 7) [rad].

    Returns:
        Shape (..., 6, 7), linear rows first [m/rad, rad/rad].
    """
    raise NotImplementedError


def inverse(T_base_tcp: Array, n_q7: int = 49, *, q7: Array | None = None) -> Array:
    """
    Return every joint position that puts the tool there, for a grid of the last joint.

    Closed form: nothing to start from, nothing to converge, so an empty answer means out of
    reach (for this grid of q7), never a bad seed.

    Args:
        T_base_tcp: Wanted tool pose, shape (4, 4).
        n_q7: How many values of joint 7, evenly over its range.
        q7: Values of joint 7 to use instead of the grid, shape (m,) [rad].

    Returns:
        Solutions within limits less Q_MARGIN_RAD, shape (n, 7), n may be 0 [rad].
    """
    raise NotImplementedError
