"""
Whether settled cubes form the shape that was asked for; geometry only.

A checker reads where things came to rest and knows nothing of plans, calls or what a model said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.bench.suites.parts import at_least, at_most
from bbllm.core.types import Pose

# Goals of suites bring tolerances of their own; these are for who checks a plus sign without one.
RESIDUAL_EDGES = 0.3
"""How far a cube may be from its place in the best-fitting plus sign [edges]."""
PITCH_EDGES = (1.0, 2.5)
"""Distance from the centre to an arm of a plus sign [edges]."""
AXIS_TOLERANCE_DEG = 15.0
"""How far the plus sign may be turned against x and y [deg]."""
LEVEL_EDGES = 0.3
"""How far the arms may be above or below the centre [edges]."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlusTolerances:
    """What still counts as a plus sign."""

    residual_edges: float = RESIDUAL_EDGES
    pitch_edges: tuple[float, float] = PITCH_EDGES
    turn_deg: float = AXIS_TOLERANCE_DEG
    level_edges: float = LEVEL_EDGES


@dataclass(frozen=True, slots=True, kw_only=True)
class PlusFit:
    """What a checker found."""

    passed: bool
    reason: str = ''
    """Why not, in one sentence; empty where it passed."""
    residual_m: float = math.nan
    """Largest distance of a cube from its place in the best fit [m]."""
    pitch_m: float = math.nan
    """Distance from the centre to the arms in the best fit [m]."""
    turn_deg: float = math.nan
    """Turn of the best fit against x and y, -45 to 45 [deg]."""
    middle: Point = (math.nan, math.nan)
    """Middle of the best fit [m]."""
    cubes: tuple[str, ...] = ()
    """Names of the cubes of the best fit, its centre first."""


def check_plus(
    cubes: Mapping[str, Pose],
    edge_m: float,
    tolerances: PlusTolerances = PlusTolerances(),  # frozen, so sharing it is safe
    *,
    members: Collection[str] | None = None,
) -> PlusFit:
    """
    Look for a plus sign: one cube in the middle of four others on two crossing lines.

    Args:
        cubes: Settled pose of every cube of the scene, by name.
        edge_m: Edge of the cubes [m].
        tolerances: What still counts.
        members: Names of the cubes that may be of it; the others can only spoil it. None: all.
    """
    able = cubes if members is None else {name: cubes[name] for name in members}
    if len(able) < 5:
        return PlusFit(
            passed=False, reason=f'a plus sign needs five cubes, but there are {len(able)}.'
        )
    fits = [
        fit_plus(centre, arms, cubes)
        for centre in able
        for arms in _arms_near(centre, able, edge_m, tolerances)
    ]
    if not fits:
        return PlusFit(passed=False, reason='no cube has four others around it on its level.')
    best = min(fits, key=lambda fit: fit.residual_m)
    for fit in fits:
        near = at_most(fit.residual_m, tolerances.residual_edges * edge_m)
        if near and not any(plus_faults(fit, cubes, edge_m, tolerances)):
            return replace(fit, passed=True)
    reasons = plus_faults(best, cubes, edge_m, tolerances)
    return replace(best, reason=next(reason for reason in reasons if reason))


def _arms_near(
    centre: str, cubes: Mapping[str, Pose], edge_m: float, tolerances: PlusTolerances
) -> list[tuple[str, str, str, str]]:
    """Return sets of four cubes that are near enough to be the arms around a centre."""
    x, y, z = cubes[centre].position_m
    widest = (tolerances.pitch_edges[1] + 2 * tolerances.residual_edges) * edge_m
    near = [
        (distance, name)
        for name, pose in cubes.items()
        if name != centre
        and at_most(abs(pose.position_m[2] - z), tolerances.level_edges * edge_m)
        and (distance := math.hypot(pose.position_m[0] - x, pose.position_m[1] - y)) <= widest
    ]
    # The eight nearest hold every plus sign that could pass: a ninth would lie within it.
    names = [name for _, name in sorted(near)[:8]]
    return list(itertools.combinations(names, 4))


