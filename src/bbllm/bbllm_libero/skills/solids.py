"""
Solids as oriented boxes: what grasps, ways and resting places are judged by.

Objects of LIBERO collide as boxes, all but a few, which are taken as the boxes around them.
Frames: whatever the poses are given in; the skills use the base frame of the robot.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm_libero.panda import Panda, Placement, State

FALLEN_M = 0.1
"""How far below the surface of the task something has fallen off it [m]."""
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def matrix(pose: Placement) -> Array:
    """Return a pose as a homogeneous matrix, shape (4, 4)."""
    T = np.eye(4)
    T[:3, :3] = pose.rotation
    T[:3, 3] = pose.position_m
    return T


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """Boxes, each turned as it likes."""

    centres_m: Array
    """Shape (n, 3)."""
    turns: Array
    """Axes of each box as columns, shape (n, 3, 3)."""
    halves_m: Array
    """Half extents along its own axes, shape (n, 3)."""

    def __len__(self) -> int:
        return len(self.centres_m)

    def moved(self, T: Array) -> 'Solids':
        """Return the boxes after a rigid motion, shape (4, 4)."""
        R = T[:3, :3]
        return Solids(self.centres_m @ R.T + T[:3, 3], R @ self.turns, self.halves_m)

    def shifted(self, by_m: Array) -> 'Solids':
        """Return the boxes moved by a vector, shape (3,)."""
        return Solids(self.centres_m + by_m, self.turns, self.halves_m)

    def chosen(self, mask: Mask) -> 'Solids':
        """Return the boxes of a mask, shape (n,)."""
        return Solids(self.centres_m[mask], self.turns[mask], self.halves_m[mask])

    @property
    def spans_m(self) -> Array:
        """Half extents along the axes of the frame, shape (n, 3)."""
        spans: Array = np.einsum('nij,nj->ni', np.abs(self.turns), self.halves_m)
        return spans

    @property
    def low_m(self) -> Array:
        """Smallest coordinates of each box, shape (n, 3)."""
        return self.centres_m - self.spans_m

    @property
    def high_m(self) -> Array:
        """Largest coordinates of each box, shape (n, 3)."""
        return self.centres_m + self.spans_m

    @property
    def middle_m(self) -> Array:
        """The middle of all, weighted by volume: where the mass is, were it even, shape (3,)."""
        middle: Array = np.average(self.centres_m, axis=0, weights=self.halves_m.prod(axis=1))
        return middle


NOTHING = Solids(np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3)))


def together(parts: Iterable[Solids]) -> Solids:
    """Return all boxes of several solids."""
    found = [part for part in parts if len(part)]
    if not found:
        return NOTHING
    return Solids(
        np.concatenate([part.centres_m for part in found]),
        np.concatenate([part.turns for part in found]),
        np.concatenate([part.halves_m for part in found]),
    )


def shape_of(panda: Panda, name: str, state: State) -> Solids:
    """Return what an object or fixture collides with, in the base frame, where it is now."""
    return body_solids(panda, name, state, None)


def body_solids(panda: Panda, name: str, state: State, body: str | None) -> Solids:
    """Return the same of one body of a fixture, such as a drawer; of all where *body* is None."""
    pieces = [piece for piece in panda.shape(name) if body in (None, piece.body)]
    if not pieces:
        return NOTHING
    poses = np.array([matrix(state.bodies[p.body]) @ matrix(p.placement) for p in pieces])
    return Solids(poses[:, :3, 3], poses[:, :3, :3], np.array([p.half_m for p in pieces]))


def overlaps(a: Solids, b: Solids, margin_m: float = 0.0) -> Mask:
    """
    Return which boxes of two sets overlap or are nearer than a margin, shape (m, n).

    By separating axes (S. Gottschalk, M. C. Lin and D. Manocha, "OBBTree", SIGGRAPH 1996).
    """
    if not len(a) or not len(b):
        return np.zeros((len(a), len(b)), dtype=bool)
    R = np.einsum('mji,njk->mnik', a.turns, b.turns)
    t = np.einsum('mji,mnj->mni', a.turns, b.centres_m[None] - a.centres_m[:, None])
    S = np.abs(R) + 1e-9
    ha, hb = (a.halves_m + margin_m)[:, None], b.halves_m[None]
    apart = (np.abs(t) > ha + np.einsum('mnik,mnk->mni', S, np.broadcast_to(hb, t.shape))).any(-1)
    along_b = np.abs(np.einsum('mni,mnik->mnk', t, R))
    apart |= (along_b > np.einsum('mni,mnik->mnk', np.broadcast_to(ha, t.shape), S) + hb).any(-1)
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            gap = np.abs(t[..., i2] * R[..., i1, j] - t[..., i1] * R[..., i2, j])
            reach_a = ha[..., i1] * S[..., i2, j] + ha[..., i2] * S[..., i1, j]
            reach_b = hb[..., j1] * S[..., i, j2] + hb[..., j2] * S[..., i, j1]
            apart |= gap > reach_a + reach_b
    return np.asarray(~apart)


def crossings(points_m: Array, direction: Array, solids: Solids) -> tuple[Array, Array]:
    """
    Return where lines enter and leave boxes, as distances along them, shape (k, n) each.

    The k lines start at points, shape (k, 3), and go one way, shape (3,); NaN where one misses.
    """
    start = np.einsum('kni,nij->knj', points_m[:, None] - solids.centres_m[None], solids.turns)
    way = direction @ solids.turns  # (n, 3)
    way = np.where(np.abs(way) < 1e-9, 1e-9, way)[None]
    one, other = (-solids.halves_m - start) / way, (solids.halves_m - start) / way
    enter, leave = np.minimum(one, other).max(-1), np.maximum(one, other).min(-1)
    misses = enter > leave
    return np.where(misses, np.nan, enter), np.where(misses, np.nan, leave)


def ground(surface_m: float) -> Solids:
    """Return the table or floor, as a box below a height."""
    half = np.array([[2.0, 2.0, 0.5]])
    return Solids(np.array([[0.0, 0.0, surface_m - 0.5]]), np.eye(3)[None], half)


def surroundings(panda: Panda, state: State, without: Collection[str]) -> Solids:
    """
    Return all that is in the scene but some objects, and what they stand on.

    That is as high as the lowest point of what can be picked; what has fallen off it is left out.
    """
    task = panda.task
    solids = {name: shape_of(panda, name, state) for name in task.objects}
    lows = [float(solids[n].low_m[:, 2].min()) for n, o in task.objects.items() if not o.fixture]
    floor_m = min((low for low in lows if low > task.surface_m - FALLEN_M), default=task.surface_m)
    kept = [found for name, found in solids.items() if name not in without]
    return together([*kept, ground(floor_m)])
