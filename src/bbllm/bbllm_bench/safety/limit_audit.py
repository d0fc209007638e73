"""
Counts samples of a trajectory, or of a motion that was recorded, that break a limit of the FR3.

Written apart from the planner on purpose: its own constants, its own interpolation (power
series in the time since the last point, as the joint trajectory controller has it), its own
reading of the two velocity formulas. It imports the trajectory record and nothing else of arm.

Figures: Franka's control-parameters-joint-fr3.csv for system 5.9.0 and later and for older
systems (positions: the narrower of both), libfranka joint_velocity_limits.cpp and
rate_limiting.h (deprecated fixed-constant formula).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PPoly

from bbllm.arm.driver import Array, JointTrajectory

RATE_HZ = 1000.0
"""Rate of the robot's control loop [Hz]."""
_ROUNDING = 1e-6
"""Share of a limit by which a sample may be over: rounding of doubles and nanoseconds."""


@dataclass(frozen=True, slots=True)
class JointFigures:
    """Published figures of one joint."""

    lowest: float
    """Position [rad]."""
    highest: float
    """Position [rad]."""
    fastest: float
    """Velocity [rad/s]."""
    new: tuple[float, float, float]
    """Current formula: lower stop, upper stop [rad], offset [rad/s]."""
    old: tuple[float, float, float]
    """Formula of rate_limiting.h, in the same order."""
    twice_braking: float
    """Factor under both roots [rad/s^2]."""

    def fastest_up(self, q: Array) -> Array:
        """Return the highest legal velocities at positions, same shape [rad/s]."""
        return self._fastest(*(upper - q for _, upper, _ in (self.new, self.old)))

    def fastest_down(self, q: Array) -> Array:
        """Return the lowest legal velocities at positions, none above 0 [rad/s]."""
        return -self._fastest(*(q - lower for lower, _, _ in (self.new, self.old)))

    def _fastest(self, new: Array, old: Array) -> Array:
        """Return the lower of both speeds at some distances from the stops, new and old."""
        ways = ((new, self.new[2]), (old, self.old[2]))
        speeds = [np.sqrt(np.maximum(0.0, self.twice_braking * way)) - off for way, off in ways]
        return np.clip(np.minimum(*speeds), 0.0, self.fastest)


