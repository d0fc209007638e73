"""
`push(object, target)`: slide an object along what it stands on, from behind.

The open hand pushes a wide object with both fingers, which keeps it from turning away, a narrow
one, or where there is no room for that, with closed fingers. Where something stands behind the
object, the hand leans over it. Where that does not help, closed fingers go into a hollow object,
such as a plate, and take it along by the rim in front of them.
"""

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.core.text import listed
from bbllm.core.types import Code, Skill
from bbllm_libero.panda import CLOSE, OPEN, Panda, Result, State
from bbllm_libero.skills.fixtures import hand_full
from bbllm_libero.skills.grasps import free_way
from bbllm_libero.skills.hand import OPEN_M, hand_at
from bbllm_libero.skills.motion import move, reach_over, stay
from bbllm_libero.skills.place import Place, descent_m, resolve
from bbllm_libero.skills.reach import top_down, turn_cost
from bbllm_libero.skills.skill import PandaSkill, done, failed, movable_names, refused
from bbllm_libero.skills.solids import Array, Solids, overlaps, shape_of, surroundings, together

ATTEMPTS = 3
FORK_M = 0.05
"""An object of at least this radius is pushed with both fingers, given room [m]."""
BEHIND_M = 0.02
"""Distance of the fingers from the object at the start [m]."""
LOW_M = 0.005
"""Height of the fingertips above what they slide on [m]."""
AHEAD_M = 0.03
"""How far ahead of the object's edge the fingers are led [m]."""
SETTLE, STUCK, PROGRESS_M = 4, 10, 0.0005
"""
Control steps before a push; how many of them an object may stay where it is, where moving is to
come nearer by more than this [m].
"""
INSIDE = 0.9
"""Share of a region's half width within which an object has been pushed there."""
NEAR = 0.6
"""Share of a region's half width within which an object has arrived."""
LEANS = np.radians([0.0, 25.0, 40.0, 55.0])
"""How far the hand leans over the object, as tried [rad]."""
CLOSE_M = 0.006
"""Distance of fingers in a hollow from the rim that they push, at the start [m]."""
CORNER_M = 0.02
"""Half width of where a way round a corner turns [m]."""
SHARES = np.linspace(0.0, 1.0, 9)
DOWN = np.array([0.0, 0.0, -0.001])
"""Steps in which fingers are lowered into a hollow [m]."""
TURNS = 16
"""Turns of the hand that are tried in a hollow."""
_FINGER_M = 0.0105


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    name, target = args
    if name not in panda.task.objects or panda.task.objects[name].fixture:
        return refused(
            Code.NOT_GRASPABLE,
            f'{name} cannot be pushed; what can be is {listed(movable_names(panda.task))}.',
            held,
        )
    full = hand_full(name, 'pushed', held)
    if full is not None:
        return full
    place = resolve(panda.task, panda.state, target)
    if isinstance(place, Result):
        return place
    moved = False
    for _ in range(ATTEMPTS):
        if _inside(panda, name, place):
            break
        for leg in _legs(panda, name, place):
            start = _start(panda, name, leg)
            if start is None:
                break
            _slide(panda, name, leg, *start)
            moved = True
    if _inside(panda, name, place):
        return done()
    if moved:
        return failed(Code.MISPLACED, f'{name} could not be pushed to {target}.')
    return refused(
        Code.NO_CLEARANCE,
        f'The hand finds no room behind {name} to push it to {target}, nor is it hollow; move '
        'what is behind it first.',
    )


def _start(panda: Panda, name: str, place: Place) -> tuple[Array, float, float] | None:
    """Return where the hand begins, how far from the object's middle it touches, and its grip."""
    return _behind(panda, name, place) or _within(panda, name, place)


def _legs(panda: Panda, name: str, place: Place) -> list[Place]:
    """
    Return where an object is pushed one after the other: straight on, or round a corner.

    Of the ways into the region whose first part the hand can begin, that is taken on which the
    object meets least.
    """
    state = panda.state
    at = state.objects[name].position_m[:2]
    body = shape_of(panda, name, state)
    others = together([shape_of(panda, one, state) for one in panda.task.objects if one != name])

    def met(corner: Array, goal: Array) -> int:
        shifts = [share * (corner - at) for share in SHARES]
        shifts += [corner - at + share * (goal - corner) for share in SHARES]
        return sum(bool(overlaps(body.shifted(np.append(by, 0.0)), others).any()) for by in shifts)

    ways = []
    for a, b in product((0.0, NEAR, -NEAR), repeat=2):
        goal = place.T[:2, 3] + np.array([a, b]) * place.half_m
        for corner in (goal, np.array([at[0], goal[1]]), np.array([goal[0], at[1]])):
            aside = abs(a) + abs(b) + float((corner != goal).any())
            ways.append((met(corner, goal), aside, corner, goal))
    for _, _, corner, goal in sorted(ways, key=lambda way: way[:2]):
        first, last = _spot(place, corner), _spot(place, goal)
        if (corner == goal).all() or _arrived(panda, name, first):
            first = last
        if _start(panda, name, first) is not None:
            return [first] if first is last else [first, last]
    return []


def _spot(place: Place, point_m: Array) -> Place:
    T = place.T.copy()
    T[:2, 3] = point_m
    return replace(place, T=T, half_m=(CORNER_M, CORNER_M))


def _inside(panda: Panda, name: str, place: Place) -> bool:
    """Return whether an object's origin is well within a region."""
    return bool((np.abs(_gap(panda, name, place)) < INSIDE * np.array(place.half_m)).all())


def _gap(panda: Panda, name: str, place: Place) -> Array:
    """Return the way from an object to a place, seen from above, shape (2,) [m]."""
    gap: Array = place.T[:2, 3] - panda.state.objects[name].position_m[:2]
    return gap


