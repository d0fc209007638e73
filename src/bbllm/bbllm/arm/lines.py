"""Straight lines of tool poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """The tool's way: straight, turning evenly."""

    T_start: Array
    shift: Array
    """Way of the TCP, shape (3,) [m]."""
    turn: Array
    """Rotation vector in base axes, shape (3,) [rad]."""

    @classmethod
    def between(cls, T_start: Array, T_goal: Array) -> Line:
        """Return the line from one tool pose to another."""
        turn = _rotation_vector(T_goal[:3, :3] @ T_start[:3, :3].T)
        return cls(T_start, T_goal[:3, 3] - T_start[:3, 3], turn)

    def poses(self, s: Array) -> Array:
        """Return T_base_tcp at s, shape (n, 4, 4)."""
        poses = np.empty((len(s), 4, 4))
        poses[:] = self.T_start
        poses[:, :3, :3] = _rotation(self.turn, s) @ self.T_start[:3, :3]
        poses[:, :3, 3] += s[:, None] * self.shift
        return poses


def _rotation(turn: Array, s: Array) -> Array:
    """Return the rotations by s times a rotation vector, shape (n, 3, 3)."""
    angle = float(np.linalg.norm(turn))
    if angle < 1e-12:
        return np.broadcast_to(np.eye(3), (len(s), 3, 3))
    x, y, z = turn / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(s * angle)[:, None, None], np.cos(s * angle)[:, None, None]
    return np.asarray(np.eye(3) + sine * cross + (1 - cosine) * (cross @ cross))


def _rotation_vector(rotation: Array) -> Array:
    """Return axis times angle of a rotation, shape (3,) [rad]."""
    skew = np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    sine, cosine = float(np.linalg.norm(skew)) / 2, float(np.trace(rotation) - 1) / 2
    angle = float(np.arctan2(sine, cosine))
    if sine > 1e-6:
        return np.asarray(skew / (2 * sine) * angle)
    if cosine > 0:
        return np.asarray(skew / 2)
    values, vectors = np.linalg.eigh((rotation + rotation.T) / 2)  # half a turn
    return np.asarray(vectors[:, np.argmax(values)] * angle)
