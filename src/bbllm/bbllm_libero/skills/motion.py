"""
Motions of the hand through robosuite's OSC_POSE controller: closed loop on the measured pose.

Each control step commands a goal relative to the measured pose, so that the loop outside is a
proportional one, with a slow integral against the weight of what is held. Every motion has a
time-out in steps and returns whether it arrived.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm_libero.panda import CLOSE, OPEN, Panda, State
from bbllm_libero.skills.hand import OPEN_M, hand_at, tips
from bbllm_libero.skills.solids import Array, Solids, surroundings

KEEP = 0.0
"""Value of an action that leaves the fingers where they are."""
GAIN = 1.5
"""Of the outer loop: the controller is critically damped, which makes it 0.8 of critical."""
INTEGRAL = 0.08
NEAR_M, NEAR_RAD = 0.004, 0.06
"""How near to a pose a motion ends."""
FINGERS_M = 0.006
"""How near to a distance the fingers are stopped [m]."""
STILL_M = 0.0007
"""Slower than this per step, the hand stands still [m]."""


def error_to(state: State, T: Array) -> tuple[Array, Array]:
    """Return what is missing to a pose: a vector [m] and a rotation vector [rad], base axes."""
    now = tips(state)
    turn = Rotation.from_matrix(T[:3, :3] @ now[:3, :3].T).as_rotvec()
    return T[:3, 3] - now[:3, 3], turn


def move(
    panda: Panda,
    T: Array,
    grip: float,
    *,
    near_m: float = NEAR_M,
    near_rad: float = NEAR_RAD,
    most: int = 60,
    speed: float = 1.0,
    until: Callable[[State], bool] | None = None,
) -> bool:
    """
    Move the grip site to a pose, shape (4, 4), straight on.

    Args:
        panda: The arm.
        T: The pose.
        grip: What the fingers do meanwhile: OPEN, CLOSE or KEEP.
        near_m: Arrived within this.
        near_rad: Arrived within this.
        most: Time-out in control steps.
        speed: Share of the controller's largest goal, 0 to 1.
        until: Ends the motion as arrived.

    Returns:
        Whether it arrived; False also where it stands still for eight steps.
    """
    scale = np.asarray(panda.task.action_scale, dtype=float)[:6]
    missed = np.zeros(3)
    still = 0
    for _ in range(most):
        state = panda.state
        if until is not None and until(state):
            return True
        gap, turn = error_to(state, T)
        distance, angle = float(np.linalg.norm(gap)), float(np.linalg.norm(turn))
        if distance < near_m and angle < near_rad:
            return True
        if distance < 0.03:
            missed = np.clip(missed + INTEGRAL * gap, -0.01, 0.01)
        goal = np.concatenate([GAIN * gap + missed, GAIN * turn]) / scale
        goal[:3] *= min(1.0, speed / max(np.abs(goal[:3]).max(), 1e-9))
        goal[3:] *= min(1.0, speed / max(np.abs(goal[3:]).max(), 1e-9))
        before = tips(state)
        after = tips(panda.step(np.append(goal, grip)))
        moved = float(np.linalg.norm(after[:3, 3] - before[:3, 3]))
        turned = float(np.abs(after[:3, :3] - before[:3, :3]).max())
        still = still + 1 if moved < STILL_M and turned < 0.004 else 0
        if still >= 8:
            return False
    return False


def through(
    panda: Panda, poses: Sequence[Array], grip: float, *, near_m: float, near_rad: float
) -> bool:
    """Move through poses; those before the last are passed within 3 cm and 0.3 rad."""
    for T in poses[:-1]:
        move(panda, T, grip, near_m=0.03, near_rad=0.3)
    return move(panda, poses[-1], grip, near_m=near_m, near_rad=near_rad)


def stay(panda: Panda, grip: float, steps: int) -> None:
    """Stand still while the fingers move."""
    T = tips(panda.state)
    scale = np.asarray(panda.task.action_scale, dtype=float)[:6]
    for _ in range(steps):
        gap, turn = error_to(panda.state, T)
        goal = np.clip(np.concatenate([gap, turn]) / scale, -1.0, 1.0)
        panda.step(np.append(goal, grip))


def close_hand(panda: Panda, most: int = 14) -> float:
    """Close the fingers until they stand still, and return their distance [m]."""
    width = panda.state.width_m
    still = 0
    for i in range(most):
        stay(panda, CLOSE, 1)
        still = still + 1 if abs(panda.state.width_m - width) < 0.0005 else 0
        width = panda.state.width_m
        if i >= 4 and still >= 2:
            break
    return width


def open_hand(panda: Panda, most: int = 10, enough_m: float = 0.07) -> None:
    """Open the fingers."""
    for _ in range(most):
        if panda.state.width_m >= enough_m:
            break
        stay(panda, OPEN, 1)


def shape_hand(panda: Panda, opening_m: float, most: int = 20) -> float:
    """Open the fingers as far as a grasp has room for, and return what they do from then on."""
    if opening_m >= OPEN_M:
        return OPEN
    for _ in range(most):
        missing = opening_m - panda.state.width_m
        if abs(missing) < FINGERS_M:
            break
        stay(panda, OPEN if missing > 0.0 else CLOSE, 1)
    return KEEP


def clear_height_m(around: Solids, start_m: Array, end_m: Array, below: Solids) -> float:
    """
    Return how high the grip site has to be on a straight way over all solids, shape (3,) each.

    *below* is what the hand moves, fingers, palm and the object in it, relative to the grip site.
    """
    if not len(around) or not len(below):
        return -np.inf
    way = end_m[:2] - start_m[:2]
    length = float(np.linalg.norm(way))
    steps = max(2, int(length / 0.02) + 1)
    points = start_m[:2] + np.linspace(0.0, 1.0, steps)[:, None] * way  # (k, 2)
    low_a, high_a = around.low_m, around.high_m
    low_b, high_b = below.low_m, below.high_m
    height = -np.inf
    for point in points:
        apart = (
            (low_b[:, None, :2] + point > high_a[None, :, :2])
            | (high_b[:, None, :2] + point < low_a[None, :, :2])
        ).any(-1)
        needed = np.where(apart, -np.inf, high_a[None, :, 2] - low_b[:, None, 2])
        height = max(height, float(needed.max()))
    return height


def reach_over(panda: Panda, T: Array, way_m: float, grip: float = OPEN) -> None:
    """Move to a pose before another one, over all that is in between."""
    state = panda.state
    start = tips(state)
    before = T.copy()
    before[:3, 3] -= way_m * T[:3, 2]
    only = start.copy()
    only[:3, 3] = 0.0
    around = surroundings(panda, state, ())
    over = clear_height_m(around, start[:3, 3], before[:3, 3], hand_at(only)) + 0.02
    ways = []
    if start[2, 3] < over:
        rise = start.copy()
        rise[2, 3] = over
        ways.append(rise)
    if before[2, 3] < over:
        above = before.copy()
        if T[2, 2] < -0.5:  # it comes down along its approach, also where that leans
            above[:3, 3] += (over - before[2, 3]) / T[2, 2] * T[:3, 2]
        else:
            above[2, 3] = over
        ways.append(above)
    through(panda, [*ways, before], grip, near_m=0.015, near_rad=0.1)
