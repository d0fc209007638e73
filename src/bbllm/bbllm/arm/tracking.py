"""Following a line of tool poses with all seven joints, by quadratic programming (mink)."""

from __future__ import annotations

from functools import lru_cache

import mink
import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.arm.kinematics import forward, jacobian
from bbllm.arm.limits import Q_MAX, Q_MIN, within_limits
from bbllm.arm.model import TCP_SITE, arm_model

Array = NDArray[np.float64]

_ITERATIONS = 8
_TOLERANCE = 1e-5
"""Pose error at which mink has done its part [m, rad]."""
_POLISH = 3
_EXACT = 1e-9
"""Pose error of the result [m, rad]."""
_EXTRA_MARGIN_RAD = 0.005


def track_line(poses: Array, q_start: Array, margin_rad: float) -> Array | None:
    """
    Follow tool poses one after the other, within limits, with the smallest joint motions.

    Args:
        poses: T_base_tcp, near to each other, the first at *q_start*, shape (n, 4, 4).
        q_start: Joint position at the start, shape (7,) [rad].
        margin_rad: What to keep from the position limits [rad].

    Returns:
        Joint positions, shape (n, 7) [rad], or None where the line cannot be followed.
    """
    model = _limited_model(margin_rad + _EXTRA_MARGIN_RAD)
    configuration = mink.Configuration(model, q=np.clip(q_start, *model.jnt_range.T))
    tool = mink.FrameTask(TCP_SITE, 'site', position_cost=1.0, orientation_cost=1.0)
    posture = mink.PostureTask(model, cost=1e-4)
    limits = [mink.ConfigurationLimit(model)]
    path = np.empty((len(poses), 7))
    path[0] = q_start
    for i, pose in enumerate(poses[1:], start=1):
        tool.set_target(mink.SE3.from_matrix(pose))
        posture.set_target(configuration.q)  # of all ways to get there, the nearest
        for _ in range(_ITERATIONS):
            if np.abs(tool.compute_error(configuration)).max() < _TOLERANCE:
                break
            try:
                velocity = mink.solve_ik(
                    configuration, [tool, posture], 1.0, 'daqp', damping=1e-8, limits=limits
                )
            except mink.NoSolutionFound:
                return None
            configuration.integrate_inplace(velocity, 1.0)
        path[i] = _polished(configuration.q, pose)
        if _pose_error(path[i], pose) > _EXACT or not within_limits(path[i], margin_rad):
            return None
    return path


@lru_cache(maxsize=2)
def _limited_model(margin_rad: float) -> mujoco.MjModel:
    model = arm_model()
    model.jnt_range[:] = np.stack([Q_MIN + margin_rad, Q_MAX - margin_rad], axis=1)
    return model


def _polished(q: Array, pose: Array) -> Array:
    """Take the last micrometres by Newton's method, with the smallest joint motion."""
    q = np.array(q)
    for _ in range(_POLISH):
        q = q + np.linalg.pinv(jacobian(q)) @ _error_twist(q, pose)
    return q


def _error_twist(q: Array, pose: Array) -> Array:
    """Return how the tool would have to move, small, base axes, shape (6,) [m, rad]."""
    now = forward(q)
    turn = pose[:3, :3] @ now[:3, :3].T
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return np.concatenate([pose[:3, 3] - now[:3, 3], skew / 2])


def _pose_error(q: Array, pose: Array) -> float:
    return float(np.abs(_error_twist(q, pose)).max())