def fit_plus(centre: str, arms: Sequence[str], cubes: Mapping[str, Pose]) -> PlusFit:
    """Fit middle, turn and pitch of a plus sign to five cubes, by least squares."""
    names = (centre, *arms)
    points = [cubes[name].position_m[:2] for name in names]
    mx, my = (sum(point[axis] for point in points) / 5 for axis in range(2))
    rays = [(x - mx, y - my) for x, y in points[1:]]
    ordered = sorted(range(4), key=lambda index: math.atan2(rays[index][1], rays[index][0]))
    # Turn each arm back onto the x axis by its rank; what they share is pitch and turn.
    back = [_turned(rays[index], -rank * math.pi / 2) for rank, index in enumerate(ordered)]
    px, py = sum(x for x, _ in back) / 4, sum(y for _, y in back) / 4
    pitch, turn = math.hypot(px, py), math.atan2(py, px)
    ideal: dict[int, Point] = {-1: (mx, my)}
    for rank, index in enumerate(ordered):
        ax, ay = _turned((px, py), rank * math.pi / 2)
        ideal[index] = (mx + ax, my + ay)
    residual = max(math.dist(points[index + 1], ideal[index]) for index in range(-1, 4))
    degrees = (math.degrees(turn) + 45.0) % 90.0 - 45.0
    return PlusFit(
        passed=False,
        residual_m=residual,
        pitch_m=pitch,
        turn_deg=degrees,
        middle=(mx, my),
        cubes=names,
    )


def plus_faults(
    fit: PlusFit, cubes: Mapping[str, Pose], edge_m: float, tolerances: PlusTolerances
) -> tuple[str, str, str, str]:
    """Say what is wrong with places, pitch, turn and surroundings; '' for what is right."""
    least, most = (edges * edge_m for edges in tolerances.pitch_edges)
    residual = pitch = turn = within = ''
    if not at_most(fit.residual_m, tolerances.residual_edges * edge_m):
        residual = (
            f'the nearest thing to a plus sign, around {fit.cubes[0]}, has a cube '
            f'{fit.residual_m * 100:.1f} cm from its place.'
        )
    if not (at_least(fit.pitch_m, least) and at_most(fit.pitch_m, most)):
        pitch = (
            f'the arms are {fit.pitch_m * 100:.1f} cm from the centre, not between '
            f'{least * 100:.0f} and {most * 100:.0f} cm.'
        )
    if not at_most(abs(fit.turn_deg), tolerances.turn_deg):
        turn = f'the plus sign is turned by {fit.turn_deg:.0f} degrees.'
    intruders = _intruders(fit, cubes, edge_m)
    if intruders:
        within = f'{" and ".join(intruders)} lies within the plus sign.'
    else:
        within = _beside(fit, cubes, tolerances.residual_edges * edge_m)
    return residual, pitch, turn, within


def _intruders(fit: PlusFit, cubes: Mapping[str, Pose], edge_m: float) -> list[str]:
    """Return other cubes that spoil the pattern: in its square, or on top of it."""
    mx, my = fit.middle
    reach = fit.pitch_m + edge_m / 2
    found = []
    for name, pose in cubes.items():
        if name in fit.cubes:
            continue
        x, y, _ = pose.position_m
        across, along = _turned((x - mx, y - my), -math.radians(fit.turn_deg))
        if max(abs(across), abs(along)) < reach:
            found.append(name)
    return found


def _beside(fit: PlusFit, cubes: Mapping[str, Pose], residual_m: float) -> str:
    """Say which other cube fills a place next to the plus sign, and makes it another one."""
    free = fit.pitch_m + residual_m
    for name in cubes:
        if name in fit.cubes:
            continue
        way = min(
            math.dist(cubes[name].position_m[:2], cubes[o].position_m[:2]) for o in fit.cubes
        )
        if way < free:
            return (
                f'{name} is {way * 100:.1f} cm from the plus sign; {free * 100:.1f} cm around it '
                'are to stay free.'
            )
    return ''


def _turned(point: Point, angle_rad: float) -> Point:
    cos, sin = math.cos(angle_rad), math.sin(angle_rad)
    return (cos * point[0] - sin * point[1], sin * point[0] + cos * point[1])