def _arrived(panda: Panda, name: str, place: Place) -> bool:
    return bool(np.linalg.norm(_gap(panda, name, place)) < NEAR * min(place.half_m))


def _behind(panda: Panda, name: str, place: Place) -> tuple[Array, float, float] | None:
    """Return where the hand begins, how far from the object's middle it touches, and its grip."""
    state = panda.state
    body = shape_of(panda, name, state)
    around = surroundings(panda, state, (name,))
    at = state.objects[name].position_m
    gap = _gap(panda, name, place)
    way = gap / np.linalg.norm(gap)
    reach = -((body.centres_m[:, :2] - at[:2]) @ way) + body.spans_m[:, :2] @ np.abs(way)
    radius = float(reach.max())
    yaw = float(np.arctan2(way[1], way[0]))
    for fork, lean in product((True, False) if radius >= FORK_M else (False,), LEANS):
        aside = OPEN_M / 2 + 0.008 if fork else 0.0
        touch = float(np.sqrt(max(radius**2 - aside**2, 0.0))) + _FINGER_M
        point = np.array([*(at[:2] - (touch + BEHIND_M) * way), body.low_m[:, 2].min() + LOW_M])
        found = []
        for turn in (yaw, yaw + np.pi):
            T = top_down(point, turn)
            # The hand leans towards the target: its fingers point back at the near edge.
            across = np.array([-way[1], way[0], 0.0])
            T[:3, :3] = Rotation.from_rotvec(lean * across).as_matrix() @ T[:3, :3]
            cost = _cost(T, gap, state, around, OPEN_M if fork else 0.0)
            if cost is not None:
                found.append((cost, T))
        if found:
            best = min(found, key=lambda one: one[0])[1]
            return best, touch, OPEN if fork else CLOSE
    return None


def _cost(T: Array, gap: Array, state: State, around: Solids, width_m: float) -> float | None:
    """
    Return how little room there is on the way, and how far the arm turns to its start.

    None where the hand has no room there, or the arm does not reach it all. What is met later may
    give way.
    """
    if not free_way(T, around, width_m, way_m=0.07):
        return None
    first = turn_cost(T, state.q)
    cost = 0.0 if first is None else 0.15 * first
    for share in SHARES:
        pose = T.copy()
        pose[:2, 3] += share * gap
        if turn_cost(pose, state.q) is None:
            return None
        cost += 0.0 if free_way(pose, around, width_m, way_m=0.0) else 1.0
    return cost


def _within(panda: Panda, name: str, place: Place) -> tuple[Array, float, float] | None:
    """Return the same for closed fingers in the hollow of an object; None where it has none."""
    state = panda.state
    body = shape_of(panda, name, state)
    around = surroundings(panda, state, (name,))
    gap = _gap(panda, name, place)
    way = np.append(gap / np.linalg.norm(gap), 0.0)
    at = state.objects[name].position_m
    top = float(body.high_m[:, 2].max())
    yaw = float(np.arctan2(way[1], way[0]))
    ahead_m = np.arange(0.0, float(np.ptp(body.centres_m[:, :2], axis=0).max()), 0.002)
    across = np.array([-way[1], way[0], 0.0])
    found: list[tuple[float, float, float, Array]] = []
    for lean, turn in product(LEANS, np.linspace(0.0, 2 * np.pi, TURNS, endpoint=False)):
        if found and lean > found[0][0]:
            break
        T = top_down(np.array([at[0], at[1], top]), yaw + float(turn))
        T[:3, :3] = Rotation.from_rotvec(lean * across).as_matrix() @ T[:3, :3]
        T[2, 3] -= descent_m(hand_at(T, 0.0), body)
        while not overlaps(hand_at(T, 0.0).shifted(DOWN), body).any():
            T[:3, 3] += DOWN
        hand = hand_at(T, 0.0)
        hits = [far for far in ahead_m if overlaps(hand.shifted(far * way), body).any()]
        if not hits or hits[0] == 0.0:
            continue
        T[:3, 3] += (hits[0] - CLOSE_M) * way
        cost = _cost(T, gap, state, around, 0.0)
        if cost is not None:
            found.append((float(lean), cost, -hits[0], T))
    if not found:
        return None
    _, _, touch, best = min(found, key=lambda one: one[1])
    return best, touch, CLOSE


def _slide(
    panda: Panda, name: str, place: Place, start: Array, touch_m: float, grip: float
) -> None:
    reach_over(panda, start, 0.07, grip)
    move(panda, start, grip, near_m=0.004, most=40)
    stay(panda, grip, SETTLE)
    nearest_m, since = np.inf, 0
    for _ in range(100):
        gap = _gap(panda, name, place)
        length = float(np.linalg.norm(gap))
        since = 0 if length < nearest_m - PROGRESS_M else since + 1
        nearest_m = min(length, nearest_m)
        if length < 0.5 * NEAR * min(place.half_m) or since > STUCK:
            break
        way = gap / length
        aim = start.copy()
        at = panda.state.objects[name].position_m[:2]
        aim[:2, 3] = at + (min(AHEAD_M, length) - touch_m) * way
        move(panda, aim, grip, near_m=0.0, most=1)
    back = panda.state.tool.position_m
    up = start.copy()
    up[:3, 3] = back[0], back[1], back[2] + 0.08
    move(panda, up, grip, near_m=0.02, most=25)


PUSH = PandaSkill(
    Skill(
        'push',
        ('object', 'target'),
        'slide an object along what it stands on to a region, from behind; also for a plate and '
        'what else the hand cannot grip',
        ('slide',),
    ),
    _run,
)
