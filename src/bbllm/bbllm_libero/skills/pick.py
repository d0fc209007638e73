"""`pick(object)`: close the fingers on an object from above, and lift it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.core.text import listed
from bbllm.core.types import Code, Skill
from bbllm_libero.panda import CLOSE, OPEN, Panda, Result, State
from bbllm_libero.skills.grasps import Grasp, free_way, grasps_on, ordered
from bbllm_libero.skills.hand import hand_at, tips
from bbllm_libero.skills.motion import (
    close_hand,
    move,
    open_hand,
    reach_over,
    shape_hand,
)
from bbllm_libero.skills.reach import top_down, turn_cost
from bbllm_libero.skills.skill import PandaSkill, done, failed, movable_names, refused
from bbllm_libero.skills.solids import Array, Solids, overlaps, shape_of, surroundings, together

ATTEMPTS = 3
"""Grasps that are tried before a pick fails."""
LIFT_M = 0.06
"""How far an object is lifted to see that it comes along [m]."""
HOVER_M = 0.06
"""Height above a grasp from which the hand comes straight down [m]."""
WAY_M, LEANING_M = 0.10, 0.25
"""Length of the way to a grasp that has to be free, from straight above and leaning [m]."""
EMPTY_M = 0.0008
"""Fingers nearer to each other than this have closed on nothing [m]."""
YAWS = 16
"""Turns of the hand that are tried, over half a turn."""
LEANS = (
    (('y', 0.0),),
    tuple((axis, lean) for axis in ('y', 'x') for lean in (0.45, -0.45, 0.75, -0.75)),
)
"""
How far it leans, first and where grasps find no room so [rad].

