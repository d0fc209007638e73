"""
`place(target)`: put what is in the hand on an object or into a region, and let go.

The resting place is searched: points of the target, the middle first, by turns of the hand. Each
is judged by how low hand and object get there without touching anything, by what they would drop
from there, and by whether the arm reaches it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.core.text import listed
from bbllm.core.types import Code, Skill
from bbllm_libero.panda import CLOSE, OPEN, LiberoTask, Panda, Result, State
from bbllm_libero.skills.hand import hand_at, tips
from bbllm_libero.skills.motion import clear_height_m, move, open_hand, through
from bbllm_libero.skills.pick import EMPTY_M
from bbllm_libero.skills.reach import turn_cost
from bbllm_libero.skills.skill import PandaSkill, done, failed, refused
from bbllm_libero.skills.solids import (
    Array,
    Solids,
    matrix,
    overlaps,
    shape_of,
    surroundings,
    together,
)

ABOVE_M = 0.004
"""How far above what it would touch an object is let go [m]."""
DROP_M = 0.16
"""Most that an object may fall into a container, where the hand gets no lower [m]."""
SETTLE_M = 0.025
"""Most that an object may fall on a surface [m]."""
MIDDLE_M = 0.02
"""How far from the middle of an object another is put on it; the benchmark allows 30 mm [m]."""
DEEP_M = 0.02
"""A region of at least this half height is a room, less a surface [m]."""
SPOTS = 24
"""Ways to let go that are looked at closely."""
SINK_M, DEEPEST_M = 0.004, 0.25
"""Steps in which they are lowered, and how far at most [m]."""
TURNS = (0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4, -np.pi / 4, 3 * np.pi / 4, -3 * np.pi / 4)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where an object is to be: its own origin, seen from above."""

    name: str
    T: Array
    """Pose of the region's middle, shape (4, 4)."""
    half_m: tuple[float, float]
    """Half extents within which the origin may be."""
    deep_m: float
    """Half its height where it is a room, into which an object may be dropped; 0 of a surface."""


