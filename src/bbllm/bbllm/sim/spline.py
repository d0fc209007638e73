"""Interpolation between trajectory points, as the joint trajectory controller does it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import Array

BRAKING_RAD_S2: Array = np.array([20.0] * 4 + [40.0] * 3)
"""How hard joints brake when a motion is broken off; within their torque [rad/s^2]."""


@dataclass(frozen=True, slots=True)
class Spline:
    """
    Piecewise polynomials in time, at rest after the end.

    Between two points: linear where they have positions only, cubic with velocities, quintic
    with accelerations too.
    """

    time_s: Array
    """Knots, shape (n + 1,), from 0 [s]."""
    coefficients: Array
    """Of powers 0 to 5 of the time since the knot, shape (n, 6, 7)."""
    end_rad: Array
    """Position at the last knot and after it, shape (7,) [rad]."""
    effort_nm: Array | None = None
    """Torque to add at each knot, linear between them, shape (n + 1, 7) [Nm]."""

    @classmethod
    def still(cls, position: Array) -> Spline:
        """Stay at a position, shape (7,) [rad]."""
        return cls(np.zeros(1), np.zeros((0, 6, len(position))), np.array(position))

    @classmethod
    def braking(cls, q: Array, dq: Array, deceleration: Array) -> Spline:
        """
        Slow all joints down together along their direction, then stay.

        Args:
            q: Positions, shape (7,) [rad].
            dq: Velocities, shape (7,) [rad/s].
            deceleration: What each joint may brake with, shape (7,) [rad/s^2].
        """
        T = float(np.max(np.abs(dq) / deceleration))
        if T < 1e-3:
            return cls.still(q)
        coefficients = np.zeros((1, 6, len(q)))
        coefficients[0, :3] = q, dq, -dq / (2 * T)
        return cls(np.array([0.0, T]), coefficients, q + dq * T / 2)

    @classmethod
    def through(
        cls,
        time_s: Array,
        position: Array,
        velocity: Array | None = None,
        acceleration: Array | None = None,
        effort: Array | None = None,
    ) -> Spline:
        """
        Interpolate points; a row of NaN means that this point has none.

        Args:
            time_s: Strictly increasing, shape (n + 1,); one point alone is a place to stay.
            position: Shape (n + 1, 7) [rad].
            velocity: Shape (n + 1, 7), None for linear pieces [rad/s].
            acceleration: Shape (n + 1, 7), None for cubic pieces [rad/s^2].
            effort: Shape (n + 1, 7), None for none at all [Nm].
        """
        T = np.diff(time_s)[:, None]  # (n, 1)
        q0, q1 = position[:-1], position[1:]
        c = np.zeros((len(T), 6, position.shape[1]))
        c[:, 0] = q0
        c[:, 1] = (q1 - q0) / T
        spline = cls(time_s, c, position[-1], effort)
        if velocity is None:
            return spline
        known = ~np.isnan(velocity[:, 0])
        cubic = known[:-1] & known[1:]
        _fit_cubics(c, cubic, q1 - q0, velocity, T)
        if acceleration is not None:
            known = ~np.isnan(acceleration[:, 0])
            _fit_quintics(c, cubic & known[:-1] & known[1:], q1, velocity, acceleration, T)
        return spline

    @property
    def duration_s(self) -> float:
        """Time of the last knot [s]."""
        return float(self.time_s[-1])

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """
        Evaluate at times, shape (n,) [s].

        Returns:
            Position, velocity and acceleration, each of shape (n, 7).
        """
        if not len(self.coefficients):
            still = np.zeros((len(t), len(self.end_rad)))
            return still + self.end_rad, still, still.copy()
        piece = np.clip(
            np.searchsorted(self.time_s, t, side='right') - 1, 0, len(self.coefficients) - 1
        )
        s = np.maximum(t - self.time_s[piece], 0.0)[:, None]  # (n, 1)
        c = [self.coefficients[piece, k] for k in range(6)]
        q = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
        dq = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))
        ddq = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))
        after = t >= self.duration_s
        q[after], dq[after], ddq[after] = self.end_rad, 0.0, 0.0
        return q, dq, ddq

    def effort_at(self, t: Array) -> Array | None:
        """Return the torque to add at times, shape (n, 7) [Nm]; None where there is none."""
        if self.effort_nm is None:
            return None
        return np.column_stack([np.interp(t, self.time_s, row) for row in self.effort_nm.T])

    def at_one(self, t: float) -> tuple[Array, Array, Array]:
        """Evaluate at one time [s]: position, velocity, acceleration, each of shape (7,)."""
        q, dq, ddq = self.at(np.array([t]))
        return q[0], dq[0], ddq[0]

    def position_at(self, t: float) -> Array:
        """Evaluate the position alone at one time [s], shape (7,) [rad]; ten times as fast."""
        if t >= self.duration_s:
            return self.end_rad
        piece = max(int(self.time_s.searchsorted(t, side='right')) - 1, 0)
        s = max(t - float(self.time_s[piece]), 0.0)
        powers = np.array((1.0, s, s * s, s**3, s**4, s**5))
        return np.asarray(powers @ self.coefficients[piece])


def _fit_cubics(
    c: Array, pieces: NDArray[np.bool_], way: Array, velocity: Array, T: Array
) -> None:
    """Write the coefficients of the pieces that are cubic; way is from knot to knot [rad]."""
    v0, v1 = velocity[:-1][pieces], velocity[1:][pieces]
    way, T = way[pieces], T[pieces]
    c[pieces, 1] = v0
    c[pieces, 2] = (3 * way - (2 * v0 + v1) * T) / T**2
    c[pieces, 3] = (-2 * way + (v0 + v1) * T) / T**3


def _fit_quintics(
    c: Array, pieces: NDArray[np.bool_], q1: Array, velocity: Array, acceleration: Array, T: Array
) -> None:
    """Write the coefficients of the pieces that are quintic; q1 is their end [rad]."""
    q0, T, v0 = c[pieces, 0], T[pieces], velocity[:-1][pieces]
    a0 = acceleration[:-1][pieces]
    # what is left of the end point's position, velocity, acceleration for powers 3 to 5
    p = q1[pieces] - (q0 + v0 * T + a0 * T**2 / 2)
    v = velocity[1:][pieces] - (v0 + a0 * T)
    a = acceleration[1:][pieces] - a0
    c[pieces, 2] = a0 / 2
    c[pieces, 3] = (20 * p - 8 * v * T + a * T**2) / (2 * T**3)
    c[pieces, 4] = (-30 * p + 14 * v * T - 2 * a * T**2) / (2 * T**4)
    c[pieces, 5] = (12 * p - 6 * v * T + a * T**2) / (2 * T**5)
