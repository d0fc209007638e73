"""`pick(object)`: close the fingers on an object from above, and lift it."""

from collections.abc import Sequence

import numpy as np

from bbllm.core.text import listed
from bbllm.core.types import Code, Skill
from bbllm_libero.panda import Panda, State
from bbllm_libero.skills.grasps import Grasp, free_way, grasps_on, ordered
from bbllm_libero.skills.hand import hand_at, tips
from bbllm_libero.skills.motion import (
    CLOSE,
    OPEN,
    clear_height_m,
    close_hand,
    move,
    open_hand,
    through,
)
from bbllm_libero.skills.reach import top_down, turn_cost
from bbllm_libero.skills.skill import PandaSkill, Result, done, failed, movable_names, refused
from bbllm_libero.skills.solids import Array, shape_of, surroundings

ATTEMPTS = 3
"""Grasps that are tried before a pick fails."""
LIFT_M = 0.06
"""How far an object is lifted to see that it comes along [m]."""
HOVER_M = 0.06
"""Height above a grasp from which the hand comes straight down [m]."""
EMPTY_M = 0.0008
"""Fingers nearer to each other than this have closed on nothing [m]."""
YAWS = 16
"""Turns of the hand that are tried, over half a turn."""


def find_grasps(
    panda: Panda, state: State, name: str, missed: Sequence[Grasp]
) -> tuple[list[Grasp], bool]:
    """Return reachable grasps with room, the best first; and whether there is any without room."""
    body = shape_of(panda, name, state)
    around = surroundings(panda, state, (name,))
    middle = body.middle_m
    found = []
    for yaw in np.linspace(-np.pi / 2, np.pi / 2, YAWS, endpoint=False):
        R = top_down(middle, yaw)[:3, :3]
        found += grasps_on(body, R, middle)
    some = bool(found)
    chosen: list[Grasp] = []
    for grasp in ordered(found)[:400]:
        if len(chosen) >= 12:
            break
        if any(np.linalg.norm(grasp.T[:3, 3] - old.T[:3, 3]) < 0.012 for old in missed):
            continue
        if not free_way(grasp.T, body, way_m=0.0) or not free_way(grasp.T, around):
            continue
        best = None
        for turned in (grasp.T, _flipped(grasp.T)):
            turn = turn_cost(turned, state.q)
            if turn is not None and (best is None or turn < best[0]):
                best = turn, turned
        if best is not None:
            turn, T = best
            chosen.append(Grasp(T, grasp.width_m, grasp.kind, grasp.cost + 0.15 * turn))
    return ordered(chosen), some


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
    state = panda.state
    around = surroundings(panda, state, ())
    start = tips(state)
    hand = hand_at(np.eye(4)).moved(_turn(grasp.T))
    over = clear_height_m(around, start[:3, 3], grasp.T[:3, 3], hand) + 0.02
    hover = grasp.T.copy()
    hover[2, 3] = max(grasp.T[2, 3] + HOVER_M, over)
    ways = []
    if start[2, 3] < over:
        rise = start.copy()
        rise[2, 3] = over
        ways.append(rise)
    through(panda, [*ways, hover], OPEN, near_m=0.012, near_rad=0.1)
    move(panda, grasp.T, OPEN, near_m=0.004, near_rad=0.06, most=40)
    width = close_hand(panda)
    before = panda.state.objects[name].position_m[2]
    up = tips(panda.state)
    up[2, 3] += LIFT_M
    move(panda, up, CLOSE, near_m=0.015, most=25)
    state = panda.state
    risen = state.objects[name].position_m[2] - before
    if min(width, state.width_m) > EMPTY_M and risen > LIFT_M / 2 - 0.01:
        return True
    open_hand(panda)
    back = tips(panda.state)
    back[2, 3] += HOVER_M
    move(panda, back, OPEN, near_m=0.02)
    return False


def _turn(T: Array) -> Array:
    only = T.copy()
    only[:3, 3] = 0.0
    return only


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