def resolve(task: LiberoTask, state: State, target: str) -> Place | Result:
    """Return the place that a target names, or why there is none."""
    if target in task.sites:
        half = np.asarray(task.sites[target].half_size_m, dtype=float)
        T = matrix(state.sites[target])
        span = np.abs(T[:3, :3]) @ half
        upright = np.eye(4)
        upright[:3, 3] = T[:3, 3]
        deep_m = float(span[2]) if span[2] >= DEEP_M else 0.0
        return Place(target, upright, (float(span[0]), float(span[1])), deep_m)
    if target not in task.objects:
        names = [*task.objects, *task.sites]
        return refused(Code.UNKNOWN_OBJECT, f'There is no {target}; places are {listed(names)}.')
    own = [name for name, site in task.sites.items() if site.parent == target]
    surfaces = [name for name in own if not task.sites[name].joints]
    for kind in ('contain_region', 'cook_region', 'heating_region', 'top_side', 'top_region'):
        fits = [name for name in surfaces if name.endswith(kind)]
        if len(fits) == 1:
            return resolve(task, state, fits[0])
    if own:
        return refused(
            Code.BAD_ARGUMENTS, f'{target} has several places: {listed(own)}. Name one of them.'
        )
    T = np.eye(4)
    T[:3, 3] = state.objects[target].position_m
    return Place(target, T, (MIDDLE_M, MIDDLE_M), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """One way to let go: a pose of the grip site, and what it costs."""

    T: Array
    origin_m: Array
    """Where the object's origin is then, shape (3,)."""
    cost: float


def find_spot(panda: Panda, state: State, held: str, place: Place) -> Spot | None:
    """Return the best way to let go of the held object at a place; None where there is none."""
    now = tips(state)
    origin = np.linalg.inv(now) @ matrix(state.objects[held])  # in the hand
    around = surroundings(panda, state, (held,))
    solids = held_solids(panda, state, held)
    first: list[tuple[float, Array, float]] = []
    for turn in TURNS:
        flat = np.eye(4)
        flat[:3, :3] = Rotation.from_euler('z', turn).as_matrix() @ now[:3, :3]
        offset = (flat @ origin)[:3, 3]
        item, hand = solids.moved(flat), hand_at(flat)
        for aside, goal in _points(place):
            at = np.array([goal[0] - offset[0], goal[1] - offset[1], 0.0])
            rest = clear_height_m(around, at, at, item)
            free = max(rest, clear_height_m(around, at, at, hand))
            T = flat.copy()
            T[:3, 3] = at[0], at[1], free
            cost = 3.0 * aside + 0.05 * abs(turn)
            first.append((cost + 6.0 * (free - rest) + 4.0 * (rest + offset[2]), T, cost))
    first.sort(key=lambda found: found[0])
    spots = []
    for _, T, cost in first[:SPOTS]:
        top_m = float(T[2, 3])
        free = top_m - descent_m(together([solids, hand_at(np.eye(4))]).moved(T), around)
        rest = top_m - descent_m(solids.moved(T), around)
        origin_z = rest + float((T[:3, :3] @ origin[:3, 3])[2])
        if free - rest > (DROP_M if place.deep_m else SETTLE_M):
            continue
        if place.deep_m and abs(origin_z - place.T[2, 3]) > place.deep_m:
            continue
        T[2, 3] = free + ABOVE_M
        origin_m = (T @ origin)[:3, 3]
        spots.append(Spot(T, origin_m, cost + 6.0 * (free - rest) + 4.0 * origin_z))
    for spot in sorted(spots, key=lambda found: found.cost):
        if turn_cost(spot.T, state.q) is not None:
            return spot
    return None


def descent_m(item: Solids, around: Solids) -> float:
    """Return how far solids can sink before they touch anything [m]."""
    low, high = item.low_m.min(axis=0), item.high_m.max(axis=0)
    beside = (around.low_m[:, :2] > high[:2]).any(1) | (around.high_m[:, :2] < low[:2]).any(1)
    below = around.chosen(~beside)
    sunk = 0.0
    while sunk < DEEPEST_M:
        if overlaps(item.shifted(np.array([0.0, 0.0, -sunk - SINK_M])), below).any():
            break
        sunk += SINK_M
    return sunk


def _points(place: Place) -> Iterator[tuple[float, Array]]:
    """Yield points of a place with their distance from its middle, the middle first."""
    steps = (0.0, 0.3, -0.3, 0.6, -0.6, 0.85, -0.85)
    points = []
    for a in steps:
        for b in steps:
            shift = np.array([a * place.half_m[0], b * place.half_m[1], 0.0])
            points.append((float(np.linalg.norm(shift)), place.T[:3, 3] + shift))
    yield from sorted(points, key=lambda point: point[0])


def held_solids(panda: Panda, state: State, held: str) -> Solids:
    """Return what the held object collides with, in the frame of the hand."""
    T_tips_base: Array = np.asarray(np.linalg.inv(tips(state)), dtype=np.float64)
    return shape_of(panda, held, state).moved(T_tips_base)


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    (target,) = args
    if held is None:
        return refused(
            Code.NOT_HOLDING, f'Nothing is in the hand to place on {target}; pick an object first.'
        )
    if target == held:
        return refused(Code.BAD_ARGUMENTS, f'{held} cannot be placed on itself.', held)
    state = panda.state
    place = resolve(panda.task, state, target)
    if isinstance(place, Result):
        return refused(place.code, place.message, held)
    if state.width_m <= EMPTY_M:
        return failed(Code.OBJECT_LOST, f'{held} is no longer in the hand; pick it again.')
    spot = find_spot(panda, state, held, place)
    if spot is None:
        return refused(
            Code.OCCUPIED,
            f'{held} finds no room at {target} that hand and arm reach from above; choose another '
            'place, or move what is there first.',
            held,
        )
    return carry(panda, held, place, spot)


def carry_over(panda: Panda, held: str, T: Array) -> None:
    """Move the held object above a pose of the grip site, over all that is in between."""
    state = panda.state
    start = tips(state)
    around = surroundings(panda, state, (held,))
    moving = together([hand_at(np.eye(4)), held_solids(panda, state, held)])
    only = start.copy()
    only[:3, 3] = 0.0
    turned = T.copy()
    turned[:3, 3] = 0.0
    below = together([moving.moved(only), moving.moved(turned)])
    over = clear_height_m(around, start[:3, 3], T[:3, 3], below) + 0.015
    hover = T.copy()
    hover[2, 3] = max(T[2, 3] + 0.02, over)
    ways = []
    if start[2, 3] < over:
        rise = start.copy()
        rise[2, 3] = over
        ways.append(rise)
    through(panda, [*ways, hover], CLOSE, near_m=0.012, near_rad=0.08)


def carry(panda: Panda, held: str, place: Place, spot: Spot) -> Result:
    """Carry the held object to a spot, and let go."""
    carry_over(panda, held, spot.T)
    # What is held may have slipped on the way: aim with where it is now.
    state = panda.state
    if state.width_m <= EMPTY_M:
        return failed(Code.OBJECT_LOST, f'{held} fell out of the hand; pick it again.')
    now = spot.T @ np.linalg.inv(tips(state)) @ matrix(state.objects[held])
    aim = spot.T.copy()
    aim[:2, 3] += (spot.origin_m - now[:3, 3])[:2]
    move(panda, aim, CLOSE, near_m=0.005, near_rad=0.06, most=45)
    open_hand(panda)
    up = tips(panda.state)
    up[2, 3] += 0.08
    move(panda, up, OPEN, near_m=0.02, most=25)
    at = np.asarray(panda.state.objects[held].position_m)
    away = np.abs(at[:2] - place.T[:2, 3])
    limit = np.maximum(np.array(place.half_m), 0.03)
    if (away > limit).any():
        return failed(
            Code.MISPLACED,
            f'{held} came to rest {100 * float(away.max()):.0f} cm from the middle of '
            f'{place.name}.',
        )
    return done()


PLACE = PandaSkill(
    Skill(
        'place',
        ('target',),
        'put what is in the hand on an object (plate, bowl, stove, cabinet) or into a region or '
        'container (basket, compartment, drawer that is open), and let go. Regions are the places '
        'that things have: of a cabinet, X_top_region is its top drawer and X_top_side the top of '
        'the cabinet itself; X_contain_region is the room inside X',
        ('put', 'place_on', 'place_in'),
    ),
    _run,
)
