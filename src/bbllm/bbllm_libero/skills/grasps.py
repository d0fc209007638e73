"""
Grasps from geometry: where two fingers can close on a solid, along one direction of approach.

A grasp closes on a part of the object between two faces: a box, can or bottle as a whole (`body`),
or a wall, rim or handle (`wall`). For each turn of the hand, lines along the closing direction are
cut with the boxes of the object. A stretch of material no wider than the hand opens, with room
for the fingers on both sides, is a grasp; nine lines through the pads measure how well they lie
on it. No list of objects is needed, and an object without such a stretch has no known grasp.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbllm_libero.skills.hand import OPEN_M, PAD_M, PAD_MIDDLE_M, hand_at
from bbllm_libero.skills.solids import Array, Solids, crossings, overlaps

WIDEST_M = 0.074
"""Widest stretch that is gripped: the hand opens 80 mm [m]."""
THINNEST_M = 0.001
"""Thinnest [m]."""
GRID_M = 0.008
"""Spacing of the lines across the hand [m]."""
DEPTHS_M = (0.008, 0.0135, 0.016, 0.021, 0.027, 0.034, 0.045, 0.06, 0.075, 0.09, 0.11, 0.13)
"""Depths of the fingertips below the top of what they grip that are tried [m]."""
LEAST_SHARE = 0.4
"""Share of the lines through the pads that have to lie on both faces."""
UNEVEN_M = 0.004
"""How uneven a face may be under a pad [m]."""
NARROW_M = 0.024
"""How much wider than what it grips the hand is opened where there is no room for more [m]."""
ROOM_M = 0.002
"""Least room of the open hand to all else [m]."""
_PAD_LINES = [(x, z) for z in (0.005, PAD_MIDDLE_M, 0.017) for x in (-0.006, 0.0, 0.006)]


@dataclass(frozen=True, slots=True, eq=False)
class Grasp:
    """One way to close the hand on an object."""

    T: Array
    """Pose of the grip site, shape (4, 4)."""
    width_m: float
    """What is between the fingers, as the boxes show it."""
    kind: str
    """`body` where that is all of the object on these lines, `wall` where it is a part of it."""
    cost: float
    """The smaller the better: uneven contact, distance from the middle, small depth."""
    opening_m: float = OPEN_M
    """Distance between the fingers on the way there."""

    def narrow(self) -> 'Grasp':
        """Return the grasp for where the open hand has no room."""
        return replace(self, opening_m=min(OPEN_M, self.width_m + NARROW_M))


def grasps_on(body: Solids, R: Array, middle_m: Array) -> Iterator[Grasp]:
    """
    Yield the grasps of a hand that keeps one orientation, shape (3, 3).

    *middle_m* is where the object's weight is, shape (3,).
    """
    T = np.eye(4)
    T[:3, :3] = R.T
    local = body.moved(T)  # x across the hand, y the closing direction, z the depth
    middle = R.T @ middle_m
    low, high = local.low_m, local.high_m
    xs = np.arange(low[:, 0].min() + 0.004, high[:, 0].max(), GRID_M)
    near = (low[:, 0] < xs[:, None] + PAD_M) & (high[:, 0] > xs[:, None] - PAD_M)
    tops = np.where(near, low[:, 2], np.inf).min(axis=1)
    bottoms = np.where(near, high[:, 2], -np.inf).max(axis=1)
    tried = [
        (x, top, top + depth)
        for x, top, bottom in zip(xs, tops, bottoms, strict=True)
        for depth in DEPTHS_M
        if top + depth <= bottom
    ]
    if not tried:
        return
    tips = np.array(tried)
    starts = np.repeat(tips[:, None, :], len(_PAD_LINES), axis=1)
    starts[:, :, 1] = 0.0
    starts[:, :, 0] += [dx for dx, _ in _PAD_LINES]
    starts[:, :, 2] -= [dz for _, dz in _PAD_LINES]
    enter, leave = crossings(starts.reshape(-1, 3), np.array([0.0, 1.0, 0.0]), local)
    shape = len(tips), len(_PAD_LINES), len(local)
    enter, leave = enter.reshape(shape), leave.reshape(shape)
    for (x, top, z), starts_at, ends_at in zip(tips, enter, leave, strict=True):
        segments = _merged(starts_at[4], ends_at[4])  # between the middles of the pads
        for segment in segments:
            found = _closed_on(segment, starts_at, ends_at)
            if found is None:
                continue
            left, right, share, uneven = found
            T = np.eye(4)
            T[:3, :3] = R
            T[:3, 3] = R @ np.array([x, (left + right) / 2, z])
            aside = float(np.hypot(x - middle[0], (left + right) / 2 - middle[1]))
            shallow = max(0.0, 0.025 - (z - top))
            cost = 2.0 * (1.0 - share) + 60.0 * uneven + 8.0 * aside + 20.0 * shallow
            cost += 30.0 * max(0.0, right - left - 0.066)
            yield Grasp(T, right - left, 'wall' if len(segments) > 1 else 'body', cost)


def _closed_on(
    segment: tuple[float, float], enter: Array, leave: Array
) -> tuple[float, float, float, float] | None:
    """
    Return where the pads that close on a stretch end, and how well they lie on it.

    That is the share of lines on its faces, and how much wider it is than what they cut out of it
    [m].

    *enter* and *leave* are the crossings of the lines with the boxes, shape (9, n).
    """
    low, high = segment
    inside = (leave >= low - UNEVEN_M) & (enter <= high + UNEVEN_M)
    lows = np.where(inside, enter, np.inf).min(axis=1)
    highs = np.where(inside, leave, -np.inf).max(axis=1)
    left, right = float(lows.min()), float(highs.max())
    if not THINNEST_M <= right - left <= WIDEST_M:
        return None
    on = (lows < left + UNEVEN_M) & (highs > right - UNEVEN_M)
    if on.mean() < LEAST_SHARE:
        return None
    uneven = right - left - float((highs[on] - lows[on]).mean())
    return left, right, float(on.mean()), uneven


def _merged(enter: Array, leave: Array, gap_m: float = 0.002) -> list[tuple[float, float]]:
    """Return the stretches that some intervals cover together."""
    hit = ~np.isnan(enter)
    stretches: list[tuple[float, float]] = []
    for low, high in sorted(zip(enter[hit], leave[hit], strict=True)):
        if stretches and low <= stretches[-1][1] + gap_m:
            stretches[-1] = (stretches[-1][0], max(stretches[-1][1], high))
        else:
            stretches.append((float(low), float(high)))
    return stretches


def free_way(T: Array, around: Solids, width_m: float = OPEN_M, *, way_m: float) -> bool:
    """Return whether a hand has room at a pose, and on its way back against its approach."""
    if not len(around):
        return True
    hands = []
    for back in np.arange(0.0, way_m + 1e-9, 0.033):
        moved = T.copy()
        moved[:3, 3] -= back * T[:3, 2]
        hands.append(hand_at(moved, width_m))
    reach = 0.30
    near = np.abs(around.centres_m - T[:3, 3]).max(axis=1) < reach + around.halves_m.max(axis=1)
    close = around.chosen(near)
    return not any(overlaps(hand, close, ROOM_M).any() for hand in hands)


def ordered(grasps: Sequence[Grasp]) -> list[Grasp]:
    """Return grasps, the best first."""
    return sorted(grasps, key=lambda grasp: grasp.cost)
