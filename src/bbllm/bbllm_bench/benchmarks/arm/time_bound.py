"""
The shortest time in which way-points can be passed at all under the robot's legal limits.

What exactly is bounded: any motion of the joints, along any path, that starts and ends at rest,
takes the way-points in order, stands still at those that are named as stops, and obeys the
published limits of position-dependent velocity and of acceleration. Jerk is not limited, ways
between the points need be neither straight nor free of obstacles, and what the hand does takes
no time; all of that can only make the real time longer.

The limits of a joint depend on that joint alone, so between two stops no motion is faster than
its slowest joint on its own. A single joint is fastest when it speeds up as hard as it may,
keeps below its velocity curve, and brakes as hard as it may; where its way turns back it has to
stand still for a moment. Computed in the phase plane on a grid, to about 0.1 %.

Figures and formulas are those of the limit audit, not the planner's.
"""

from collections.abc import Collection, Sequence

import numpy as np

from bbllm.arm.driver import Array
from bbllm_bench.safety.limit_audit import FIGURES, MAX_ACCELERATION, JointFigures

_GRID = 200


def time_optimal_bound(
    waypoints: Sequence[Array], stops: Collection[int] | None = None, *, share: float = 1.0
) -> float:
    """
    Return a time that no legal motion through way-points can beat.

    Args:
        waypoints: Joint positions in order, at least two, each of shape (7,) [rad].
        stops: Indices of way-points at which the arm stands still, for example because the
            hand closes there; first and last always are. None: all of them.
        share: Of the limits of velocity and acceleration, in (0, 1].

    Returns:
        The bound [s].
    """
    last = len(waypoints) - 1
    inner = range(last) if stops is None else stops
    borders = sorted({0, last, *inner})
    return sum(
        _slowest_joint(np.stack(waypoints[start : end + 1]), share)
        for start, end in zip(borders, borders[1:], strict=False)
    )


def _slowest_joint(points: Array, share: float) -> float:
    """Return the bound for way-points that may be passed at speed, shape (n, 7) [rad]."""
    return max(
        sum(_run_time(figures, a, b, share) for a, b in _runs(column))
        for figures, column in zip(FIGURES, points.T, strict=True)
    )


def _runs(angles: Array) -> list[tuple[float, float]]:
    """Return a joint's way as runs in one direction, between the points where it turns."""
    runs: list[tuple[float, float]] = []
    for a, b in zip(angles.tolist(), angles[1:].tolist(), strict=False):
        if a == b:
            continue
        if runs and (runs[-1][1] - runs[-1][0]) * (b - a) > 0:
            runs[-1] = (runs[-1][0], b)
        else:
            runs.append((a, b))
    return runs


def _run_time(figures: JointFigures, start: float, goal: float, share: float) -> float:
    """Return the shortest time from rest to rest of one joint alone [s]."""
    angles = np.linspace(start, goal, _GRID + 1)
    fastest = figures.fastest_up if goal > start else figures.fastest_down
    # Of squared velocity, per step.
    gain = 2 * share * MAX_ACCELERATION * abs(goal - start) / _GRID
    # Squared velocity, so that constant acceleration is a straight line.
    square = np.maximum((share * fastest(angles)) ** 2, 1e-6)
    square[[0, -1]] = 0.0
    for i in range(1, _GRID + 1):
        square[i] = min(square[i], square[i - 1] + gain)
    for i in range(_GRID - 1, -1, -1):
        square[i] = min(square[i], square[i + 1] + gain)
    speed = np.sqrt(square)
    return float((2 * abs(goal - start) / _GRID / (speed[1:] + speed[:-1])).sum())
