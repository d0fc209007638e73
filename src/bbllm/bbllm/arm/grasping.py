"""Which posture to take for a tool pose: among all directions and all solutions, the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CollisionChecker, Contact, Ignore
from bbllm.arm.limits import DDQ_MAX, DQ_MAX, Q_MAX, Q_MIN, Q_READY
from bbllm.arm.reachability import approach_postures
from bbllm.arm.straight_line import line_path
from bbllm.arm.trajectory import NoPathError

Array = NDArray[np.float64]

DESCENT_CLEARANCE_M = 0.001
"""What the hand keeps from things on its way down [m]."""

_COMFORT_WEIGHTS: Array = np.array([0.0, 0.2, 0.6, 0.1, 0.5, 0.1, 0.0])
"""How much each joint's distance from the ready posture counts: an elbow that swings out
(joints 3 and 5) sweeps neighbours [s/rad^2]."""
_ROOM_RAD = 0.4
"""Nearer than this to a limit begins to cost [rad]."""
_ROOM_WEIGHT = 4.0
"""[s/rad^2]"""
_LIKING_S = 0.05
"""What each place further down the list of poses costs [s]."""
_SPREAD = 4
"""Of the solutions of one pose on one branch, every so many-th is tried, best first."""
_TRIES = 40
"""Most candidates that are looked at for contacts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """A way to come straight down on a pose: where to hover, where to end."""

    index: int
    """Which of the poses that were asked for."""
    T_base_tcp: Array
    """Tool pose at the end, shape (4, 4)."""
    q_hover: Array
    """Joint position at the hover pose, shape (7,) [rad]."""
    q_end: Array
    """Joint position at the end, on the same straight line and branch, shape (7,) [rad]."""
    direct: bool
    """Whether the straight joint move to the hover pose was found to touch nothing."""
    cost: float
    """Smaller is better; only good for comparing [s]."""


def choose_grasp_configuration(
    poses: Sequence[Array],
    q_now: Array,
    *,
    hover_m: float = 0.1,
    checker: CollisionChecker | None = None,
    ignore: Ignore = (),
    widths_m: Sequence[float] | None = None,
    count: int = 1,
) -> list[Approach]:
    """
    Choose postures for a pick or a place: the best few, best first.

    Every pose of *poses* (a grasp in several directions, say) with every solution of inverse
    kinematics is ranked by how near it is to a comfortable posture and to *q_now* and how far
    from the limits. Kept are those whose straight descent is within limits and, with a checker,
    whose hover and descent touch nothing. Those with a direct transit from *q_now* come first.

    Args:
        poses: T_base_tcp that would all do, each of shape (4, 4), in order of liking.
        q_now: Where the arm is, shape (7,) [rad].
        hover_m: Height of the hover pose above the end pose, along base z [m].
        checker: Collision model, or None to look at limits only.
        ignore: What may be touched on the descent (not on the transit).
        widths_m: How far the fingers are open on the descent to each pose [m]; None leaves
            the checker as it is.
        count: How many to return at most.

    Raises:
        NoPathError: Nothing is left; says whether reach or contact was the reason, and
            `blockers` names what was touched.
    """
    direct: list[Approach] = []
    detour: list[Approach] = []
    contacts: list[Contact] = []
    reason = ''
    for cost, index, q_hover in _ranked(poses, q_now, hover_m):
        try:
            _, path = line_path(q_hover, poses[index])
        except NoPathError as error:
            reason = str(error)
            continue
        straight = True
        if checker is not None:
            if widths_m is not None:
                checker.open_to(widths_m[index])
            contact = _first_contact(checker, path, ignore)
            if contact is not None:
                contacts.append(contact)
                continue
            straight = checker.path_clear(np.stack([q_now, q_hover])) is None
        (direct if straight else detour).append(
            Approach(
                index=index,
                T_base_tcp=poses[index],
                q_hover=q_hover,
                q_end=path[-1],
                direct=straight,
                cost=cost,
            )
        )
        if len(direct) == count:
            break
    if not direct and not detour:
        raise _nothing_left(contacts, reason)
    return (direct + detour)[:count]


def _ranked(
    poses: Sequence[Array], q_now: Array, hover_m: float
) -> Iterator[tuple[float, int, Array]]:
    """Yield (cost, index of the pose, posture at the hover), cheapest first, well spread."""
    found: list[tuple[float, int, Array]] = []
    for index, pose in enumerate(poses):
        ends, hovers = approach_postures(pose, hover_m)
        if not len(ends):
            continue
        costs = _cost(hovers, ends, q_now) + _LIKING_S * index
        for row in np.argsort(costs)[:: _SPREAD if len(costs) > 2 * _SPREAD else 1]:
            found.append((float(costs[row]), index, hovers[row]))
    found.sort(key=lambda item: item[0])
    yield from found[:_TRIES]


def _cost(hovers: Array, ends: Array, q_now: Array) -> Array:
    """Return what each posture costs, in terms of the time to get there, shape (n,) [s]."""
    way = np.abs(hovers - q_now)
    ramps = np.sqrt(4 * way / DDQ_MAX)
    travel = np.where(way < DQ_MAX**2 / DDQ_MAX, ramps, way / DQ_MAX + DQ_MAX / DDQ_MAX)
    comfort = (hovers - Q_READY) ** 2 @ _COMFORT_WEIGHTS
    room = np.minimum(np.minimum(ends, hovers) - Q_MIN, Q_MAX - np.maximum(ends, hovers))
    cramped = (np.maximum(_ROOM_RAD - room, 0.0) ** 2).sum(axis=1) * _ROOM_WEIGHT
    return np.asarray(travel.max(axis=1) + comfort + cramped)


def _first_contact(checker: CollisionChecker, path: Array, ignore: Ignore) -> Contact | None:
    """Return what the hover (nothing may be touched) or the descent touches first."""
    return checker.path_clear(path[:1]) or checker.path_clear(
        path, ignore, clearance_m=DESCENT_CLEARANCE_M
    )


def _nothing_left(contacts: Sequence[Contact], reason: str) -> NoPathError:
    if not contacts:
        return NoPathError(reason or 'The arm cannot reach there from above within its limits.')
    names = [item.second for item in contacts]
    most = max(dict.fromkeys(names), key=names.count)
    contact = contacts[names.index(most)]
    return NoPathError(
        f'On the way down {contact.first} would touch {contact.second} '
        f'in each of the {len(contacts)} postures that were tried.',
        tuple(dict.fromkeys(names)),
    )