FIGURES = (
    JointFigures(-2.7437, 2.7437, 2.62, (-2.9007, 2.9007, 0.6599), (-2.7501, 2.7501, 0.30), 12.0),
    JointFigures(-1.7837, 1.7837, 2.62, (-1.8361, 1.8361, 0.2517), (-1.7918, 1.7918, 0.20), 5.17),
    JointFigures(-2.9007, 2.9007, 2.62, (-2.9007, 2.9007, 0.2000), (-2.9065, 2.9065, 0.20), 7.0),
    JointFigures(-3.0421, -0.1518, 2.62, (-3.077, -0.1169, 0.3533), (-3.0481, -0.1458, 0.30), 8.0),
    JointFigures(-2.8065, 2.8065, 5.26, (-2.8763, 2.8763, 0.5757), (-2.8101, 2.8101, 0.35), 34.0),
    JointFigures(0.5445, 4.5169, 4.18, (0.4398, 4.6216, 0.4878), (0.54092, 4.5205, 0.35), 11.0),
    JointFigures(-3.0159, 3.0159, 5.26, (-3.0508, 3.0508, 0.4628), (-3.0196, 3.0196, 0.35), 34.0),
)
MAX_ACCELERATION = 10.0
"""All joints [rad/s^2]."""
MAX_JERK = 5000.0
"""All joints [rad/s^3]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """How many samples were checked and how many broke which limit."""

    samples: int
    """Instants, at 1 kHz; each counts at most once per kind below."""
    position: int
    velocity: int
    acceleration: int
    jerk: int
    steps: int
    """Instants at which the velocity or acceleration between two samples changed by more than
    the next derivative's limit allows in 1 ms, as libfranka checks commanded positions and
    velocities."""
    worst: float
    """Largest value in terms of its limit, over velocity, acceleration and jerk."""

    @property
    def violations(self) -> int:
        return self.position + self.velocity + self.acceleration + self.jerk + self.steps

    def __add__(self, other: Audit) -> Audit:
        one, two = asdict(self), asdict(other)
        sums = {name: one[name] + two[name] for name in one}
        return Audit(**{**sums, 'worst': max(self.worst, other.worst)})


NOTHING = Audit(samples=0, position=0, velocity=0, acceleration=0, jerk=0, steps=0, worst=0.0)


def audit(trajectory: JointTrajectory) -> Audit:
    """Play a trajectory at 1 kHz and count the samples that break a limit."""
    motion = _motion(trajectory)
    clock = np.arange(0.0, trajectory.duration_s, 1.0 / RATE_HZ)
    q, dq, ddq, dddq = (motion(clock, nu=order) for order in range(4))
    highest, lowest = _velocities(q)
    room = 1.0 + _ROUNDING
    speeding = np.maximum(dq - highest, lowest - dq) > _ROUNDING
    step_dq = np.abs(np.diff(dq, axis=0)) * RATE_HZ > MAX_ACCELERATION * room
    step_ddq = np.abs(np.diff(ddq, axis=0)) * RATE_HZ > MAX_JERK * room
    legal = np.where(dq > 0, highest, -lowest)
    moving = np.abs(dq) > 1e-4
    return Audit(
        samples=len(q),
        position=_count(_outside(q)),
        velocity=_count(speeding),
        acceleration=_count(np.abs(ddq) > MAX_ACCELERATION * room),
        jerk=_count(np.abs(dddq) > MAX_JERK * room),
        steps=_count(step_dq) + _count(step_ddq),
        worst=max(
            float((np.abs(dq) / np.maximum(legal, 1e-9) * moving).max()),
            float(np.abs(ddq).max() / MAX_ACCELERATION),
            float(np.abs(dddq).max() / MAX_JERK),
        ),
    )


def audit_samples(q: Array, dq: Array, rate_hz: float) -> Audit:
    """
    Count the instants of a recorded motion that break a limit.

    Accelerations and jerks are means between samples. A position that moves by more than its
    velocity and the acceleration limit explain counts as a step.

    Args:
        q: Positions at even times, shape (n, 7), n of 3 or more [rad].
        dq: Velocities, in the same shape [rad/s].
        rate_hz: How many samples there are in a second.
    """
    highest, lowest = _velocities(q)
    ddq = np.diff(dq, axis=0) * rate_hz
    dddq = np.diff(ddq, axis=0) * rate_hz
    jump = np.abs(np.diff(q, axis=0) * rate_hz - (dq[:-1] + dq[1:]) / 2)
    legal = np.where(dq > 0, highest, -lowest)
    moving = np.abs(dq) > 1e-3
    room = 1.0 + _ROUNDING
    return Audit(
        samples=len(q),
        position=_count(_outside(q)),
        velocity=_count((np.maximum(dq - highest, lowest - dq) > _ROUNDING) & moving),
        acceleration=_count(np.abs(ddq) > MAX_ACCELERATION * room),
        jerk=_count(np.abs(dddq) > MAX_JERK * room),
        steps=_count(jump > MAX_ACCELERATION / rate_hz),
        worst=max(
            float((np.abs(dq) / np.maximum(legal, 1e-9) * moving).max()),
            float(np.abs(ddq).max() / MAX_ACCELERATION),
            float(np.abs(dddq).max() / MAX_JERK),
        ),
    )


def _velocities(q: Array) -> tuple[Array, Array]:
    """Return the highest and the lowest legal velocities at positions, (n, 7) each [rad/s]."""
    highest, lowest = np.empty(q.shape), np.empty(q.shape)
    for joint, figures in enumerate(FIGURES):
        highest[:, joint] = figures.fastest_up(q[:, joint])
        lowest[:, joint] = figures.fastest_down(q[:, joint])
    return highest, lowest


def _outside(q: Array) -> NDArray[np.bool_]:
    low = np.array([f.lowest for f in FIGURES]) - _ROUNDING
    high = np.array([f.highest for f in FIGURES]) + _ROUNDING
    return np.asarray((q < low) | (q > high))


def positions(trajectory: JointTrajectory, every_s: float) -> Array:
    """Play a trajectory coarsely and return its joint positions, the last included, (n, 7)."""
    clock = np.arange(0.0, trajectory.duration_s, every_s)
    return np.vstack([_motion(trajectory)(clock), trajectory.position_rad[-1:]])


def _count(broken: np.ndarray) -> int:
    return int(broken.any(axis=1).sum())


def _motion(trajectory: JointTrajectory) -> PPoly:
    """
    Return the quintic polynomials between the points; their values have shape (7,).

    Solved from the six conditions at the ends of each piece rather than by a formula.
    """
    k = np.arange(6)
    ends = np.array(  # in u = t / h, so that the system is well conditioned
        [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0], k**0, k, k * (k - 1)],
        dtype=np.float64,
    )
    h = np.diff(trajectory.time_s)[:, None]
    points = (
        trajectory.position_rad,
        trajectory.velocity_rad_s,
        trajectory.acceleration_rad_s2,
    )
    scaled = [(part[:-1] * h**i, part[1:] * h**i) for i, part in enumerate(points)]
    known = np.stack([start for start, _ in scaled] + [end for _, end in scaled], axis=1)
    series = np.linalg.solve(ends, known) / h[:, :, None] ** k[:, None]  # (n - 1, 6, 7)
    return PPoly(series.swapaxes(0, 1)[::-1], trajectory.time_s)
