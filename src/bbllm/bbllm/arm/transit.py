"""
Getting from one posture to another without touching anything.

First what is quick and looks sensible, then what is thorough: the straight joint move; straight
up, over, straight down, at several heights; by way of the ready posture turned towards either
end; at last a random search in joint space.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CollisionChecker, Contact, Ignore
from bbllm.arm.driver import JointTrajectory
from bbllm.arm.interpolation import sample
from bbllm.arm.kinematics import forward
from bbllm.arm.limits import Q_READY
from bbllm.arm.random_search import find_way
from bbllm.arm.reachability import raised
from bbllm.arm.straight_line import line_path, path_move
from bbllm.arm.trajectory import NoPathError, blend, concatenate, joint_move, waypoint_move

Array = NDArray[np.float64]

_CORNER_SAMPLES = 12
_RISES_M = (0.06, 0.12, 0.2, 0.3)
"""Heights that are tried for going over things [m]."""


def plan_transit(
    q_start: Array,
    q_goal: Array,
    checker: CollisionChecker,
    *,
    scale: float = 1.0,
    ignore: Ignore = (),
) -> JointTrajectory:
    """
    Move to a joint position around what stands in the way, from rest to rest.

    Tries the straight joint move, then raised ways over, then a random search (seeded, so the
    same question has the same answer).

    Args:
        q_start: Where the arm stands, shape (7,) [rad].
        q_goal: Where it goes, shape (7,) [rad].
        checker: The things around, and what is held.
        scale: Share of the velocity and acceleration limits to use, in (0, 1].
        ignore: What may be touched.

    Raises:
        NoPathError: An end touches something, or no way was found; names what is in the way.
    """
    direct = joint_move(q_start, q_goal, scale=scale)
    blocker = checker.path_clear(direct, ignore)
    if blocker is None:
        return direct
    for q, place in ((q_start, 'where the arm stands'), (q_goal, 'where the arm is to go')):
        contacts = checker.clear(q, ignore)
        if contacts:
            raise _in_the_way(f'{contacts[0]} touch {place}', contacts)
    for up, over, down in _raised_ways(q_start, q_goal, scale):
        if all(checker.path_clear(part, ignore) is None for part in (up, over, down)):
            risen = join(up, over, checker, scale=scale, ignore=ignore)
            return join(risen, down, checker, scale=scale, ignore=ignore)
    for turned in (q_start, q_goal):
        ready = np.concatenate([turned[:1], Q_READY[1:]])
        way = [np.asarray(q_start), ready, np.asarray(q_goal)]
        if checker.path_clear(np.stack(way), ignore) is None:
            return _played(way, checker, scale, ignore)
    found = find_way(q_start, q_goal, lambda path: checker.path_clear(path, ignore) is None)
    if found is None:
        raise _in_the_way(f'{blocker} are in the way, and no way around was found', [blocker])
    return _played(found, checker, scale, ignore)


def join(
    first: JointTrajectory,
    second: JointTrajectory,
    checker: CollisionChecker,
    *,
    scale: float = 1.0,
    ignore: Ignore = (),
) -> JointTrajectory:
    """
    Put two motions one after the other, without a stop between them where that is free.

    While both overlap the corner is rounded; the first two fifths of the first motion and the
    last two of the second, such as the end of a descent, stay exactly as they were.

    Args:
        first: A motion that ends where *second* starts.
        second: The motion after it.
        checker: The things around, and what is held.
        scale: Share of the velocity and acceleration limits to use, in (0, 1].
        ignore: What may be touched.
    """
    rounded, saved_s = blend(first, second, scale=scale)
    corner = np.linspace(first.duration_s - saved_s, first.duration_s, _CORNER_SAMPLES)
    if checker.path_clear(sample(rounded, corner)[0], ignore) is None:
        return rounded
    return concatenate(first, second)


def _raised_ways(
    q_start: Array, q_goal: Array, scale: float
) -> Iterator[tuple[JointTrajectory, ...]]:
    """Yield motions straight up, over, and straight down, lowest first."""
    for rise_m in _RISES_M:
        try:
            up = line_path(q_start, raised(forward(q_start), rise_m))
            down = line_path(q_goal, raised(forward(q_goal), rise_m))[::-1]
            yield (
                path_move(up, scale=scale),
                joint_move(up[-1], down[0], scale=scale),
                path_move(down, scale=scale),
            )
        except NoPathError:
            continue  # one of the ends cannot rise that far; another height may do


def _played(
    way: list[Array], checker: CollisionChecker, scale: float, ignore: Ignore
) -> JointTrajectory:
    """Time a way; with rounded corners where these are free, else with a stop at each."""
    rounded = waypoint_move(way, scale=scale)
    if checker.path_clear(rounded, ignore) is None:
        return rounded
    legs = [joint_move(a, b, scale=scale) for a, b in zip(way, way[1:], strict=False)]
    return concatenate(*legs)


def _in_the_way(reason: str, contacts: list[Contact]) -> NoPathError:
    names = tuple(dict.fromkeys(contact.second for contact in contacts))
    return NoPathError(f'No free way: {reason}.', names)
