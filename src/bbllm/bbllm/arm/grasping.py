"""Which posture to take for a tool pose: among all directions and all solutions, the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CollisionChecker, Contact, Ignore
from bbllm.arm.limits import DDQ_MAX, DQ_MAX, Q_MAX, Q_MIN, Q_READY
from bbllm.arm.reachability import Q7_GRIDS, approach_postures
from bbllm.arm.straight_line import line_path, quiet_path
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
_SWING_WEIGHT = 1.5
"""What the farthest turn of a joint on the descent costs; large near singularities [s/rad]."""
_LIKING_S = 0.05
"""What each place further down the list of poses costs [s]."""
_SPREAD = 4
"""Of the solutions of one pose on one branch, every so many-th is tried, best first."""
_TRIES = 40
"""Most candidates that are looked at."""
_WHIRLING_TRIES = 3
"""Most candidates of those that go down a hard way, where there is no other."""


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
    path: Array
    """Joint positions on the straight line from hover to end, for `path_move`; reversed, it
    leads up again; shape (n, 7) [rad]."""
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
    search = _Search(poses, q_now, checker, ignore, widths_m)
    whirling: list[_Candidate] = []
    for candidate in _ranked(poses, q_now, hover_m)[:_TRIES]:
        path = quiet_path(candidate.q_hover, poses[candidate.index], candidate.q_end[6])
        if path is None:
            whirling.append(candidate)
        elif search.add(candidate, path) and len(search.direct) == count:
            return search.direct
    for candidate in whirling[: 0 if search.found else _WHIRLING_TRIES]:
        try:
            search.add(candidate, line_path(candidate.q_hover, poses[candidate.index]))
        except NoPathError as error:
            search.reason = search.reason or str(error)
    if not search.found:
        raise search.nothing_left()
    return search.found[:count]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A pair of postures before anything has been checked."""

    cost: float
    index: int
    q_hover: Array
    q_end: Array


class _Search:
    """What has been found so far, and what was touched."""

    def __init__(
        self,
        poses: Sequence[Array],
        q_now: Array,
        checker: CollisionChecker | None,
        ignore: Ignore,
        widths_m: Sequence[float] | None,
    ) -> None:
        self._poses, self._q_now = poses, q_now
        self._checker, self._ignore, self._widths_m = checker, ignore, widths_m
        self._contacts: list[Contact] = []
        self.direct: list[Approach] = []
        self.detour: list[Approach] = []
        self.reason = ''

    @property
    def found(self) -> list[Approach]:
        """Return all that will do, those with a direct transit first."""
        return self.direct + self.detour

    def add(self, candidate: _Candidate, path: Array) -> bool:
        """Keep a candidate if it touches nothing; tell whether its transit is direct."""
        direct = True
        if self._checker is not None:
            if self._widths_m is not None:
                self._checker.open_to(self._widths_m[candidate.index])
            contact = self._first_contact(self._checker, path)
            if contact is not None:
                self._contacts.append(contact)
                return False
            direct = self._checker.path_clear(np.stack([self._q_now, path[0]])) is None
        approach = Approach(
            index=candidate.index,
            T_base_tcp=self._poses[candidate.index],
            q_hover=path[0],
            q_end=path[-1],
            path=path,
            direct=direct,
            cost=candidate.cost,
        )
        (self.direct if direct else self.detour).append(approach)
        return direct

    def _first_contact(self, checker: CollisionChecker, path: Array) -> Contact | None:
        """Return what the hover (nothing may be touched) or the descent touches first."""
        return checker.path_clear(path[:1]) or checker.path_clear(
            path, self._ignore, clearance_m=DESCENT_CLEARANCE_M
        )

    def nothing_left(self) -> NoPathError:
        """Say whether reach or contact was the reason."""
        if not self._contacts:
            return NoPathError(
                self.reason or 'The arm cannot reach there from above within its limits.'
            )
        names = [item.second for item in self._contacts]
        most = max(dict.fromkeys(names), key=names.count)
        contact = self._contacts[names.index(most)]
        return NoPathError(
            f'On the way down {contact.first} would touch {contact.second} '
            f'in each of the {len(names)} postures that were tried.',
            tuple(dict.fromkeys(names)),
        )


def _ranked(poses: Sequence[Array], q_now: Array, hover_m: float) -> list[_Candidate]:
    """Return the postures above each pose, cheapest first, well spread."""
    for n_q7 in Q7_GRIDS:
        found = _postures(poses, q_now, hover_m, n_q7)
        if found:
            break
    return sorted(found, key=lambda candidate: candidate.cost)


def _postures(poses: Sequence[Array], q_now: Array, hover_m: float, n_q7: int) -> list[_Candidate]:
    found: list[_Candidate] = []
    for index, pose in enumerate(poses):
        ends, hovers = approach_postures(pose, hover_m, n_q7)
        if not len(ends):
            continue
        costs = _cost(hovers, ends, q_now) + _LIKING_S * index
        for row in np.argsort(costs)[:: _SPREAD if len(costs) > 2 * _SPREAD else 1]:
            found.append(_Candidate(float(costs[row]), index, hovers[row], ends[row]))
    return found


def _cost(hovers: Array, ends: Array, q_now: Array) -> Array:
    """Return what each posture costs, in terms of the time to get there, shape (n,) [s]."""
    way = np.abs(hovers - q_now)
    ramps = np.sqrt(4 * way / DDQ_MAX)
    travel = np.where(way < DQ_MAX**2 / DDQ_MAX, ramps, way / DQ_MAX + DQ_MAX / DDQ_MAX)
    comfort = (hovers - Q_READY) ** 2 @ _COMFORT_WEIGHTS
    room = np.minimum(np.minimum(ends, hovers) - Q_MIN, Q_MAX - np.maximum(ends, hovers))
    cramped = (np.maximum(_ROOM_RAD - room, 0.0) ** 2).sum(axis=1) * _ROOM_WEIGHT
    swing = np.abs(ends - hovers).max(axis=1) * _SWING_WEIGHT
    return np.asarray(travel.max(axis=1) + comfort + cramped + swing)
