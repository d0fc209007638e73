"""
Joint paths around obstacles by two random trees that grow towards each other (RRT-Connect).

After J. Kuffner and S. LaValle, "RRT-Connect: an efficient approach to single-query path
planning", ICRA 2000; the short-cuts at the end are the usual remedy for its detours.
"""

from collections.abc import Callable

import numpy as np

from bbllm.arm.driver import Array
from bbllm.robots.joint_limits import Q_MARGIN_RAD, JointLimits

Clear = Callable[[Array], bool]
"""Whether straight joint moves through positions, shape (n, 7) [rad], touch nothing."""

_STEP_RAD = 0.5
"""Longest branch that is added at once [rad]."""
_ROUNDS = 1500
_SHORT_CUTS = 40
_SEED = 7


def find_way(
    limits: JointLimits, q_start: Array, q_goal: Array, clear: Clear
) -> list[Array] | None:
    """
    Find joint positions from start to goal whose straight connections touch nothing.

    Arrays have shape (7,) [rad]; None where the search was given up.
    """
    random = np.random.default_rng(_SEED)
    low, high = limits.lower_rad + Q_MARGIN_RAD, limits.upper_rad - Q_MARGIN_RAD
    here, there = _Tree(q_start), _Tree(q_goal)
    for round_number in range(_ROUNDS):
        target = random.uniform(low, high)
        reached = here.grow(target, clear)
        if reached is not None:
            end = here.nodes[reached]
            met = there.grow(end, clear)
            while met is not None and not np.array_equal(there.nodes[met], end):
                met = there.grow(end, clear)
            if met is not None:
                way = here.way_to(reached)[::-1] + there.way_to(met)[1:]
                way = way if round_number % 2 == 0 else way[::-1]
                return _shortened(way, clear, random)
        here, there = there, here
    return None


class _Tree:
    """Positions that are connected to a root."""

    def __init__(self, root: Array) -> None:
        self.nodes = [np.array(root, dtype=np.float64)]
        self._parents = [-1]

    def grow(self, target: Array, clear: Clear) -> int | None:
        """Take one step from the nearest node towards a target; None where it is blocked."""
        nearest = int(np.argmin(np.abs(np.stack(self.nodes) - target).max(axis=1)))
        way = target - self.nodes[nearest]
        length = float(np.abs(way).max())
        node = target if length <= _STEP_RAD else self.nodes[nearest] + way * _STEP_RAD / length
        if not clear(np.stack([self.nodes[nearest], node])):
            return None
        self.nodes.append(node)
        self._parents.append(nearest)
        return len(self.nodes) - 1

    def way_to(self, i: int) -> list[Array]:
        """Return the positions from a node back to the root."""
        way = []
        while i >= 0:
            way.append(self.nodes[i])
            i = self._parents[i]
        return way


def _shortened(way: list[Array], clear: Clear, random: np.random.Generator) -> list[Array]:
    """Leave out what can be left out: random pairs of points first, then every corner."""
    for _ in range(_SHORT_CUTS):
        if len(way) < 3:
            break
        i, j = sorted(random.choice(len(way), size=2, replace=False).tolist())
        if j - i > 1 and clear(np.stack([way[i], way[j]])):
            way = way[: i + 1] + way[j:]
    i = 1
    while i < len(way) - 1:
        if clear(np.stack([way[i - 1], way[i + 1]])):
            del way[i]
        else:
            i += 1
    return way
