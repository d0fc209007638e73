"""Which poses of the hand the arm reaches, by the closed-form inverse kinematics of the Panda."""

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.robots.panda import PANDA
from bbllm_libero.skills.solids import Array

GRID = 25
"""Values of joint 7 that are tried."""
_Q7 = PANDA.kinematics.q7_grid(GRID)


def turn_cost(T: Array, q: Array) -> float | None:
    """
    Return how far the nearest posture at a pose is from joints *q* [rad]; None out of reach.

    *T* is a pose of the grip site, shape (4, 4); bbllm's tool centre point is within 1 cm of it.
    """
    arm = PANDA.kinematics
    if arm.out_of_reach(T):
        return None
    found = arm.inverse_branches(T, _Q7).reshape(-1, 7)
    found = found[~np.isnan(found).any(axis=1)]
    return float(np.abs(found - q).max(axis=1).min()) if len(found) else None


def top_down(position_m: Array, yaw_rad: float) -> Array:
    """Return a pose that points straight down; at yaw 0 the fingers open along the base's y."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler('z', yaw_rad).as_matrix() @ np.diag([1.0, -1.0, -1.0])
    T[:3, 3] = position_m
    return T
