"""
`push(object, target)`: slide an object along what it stands on, from behind.

The open hand pushes a wide object with both fingers, which keeps it from turning away, a narrow
one, or where there is no room for that, with closed fingers. Where something stands behind the
object, the hand leans over it. Where that does not help, closed fingers go into a hollow object,
such as a plate, and take it along by the rim in front of them.
"""

from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.core.text import listed
from bbllm.core.types import Code, Skill
from bbllm_libero.panda import CLOSE, OPEN, Panda, Result
from bbllm_libero.skills.fixtures import hand_full
from bbllm_libero.skills.grasps import free_way
from bbllm_libero.skills.hand import OPEN_M, hand_at
from bbllm_libero.skills.motion import move, reach_over
from bbllm_libero.skills.place import Place, descent_m, resolve
from bbllm_libero.skills.reach import top_down, turn_cost
from bbllm_libero.skills.skill import PandaSkill, done, failed, movable_names, refused
from bbllm_libero.skills.solids import Array, overlaps, shape_of, surroundings

ATTEMPTS = 2
FORK_M = 0.05
"""An object of at least this radius is pushed with both fingers, given room [m]."""
BEHIND_M = 0.02
"""Distance of the fingers from the object at the start [m]."""
LOW_M = 0.005
"""Height of the fingertips above what they slide on [m]."""
AHEAD_M = 0.03
"""How far ahead of the object's edge the fingers are led [m]."""
NEAR = 0.6
"""Share of a region's half width within which an object has arrived."""
LEANS = np.radians([0.0, 25.0, 40.0, 55.0])
"""How far the hand leans over the object, as tried [rad]."""
CLOSE_M = 0.006
"""Distance of fingers in a hollow from the rim that they push, at the start [m]."""
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
    for attempt in range(ATTEMPTS):
        if _arrived(panda, name, place):
            return done()
        start = _behind(panda, name, place) or _within(panda, name, place)
        if start is None:
            end = failed if attempt else refused
            return end(
                Code.NO_CLEARANCE,
                f'The hand finds no room behind {name} to push it to {target}, nor is it hollow; '
                'move what is behind it first.',
            )
        _slide(panda, name, place, *start)
    if _arrived(panda, name, place):
        return done()
    return failed(Code.MISPLACED, f'{name} could not be pushed to {target}.')


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
            end = T.copy()
            end[:2, 3] += gap
            costs = turn_cost(T, state.q), turn_cost(end, state.q)
            if None not in costs and free_way(T, around, OPEN_M if fork else 0.0, way_m=0.07):
                found.append((costs[0], T))
        if found:
            best = min(found, key=lambda one: one[0] or 0.0)[1]
            return best, touch, OPEN if fork else CLOSE
    return None


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
        hand = hand_at(T, 0.0)
        hits = [far for far in ahead_m if overlaps(hand.shifted(far * way), body).any()]
        if not hits or hits[0] == 0.0:
            continue
        T[:3, 3] += (hits[0] - CLOSE_M) * way
        end = T.copy()
        end[:2, 3] += gap
        costs = [turn_cost(pose, state.q) for pose in (T, end)]
        if None not in costs and all(free_way(pose, around, 0.0, way_m=0.07) for pose in (T, end)):
            found.append((float(lean), costs[0] or 0.0, -hits[0], T))
    if not found:
        return None
    _, _, touch, best = min(found, key=lambda one: one[1])
    return best, touch, CLOSE


def _slide(
    panda: Panda, name: str, place: Place, start: Array, touch_m: float, grip: float
) -> None:
    reach_over(panda, start, 0.07, grip)
    move(panda, start, grip, near_m=0.006, most=40)
    for _ in range(100):
        gap = _gap(panda, name, place)
        length = float(np.linalg.norm(gap))
        if length < 0.5 * NEAR * min(place.half_m):
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