Aside is about the axis along which it closes (y), away from or over the object about x.
"""
RISE_M, STEP_M, FURTHEST_M, CLEAR_M = 0.005, 0.025, 0.2, 0.2
"""
How an object is moved from below something: how far above its support that is judged, in which
steps, how far it is moved at most, and how much has to be free above it then [m].
"""
TRIED, ENOUGH = 400, 8
"""Grasps whose room is looked at, and with room."""


def find_grasps(
    panda: Panda, state: State, name: str, missed: Sequence[Grasp]
) -> tuple[list[Grasp], bool]:
    """
    Return reachable grasps with room, the best first; and whether there is any without room.

    The hand is open and points straight down. Only where that finds nothing, it opens less, and
    then leans.
    """
    body = shape_of(panda, name, state)
    around = surroundings(panda, state, (name,))
    middle = body.middle_m
    some = False
    for leans in LEANS:
        found: list[Grasp] = []
        for yaw in np.linspace(-np.pi / 2, np.pi / 2, YAWS, endpoint=False):
            for axis, lean in leans:
                R = top_down(middle, yaw)[:3, :3] @ Rotation.from_euler(axis, lean).as_matrix()
                found += grasps_on(body, R, middle)
        best = [
            grasp
            for grasp in ordered(found)[:TRIED]
            if all(np.linalg.norm(grasp.T[:3, 3] - old.T[:3, 3]) > 0.012 for old in missed)
        ]
        for grasps in (best, [grasp.narrow() for grasp in best]):
            chosen = ordered(list(islice(_with_room(grasps, state, body, around), ENOUGH)))
            if chosen:
                return chosen, True
        some = some or bool(found)
        if not some:
            break
    return [], some


def _with_room(
    grasps: Sequence[Grasp], state: State, body: Solids, around: Solids
) -> Iterator[Grasp]:
    """Yield grasps that the arm reaches and the hand has room for, there and on its way."""
    everything = together([body, around])
    for grasp in grasps:
        if not free_way(grasp.T, everything, grasp.opening_m, way_m=0.0):
            continue
        way_m = WAY_M if grasp.T[2, 2] < -0.99 else LEANING_M
        if not free_way(grasp.T, around, grasp.opening_m, way_m=way_m):
            continue
        reached = _nearer(grasp, state)
        if reached is not None:
            yield reached


def _nearer(grasp: Grasp, state: State) -> Grasp | None:
    """Return a grasp with the turn of the wrist that is nearer; None where neither is in reach."""
    turns = [(turn_cost(T, state.q), T) for T in (grasp.T, _flipped(grasp.T))]
    reached = [(cost, T) for cost, T in turns if cost is not None]
    if not reached:
        return None
    cost, T = min(reached, key=lambda one: one[0])
    return replace(grasp, T=T, cost=grasp.cost + 0.15 * cost)


def _flipped(T: Array) -> Array:
    return T @ np.diag([-1.0, -1.0, 1.0, 1.0])


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    (name,) = args
    task = panda.task
    if name not in task.objects:
        return refused(
            Code.UNKNOWN_OBJECT,
            f'There is no object {name}; there are {listed(movable_names(task))}.',
            held,
        )
    info = task.objects[name]
    if info.fixture:
        return refused(
            Code.NOT_GRASPABLE,
            f'{name} is fixed; what can be picked is {listed(movable_names(task))}.',
            held,
        )
    if held is not None:
        said = 'it is in the hand already' if held == name else f'{held} is in the hand'
        return refused(
            Code.ALREADY_HOLDING, f'{name} cannot be picked: {said}; place it first.', held
        )
    missed: list[Grasp] = []
    for _ in range(ATTEMPTS):
        state = panda.state
        grasps, some = find_grasps(panda, state, name, missed)
        if not grasps:
            break
        if _try(panda, name, grasps[0]):
            return done(name)
        missed.append(grasps[0])
    if missed:
        return failed(Code.GRASP_FAILED, f'{name} was not in the hand after {len(missed)} grasps.')
    if not some:
        return refused(
            Code.NOT_GRASPABLE,
            f'No grasp is known for a {info.category}: from above, no part of it has two upright '
            'faces at most 74 mm apart. It may be pushed.',
        )
    return refused(
        Code.NO_CLEARANCE,
        f'{name} cannot be picked: its grasps are out of reach, or something is in the way of '
        'the hand; move what is beside or on it first.',
    )


def _try(panda: Panda, name: str, grasp: Grasp) -> bool:
    away = _away(panda, name, grasp)
    grip = shape_hand(panda, grasp.opening_m)
    reach_over(panda, grasp.T, HOVER_M, grip)
    move(panda, grasp.T, grip, near_m=0.004, near_rad=0.06, most=40)
    width = close_hand(panda)
    before = panda.state.objects[name].position_m[2]
    up = tips(panda.state)
    if away.any():
        up[:3, 3] += away
        move(panda, up, CLOSE, near_m=0.015, most=40)
    up[2, 3] += LIFT_M
    move(panda, up, CLOSE, near_m=0.015, most=25)
    state = panda.state
    risen = state.objects[name].position_m[2] - before
    held = all(name in touched for touched in state.touches.values())
    if held and min(width, state.width_m) > EMPTY_M and risen > LIFT_M / 2 - 0.01:
        return True
    open_hand(panda)
    back = tips(panda.state)
    back[2, 3] += HOVER_M
    move(panda, back, OPEN, near_m=0.02)
    return False


def _away(panda: Panda, name: str, grasp: Grasp) -> Array:
    """
    Return how an object is moved before it is lifted straight up, shape (3,) [m].

    That is nothing but where something is above it, such as an open drawer.
    """
    state = panda.state
    around = surroundings(panda, state, (name,))
    hand = hand_at(grasp.T, grasp.width_m)
    item = together([hand, shape_of(panda, name, state)]).shifted(np.array([0.0, 0.0, RISE_M]))
    up = np.array([0.0, 0.0, 1.0])

    def is_free(start_m: Array, way: Array, length_m: float) -> bool:
        return not any(
            overlaps(item.shifted(start_m + far * way), around).any()
            for far in np.arange(0.0, length_m + 1e-9, STEP_M)
        )

    for length_m in np.arange(0.0, FURTHEST_M + 1e-9, STEP_M):
        for yaw in np.linspace(0.0, 2 * np.pi, YAWS, endpoint=False) if length_m else (0.0,):
            way = (np.array([np.cos(yaw), np.sin(yaw), 0.0]) + up) / np.sqrt(2.0)
            end_m: Array = length_m * way
            if is_free(np.zeros(3), way, length_m) and is_free(end_m, up, CLEAR_M):
                return end_m
    return np.zeros(3)


PICK = PandaSkill(
    Skill(
        'pick',
        ('object',),
        'grip an object from above, as a whole, by its rim or by its handle, and lift it; the '
        'grasp is chosen from its shape',
        ('pick_up', 'grasp'),
    ),
    _run,
)
