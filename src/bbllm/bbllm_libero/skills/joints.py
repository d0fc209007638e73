"""Drawers, doors and knobs: motions of the hand along what a joint lets move."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm_libero.panda import CLOSE, OPEN, JointInfo, Panda, State
from bbllm_libero.skills.grasps import Grasp, free_way, grasps_on, ordered
from bbllm_libero.skills.hand import tips
from bbllm_libero.skills.motion import (
    close_hand,
    move,
    open_hand,
    reach_over,
    shape_hand,
)
from bbllm_libero.skills.reach import top_down, turn_cost
from bbllm_libero.skills.solids import Array, Solids, body_solids, surroundings, together

AHEAD_M, AHEAD_RAD = 0.03, 0.25
"""How far ahead of the joint the hand is led."""
BEFORE_M, THICK_M = 0.04, 0.0105
"""Where a push begins before it touches, and half the thickness of the fingers [m]."""
TRIED, ENOUGH = 600, 8
"""Grasps whose room is looked at, and with room."""
LEANS = np.radians([0.0, 20.0, 35.0, 50.0])
"""How far the hand leans back from what it pushes [rad]."""


def motion_of(joint: JointInfo, by: float) -> Array:
    """Return how a joint moves its body when its position changes, shape (4, 4)."""
    axis, anchor = np.asarray(joint.axis, dtype=float), np.asarray(joint.anchor_m, dtype=float)
    D = np.eye(4)
    if joint.kind == 'slide':
        D[:3, 3] = by * axis
    else:
        D[:3, :3] = Rotation.from_rotvec(by * axis).as_matrix()
        D[:3, 3] = anchor - D[:3, :3] @ anchor
    return D


def approaches(towards: Array) -> Iterator[Array]:
    """
    Yield orientations of the hand, shape (3, 3), from straight down to straight *towards*.

    *towards* is a horizontal unit vector, shape (3,).
    """
    for pitch in np.radians([90.0, 60.0, 45.0, 30.0, 15.0, 0.0]):
        z = np.cos(pitch) * towards - np.sin(pitch) * np.array([0.0, 0.0, 1.0])
        x = np.cross([0.0, 0.0, 1.0], towards)
        y = np.cross(z, x)
        R = np.column_stack([x, y, z])
        for roll in np.linspace(-np.pi / 2, np.pi / 2, 8, endpoint=False):
            yield R @ Rotation.from_euler('z', roll).as_matrix()


def handle_grasps(panda: Panda, state: State, joint: JointInfo, by: float) -> list[Grasp]:
    """Return grasps of what a joint moves, reachable before and after it has moved by *by*."""
    body = body_solids(panda, joint.owner, state, joint.body)
    around = surroundings(panda, state, ())
    D = motion_of(joint, by)
    if joint.kind == 'slide':
        way = np.asarray(joint.axis, dtype=float) * np.sign(by)
        front = (body.centres_m @ way).max()
        part = body.chosen(body.centres_m @ way > front - 0.012)
        rolls = approaches(-way)
    else:
        part = body
        rolls = approaches(np.array([1.0, 0.0, 0.0]))
    found: list[Grasp] = []
    for R in rolls:
        found += grasps_on(part, R, part.middle_m)
    best = ordered(found)[:TRIED]
    for grasps in (best, [grasp.narrow() for grasp in best]):
        chosen = ordered(list(islice(_with_room(grasps, state, around, D), ENOUGH)))
        if chosen:
            return chosen
    return []


def _with_room(grasps: Sequence[Grasp], state: State, around: Solids, D: Array) -> Iterator[Grasp]:
    """Yield grasps that the arm reaches before and after a motion *D*, with room for the hand."""
    for grasp in grasps:
        if not free_way(grasp.T, around, grasp.opening_m, way_m=0.07):
            continue
        best = None
        for T in (grasp.T, grasp.T @ np.diag([-1.0, -1.0, 1.0, 1.0])):
            first, last = turn_cost(T, state.q), turn_cost(D @ T, state.q)
            if first is not None and last is not None and (best is None or first + last < best[0]):
                best = first + last, T
        if best is not None:
            yield replace(grasp, T=best[1], cost=grasp.cost + 0.3 * best[0])


def take_along(
    panda: Panda,
    joint: JointInfo,
    goal: float,
    done: Callable[[float], bool],
    grasp: Grasp,
) -> bool:
    """Grip a part and lead it until a joint is where *done* wants it; return whether it is."""
    grip = shape_hand(panda, grasp.opening_m)
    reach_over(panda, grasp.T, 0.07, grip)
    move(panda, grasp.T, grip, near_m=0.005, near_rad=0.06, most=40)
    close_hand(panda)
    held = tips(panda.state)
    start = panda.state.joints[joint.name]
    for _ in range(90):
        q = panda.state.joints[joint.name]
        if done(q):
            break
        ahead = AHEAD_M if joint.kind == 'slide' else AHEAD_RAD
        led = q - start + float(np.clip(goal - q, -ahead, ahead))
        move(panda, motion_of(joint, led) @ held, CLOSE, near_m=0.0, most=1)
    reached = done(panda.state.joints[joint.name])
    open_hand(panda, most=6)
    back = tips(panda.state)
    back[:3, 3] -= 0.07 * back[:3, 2]
    move(panda, back, OPEN, near_m=0.02, most=25)
    return reached


def push_poses(
    panda: Panda, state: State, joint: JointInfo, by: float
) -> tuple[Array, Array] | None:
    """
    Return a pose of closed fingers that touch what a joint moves, and which way they push it.

    The hand leans back as far as it needs to have room beside the fixture also at the end.
    """
    body = body_solids(panda, joint.owner, state, joint.body)
    fixed = [
        body_solids(panda, joint.owner, state, part)
        for part in {piece.body for piece in panda.shape(joint.owner)} - {joint.body}
    ]
    around = together([surroundings(panda, state, (joint.owner,)), *fixed])
    point, way = contact_point(body, joint, by)
    across = np.array([-way[1], way[0], 0.0])
    yaw = float(np.arctan2(way[1], way[0]))
    end_m = (motion_of(joint, by) @ np.append(point, 1.0))[:3]
    for lean in LEANS:
        found = []
        for turn in (yaw, yaw + np.pi):
            T = top_down(point, turn)
            T[:3, :3] = Rotation.from_rotvec(-lean * across).as_matrix() @ T[:3, :3]
            T[:3, 3] -= THICK_M * way
            end = T.copy()
            end[:3, 3] += end_m - point
            costs = [turn_cost(pose, state.q) for pose in (T, end)]
            room = all(free_way(pose, around, 0.0, way_m=0.0) for pose in (T, end))
            if room and None not in costs:
                found.append((costs[0] or 0.0, T))
        if found:
            return min(found, key=lambda one: one[0])[1], way
    return None


def push_along(
    panda: Panda, joint: JointInfo, goal: float, done: Callable[[float], bool]
) -> bool | None:
    """
    Push a part with closed fingers until a joint's position satisfies *done*.

    Return whether it does; None where the hand has no room to push.
    """
    start = panda.state.joints[joint.name]
    poses = push_poses(panda, panda.state, joint, goal - start)
    if poses is None:
        return None
    T, way = poses
    before = T.copy()
    before[:3, 3] -= BEFORE_M * way
    reach_over(panda, before, 0.08, CLOSE)
    move(panda, before, CLOSE, near_m=0.012, near_rad=0.15, most=40)
    for _ in range(110):
        q = panda.state.joints[joint.name]
        if done(q):
            break
        ahead = 0.06 if joint.kind == 'slide' else 0.3
        led = motion_of(joint, q - start + float(np.clip(goal - q, -ahead, ahead)))
        aim = T.copy()
        aim[:3, 3] = (led @ np.append(T[:3, 3], 1.0))[:3]
        move(panda, aim, CLOSE, near_m=0.0, most=1)
    reached = done(panda.state.joints[joint.name])
    back = tips(panda.state)
    back[:3, 3] += [0.0, 0.0, 0.06]
    back[:3, 3] -= 0.04 * way
    move(panda, back, CLOSE, near_m=0.02, most=20)
    return reached


def contact_point(body: Solids, joint: JointInfo, by: float) -> tuple[Array, Array]:
    """Return where to push a body, and which way the point begins to move, shape (3,) each."""
    axis = np.asarray(joint.axis, dtype=float)
    if joint.kind == 'slide':
        way = axis * np.sign(by)
        back = (
            body.centres_m @ way
            - (np.abs(np.einsum('nij,i->nj', body.turns, way)) * body.halves_m).sum(1)
        ).min()
        point = body.chosen(body.centres_m @ way < back + 0.03).middle_m
        return point - way * (point @ way - back), way
    anchor = np.asarray(joint.anchor_m, dtype=float)
    arms = body.centres_m - anchor
    arms = arms - np.outer(arms @ axis, axis)
    far = int(np.linalg.norm(arms, axis=1).argmax())
    way = np.cross(axis, arms[far]) * np.sign(by)
    way /= np.linalg.norm(way)
    return body.centres_m[far], way
