"""
From a goal that depends on hidden properties to actions: weigh or try first, then build.

What blocks weigh and which are fixed is in no scene. It is learned from the force on the hand and
from failed lifts, that is, from the calls, outcomes and observations of the episode so far.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations, permutations
from statistics import fmean
from typing import cast

from bbllm.bench.oracle.goal_brief import GoalBrief
from bbllm.core.events import Event
from bbllm.core.observation import Observed, Seven, observed
from bbllm.core.types import MOVABLE, Code, Kind, Outcome, Scene

Point = tuple[float, float]

READING_SD_N = 0.06
"""Deviation of a force reading at rest: 0.2 N a sample, 20 samples, and the hand's motion [N]."""
CERTAIN_SDS = 3.0
"""Two weights differ when their means do by so many deviations."""
MOST_READINGS = 9
"""Most readings of one block: with the first and two rounds of more, one of four is left."""
READINGS_MORE = 3
"""How often a block is weighed again where two weights are too close."""
HELD_ASIDE_M = 0.025
"""How far a held block may be from the middle between the fingers [m]."""
OPEN_M = 0.079
"""Fingers this far apart hold nothing [m]."""
ON_ASIDE_M, ON_HEIGHT_M = 0.015, 0.01
"""How far a block may be from where it stands well on another, aside and in height [m]."""
APART_M, TOUCHING_M = 0.09, 0.057
"""Distance of the centres of two blocks so that the fingers fit in, and at an old place [m]."""
GRIP_BELOW_TOP_M = 0.008
"""How far below the top of a block the finger tips hold it where nothing has shown it [m]."""
FAILED_SPOT_M = 0.03
"""Places this near to one that failed are not tried again [m]."""
INSET_M, AT_CORNER_M = 0.04, 0.02
"""How far inside the table a block in a corner is, and how far from there it may stay [m]."""


@dataclass(frozen=True, slots=True)
class BlockAction:
    """One action on a block."""

    verb: str
    """pick, place, reach, return_to_base or wait."""
    name: str = ''
    pose: Seven | None = None
    """Of the tool centre point, where the action takes one."""


class TaskStage(Enum):
    """How far an episode is."""

    GATHER = 'gather'
    """Something has to be found out first."""
    ACT = 'act'
    DONE = 'done'


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do next, and why."""

    stage: TaskStage
    reason: str
    """One sentence that names what is known."""
    actions: tuple[BlockAction, ...] = ()


@dataclass(frozen=True, slots=True)
class _Deed:
    action: BlockAction
    done: bool
    stuck: bool
    """Whether the block did not rise."""
    seen: Observed | None


class _History:
    """A scene of blocks, and what was done and felt before."""

    def __init__(self, scene: Scene, events: Sequence[Event]):
        blocks = [item for item in scene.objects if item.kind in MOVABLE]
        self.names = tuple(item.name for item in blocks)
        self.now = observed(scene)
        self.deeds = tuple(_deeds(events))
        self._halves = {item.name: item.size_m[2] / 2 or 0.02 for item in blocks}
        self.corners = tuple(
            (item.pose.position_m[0] + i * item.size_m[0] / 2,
             item.pose.position_m[1] + j * item.size_m[1] / 2)
            for item in scene.objects
            if item.kind is Kind.FIXTURE
            for i in (1, -1)
            for j in (1, -1)
        )  # fmt: skip

    def looks(self) -> Iterator[Observed]:
        """Yield every observation, oldest first."""
        yield from (deed.seen for deed in self.deeds if deed.seen is not None)
        yield self.now

    def half_m(self, name: str) -> float:
        """Return half the height of a block [m]."""
        return self._halves[name]

    def held_in(self, look: Observed) -> str | None:
        """Return the block between closed fingers."""
        if look.eef is None or look.fingers_m is None or sum(look.fingers_m) >= OPEN_M:
            return None
        for name, pose in look.blocks.items():
            aside_m = math.dist(pose[:2], look.eef[:2])
            if aside_m <= HELD_ASIDE_M and abs(pose[2] - look.eef[2]) <= self.half_m(name) + 0.005:
                return name
        return None

    def held_after(self, deed: _Deed, held: str | None) -> str | None:
        """Return what is in the hand after a deed: as it was seen, else by its result."""
        if deed.seen is not None and deed.seen.eef is not None and deed.seen.fingers_m is not None:
            return self.held_in(deed.seen)
        if deed.done and deed.action.verb == 'pick':
            return deed.action.name
        return None if deed.done and deed.action.verb == 'place' else held

    def held_now(self) -> str | None:
        """Return the block that is in the hand."""
        if self.now.eef is not None and self.now.fingers_m is not None:
            return self.held_in(self.now)
        held: str | None = None
        for deed in self.deeds:
            held = self.held_after(deed, held)
        return held


def _deeds(events: Sequence[Event]) -> Iterator[_Deed]:
    """Yield the calls of an episode with their outcome and what was seen after it."""
    found: list[tuple[Outcome, Observed | None]] = []
    for data in (event.data for event in events):
        if isinstance(data, Outcome):
            found.append((data, None))
        elif isinstance(data, Observed) and found:
            found[-1] = found[-1][0], data
    for outcome, seen in found:
        action = _action(outcome.call.skill, outcome.call.args)
        stuck = outcome.code is Code.WOULD_NOT_RISE
        yield _Deed(action, outcome.succeeded, stuck, seen)


def _action(skill: str, args: Sequence[str]) -> BlockAction:
    numbers = args[0].split() if args else []
    if skill in ('place', 'reach') and len(numbers) == 7:
        return BlockAction(skill, pose=cast(Seven, tuple(map(float, numbers))))
    return BlockAction(skill, args[0] if args else '')


@dataclass(frozen=True)
class Belief:
    """What is known of the blocks beside where they are."""

    forces_n: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Vertical force while a block was held, by block, a reading each [N]."""
    rose: frozenset[str] = frozenset()
    stuck: frozenset[str] = frozenset()
    """Blocks that were tried and did not rise."""

    def force_n(self, name: str) -> float:
        """Return the mean of a block's readings: the heavier, the less; 0 without any [N]."""
        return fmean(self.forces_n.get(name) or (0.0,))

    def alike(self, a: str, b: str) -> bool:
        """Whether the readings leave open which of two blocks is heavier."""
        na, nb = len(self.forces_n[a]), len(self.forces_n[b])
        doubt_n = CERTAIN_SDS * READING_SD_N * math.sqrt(1 / na + 1 / nb)
        return abs(self.force_n(a) - self.force_n(b)) < doubt_n

    def unsure(self, names: Sequence[str], *, only_heaviest: bool) -> tuple[str, ...]:
        """Return the blocks that have to be weighed again to be put in order."""
        order = sorted(names, key=self.force_n)
        pairs = [(order[0], other) for other in order[1:]] if only_heaviest else []
        doubtful = {
            n for pair in pairs or combinations(order, 2) if self.alike(*pair) for n in pair
        }
        return tuple(n for n in names if n in doubtful and len(self.forces_n[n]) < MOST_READINGS)

    def movable(self, names: Collection[str], n_fixed: int) -> frozenset[str] | None:
        """Return the blocks that can be moved, None where that is not known."""
        if len(self.stuck) == n_fixed:
            return frozenset(names) - self.stuck
        return self.rose if len(self.rose) >= len(names) - n_fixed else None


def learn(history: _History) -> Belief:
    """Return what a history has shown."""
    forces: dict[str, list[float]] = {}
    rose: set[str] = set()
    stuck: set[str] = set()
    held: str | None = None
    for deed in history.deeds:
        held = history.held_after(deed, held)
        if held is not None:
            rose.add(held)
            # A hand that moves feels its own motion too; it stands still after calls that end.
            if deed.seen is not None and deed.seen.force_n is not None and deed.done:
                forces.setdefault(held, []).append(deed.seen.force_n[2])
        elif deed.action.verb == 'pick' and deed.action.name in history.names and deed.stuck:
            stuck.add(deed.action.name)
    known = {name: tuple(values) for name, values in forces.items()}
    return Belief(known, frozenset(rose), frozenset(stuck - rose))


def decide(scene: Scene, events: Sequence[Event], brief: GoalBrief) -> Decision:
    """Return what to do next; the same history and goal give the same answer."""
    history = _History(scene, events)
    table = _Table(history)
    names = history.names
    if not brief.gather:
        return _guess(history, table, brief)
    belief = learn(history)
    if brief.needs == 'weights':
        reason = _weigh(history, brief, belief, table)
    elif brief.needs == 'movable':
        reason = _try(history, brief, belief, table)
    else:
        reason = ''
    if reason:
        return Decision(TaskStage.GATHER, reason, tuple(table.actions))
    order = sorted(names, key=belief.force_n)
    known, free = '', belief.movable(names, brief.n_fixed)
    if brief.needs == 'weights':
        felt = ', '.join(f'{name} ({belief.force_n(name):.2f} N)' for name in order)
        known = f'From heavy to light: {felt}. '
        if any(name not in belief.forces_n for name in order):
            known = 'No force is measured, so that this is a guess. '
    elif brief.needs == 'movable' and free is not None:
        fixed = [name for name in names if name not in free]
        known = f'Movable: {_listed(sorted(free)) or "none"}. Fixed: {_listed(fixed) or "none"}. '
    wanted = _lay_out(table, brief, order, free)
    if not table.actions:
        return Decision(TaskStage.DONE, f'{known}{wanted} That is so now.')
    return Decision(TaskStage.ACT, f'{known}{wanted} It is not so yet.', tuple(table.actions))


def _guess(history: _History, table: _Table, brief: GoalBrief) -> Decision:
    """Decide at random and all at once; the task counts as done after that."""
    if history.deeds:
        return Decision(TaskStage.DONE, 'The plan was carried out.')
    order = list(history.names)
    random.Random(f'{brief.seed}').shuffle(order)
    wanted = _lay_out(table, brief, order, frozenset(order[brief.n_fixed :]))
    return Decision(TaskStage.ACT, f'A guess: {wanted}', tuple(table.actions))


def _weigh(history: _History, brief: GoalBrief, belief: Belief, table: _Table) -> str:
    """Add what has to be weighed; return why, '' where every weight is known."""
    new = [name for name in history.names if not belief.forces_n.get(name)]
    done = [deed for deed in history.deeds if deed.done]
    if new and done and all(look.force_n is None for look in history.looks()):
        return ''  # nothing measures forces here, so that more lifting would show nothing
    for name in new:
        table.pick(name)
        table.empty_hand()
    if new:
        return f'Not known yet: the weight of {_listed(new)}. Each is lifted to feel it.'
    close = belief.unsure(history.names, only_heaviest=brief.goal == 'hold')
    for name in close:
        table.pick(name)
        table.actions += [BlockAction('wait')] * READINGS_MORE
        table.empty_hand()
    felt = ', '.join(f'{name} {belief.force_n(name):.2f} N' for name in close)
    return f'The weights are too close, so they are felt again: {felt}.' if close else ''


def _try(history: _History, brief: GoalBrief, belief: Belief, table: _Table) -> str:
    """Add what has to be tried; return why, '' where it is known what can be moved."""
    if belief.movable(history.names, brief.n_fixed) is not None:
        return ''
    # Where too many did not rise, one of the tries has failed for another reason.
    left = [name for name in history.names if name not in belief.rose]
    left.sort(key=[deed.action.name for deed in history.deeds].count)
    for name in left[: max(1, len(left) - brief.n_fixed)]:
        table.pick(name)
    listed = _listed(left)
    return f'Not known yet: what is fixed ({brief.n_fixed}). {listed} may be; lifting shows it.'


def _listed(names: Sequence[str]) -> str:
    return ' and '.join(filter(None, (', '.join(names[:-1]), *names[-1:])))


class _Table:
    """The blocks as they are now, and as they will be after the actions so far."""

    def __init__(self, history: _History):
        self._history = history
        self._poses = dict(history.now.blocks)
        self._homes = _homes(history)
        self._bad = [
            deed.action.pose[:2]
            for deed in history.deeds
            if deed.action.verb == 'place' and not deed.done and deed.action.pose is not None
        ]
        self.corners = history.corners
        self.held = history.held_now()
        self.actions: list[BlockAction] = []

    def pick(self, name: str) -> None:
        """Take a block; what is in the hand, or stands on the block, goes home before."""
        if self.held == name:
            return
        self.empty_hand()
        for above in self.standing_on(name):
            self.put_home(above)
        self.actions.append(BlockAction('pick', name))
        self.held = name

    def empty_hand(self) -> None:
        """Put what is in the hand back where it was, or beside."""
        if self.held is not None:
            self.put_home(self.held)

    def put(self, name: str, at: Point, bottom_m: float, *, like: str | None = None) -> None:
        """
        Set a block down.

        Args:
            name: Which; it is picked first where it is not in the hand.
            at: Where its centre goes, seen from above [m].
            bottom_m: Height of what it is set on [m].
            like: The block whose edges it is aligned with; its own where none is given.
        """
        self.pick(name)
        yaw = _yaw(self._poses[like or name])
        x, y, z = *at, bottom_m + self._history.half_m(name)
        dx, dy, dz = self._in_hand(name, yaw)
        pose = (x + dx, y + dy, z + dz, math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)
        self.actions.append(BlockAction('place', name, pose))
        self._poses[name] = (x, y, z, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
        self.held = None

    def put_on(self, name: str, below: str) -> None:
        """Set a block on another."""
        self.put(name, self.at(below), self._top_m(below), like=below)

    def put_home(self, name: str) -> None:
        """Set a block down where it was at first, or beside."""
        self.put(name, self._free(name), 0.0)

    def at(self, name: str) -> Point:
        """Return where a block is, seen from above [m]."""
        x, y, *_ = self._poses[name]
        return x, y

    def on(self, name: str, below: str) -> bool:
        """Whether a block stands well on another."""
        bottom_m = self._poses[name][2] - self._history.half_m(name)
        return (
            self.held not in (name, below)
            and math.dist(self.at(name), self.at(below)) <= ON_ASIDE_M
            and abs(bottom_m - self._top_m(below)) <= ON_HEIGHT_M
        )

    def standing_on(self, below: str) -> list[str]:
        """Return what rests on a block in any way, the highest first."""
        half_m = self._history.half_m(below)
        found = [
            name
            for name, pose in self._poses.items()
            if name not in (below, self.held)
            and math.dist(self.at(name), self.at(below)) < 2 * half_m
            and pose[2] > self._poses[below][2] + half_m
        ]
        return sorted(found, key=lambda name: -self._poses[name][2])

    def low(self, name: str) -> bool:
        """Whether a block stands on the table itself."""
        return self.held != name and self._poses[name][2] <= 1.5 * self._history.half_m(name)

    def failed(self, at: Point) -> bool:
        """Whether placing something there has failed before."""
        return any(math.dist(at, spot) < FAILED_SPOT_M for spot in self._bad)

    def clear(self, at: Point, besides: Collection[str], apart_m: float = APART_M) -> bool:
        """Whether there is room for a block at a place, some blocks aside."""
        others = (name for name in self._poses if name not in besides and name != self.held)
        return all(math.dist(at, self.at(name)) >= apart_m for name in others)

    def _top_m(self, name: str) -> float:
        return self._poses[name][2] + self._history.half_m(name)

    def _free(self, name: str) -> Point:
        """Return a place on the table for a block: its first one, or one that is free."""
        home = self._homes[name]
        if self.clear(home, {name}, TOUCHING_M) and not self.failed(home):
            return home
        spots = (
            spot
            for spot in (*self._homes.values(), *_around(home))
            if self.clear(spot, {name}) and not self.failed(spot)
        )
        return next(spots, home)

    def _in_hand(self, name: str, yaw: float) -> tuple[float, float, float]:
        """Return from the centre of a block to the tool centre point that holds it [m]."""
        looks = [one for one in self._history.looks() if self._history.held_in(one) == name]
        if not looks:
            return 0.0, 0.0, max(0.0, self._history.half_m(name) - GRIP_BELOW_TOP_M)
        held = looks[-1]
        assert held.eef is not None  # only then is anything known to be held
        dx, dy, dz = (held.eef[axis] - held.blocks[name][axis] for axis in range(3))
        if held is not self._history.now or self.actions:
            # The next grip will be another one; only its height will be the same.
            return 0.0, 0.0, dz
        turn = yaw - 2 * math.atan2(held.eef[4], held.eef[3])
        cos, sin = math.cos(turn), math.sin(turn)
        return cos * dx - sin * dy, sin * dx + cos * dy, dz


def _homes(history: _History) -> dict[str, Point]:
    """Return where each block stood when it was first seen to stand."""
    homes: dict[str, Point] = {}
    for look in history.looks():
        held = history.held_in(look)
        for name, pose in look.blocks.items():
            if name != held:
                homes.setdefault(name, pose[:2])
    # One that was never seen to stand was lifted straight up.
    return {name: homes.get(name, pose[:2]) for name, pose in history.now.blocks.items()}


def _around(point: Point) -> Iterable[Point]:
    for radius_m in (0.1, 0.14, 0.18):
        for index in range(8):
            turn = index * math.pi / 4
            yield point[0] + radius_m * math.cos(turn), point[1] + radius_m * math.sin(turn)


def _yaw(pose: Seven) -> float:
    """Return by how much a cube is turned, the least of four equal angles [rad]."""
    x, y, z, w = pose[3:]
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return math.remainder(yaw, math.pi / 2)


# --- goals ------------------------------------------------------------------------------------


def _lay_out(
    table: _Table, brief: GoalBrief, heaviest_first: Sequence[str], movable: Collection[str] | None
) -> str:
    """Add the actions that reach the goal, and return what it is."""
    free = [name for name in heaviest_first if movable is None or name in movable]
    if brief.goal == 'hold':
        table.pick(free[0])
        return f'{free[0]} shall be in the hand.'
    if brief.goal == 'corners':
        return _to_corners(table, sorted(free if brief.which == 'movable' else heaviest_first))
    pile = list(heaviest_first)
    if brief.order == 'any':
        pile = _any_order(table, heaviest_first)
    elif brief.order == 'on_fixed':
        pile = [name for name in heaviest_first if name not in free][:1] + free
    return _build(table, pile[: brief.height])


def _any_order(table: _Table, names: Sequence[str]) -> list[str]:
    """Go on with the highest pile that stands, else with the block that is nearest to all."""
    piles: list[list[str]] = []
    for base in filter(table.low, names):
        pile = [base]
        while above := [n for n in names if n not in pile and table.on(n, pile[-1])]:
            pile.append(above[0])
        piles.append(pile)

    def liking(pile: list[str]) -> tuple[int, float]:
        way_m = math.fsum(math.dist(table.at(pile[0]), table.at(name)) for name in names)
        return -len(pile), way_m

    best = min(piles, key=liking, default=[])
    return best + [name for name in names if name not in best]


def _build(table: _Table, pile: Sequence[str]) -> str:
    """Make a pile, from the bottom up; what of it stands well is left alone."""
    stands = 1
    if not table.low(pile[0]):
        table.put_home(pile[0])
    while stands < len(pile) and table.on(pile[stands], pile[stands - 1]):
        stands += 1
    if stands < len(pile):
        for name in table.standing_on(pile[stands - 1]):
            table.put_home(name)
    for below, name in zip(pile[stands - 1 :], pile[stands:], strict=False):
        table.put_on(name, below)
    return f'{" on ".join(reversed(pile))}: that shall be the pile.'


def _to_corners(table: _Table, names: Sequence[str]) -> str:
    """Send each block to a corner of its own, by the shortest ways in all."""
    mid = [sum(corner[axis] for corner in table.corners) / 4 for axis in (0, 1)]
    spots = [
        (x - math.copysign(INSET_M, x - mid[0]), y - math.copysign(INSET_M, y - mid[1]))
        for x, y in table.corners
    ]
    for usable in (
        [spot for spot in spots if not table.failed(spot) and table.clear(spot, names)],
        [spot for spot in spots if not table.failed(spot)],
        spots,
    ):
        ways = list(permutations(usable, len(names)))
        if ways:
            break
    else:
        return 'There are not as many corners as blocks.'

    def length_m(way: Iterable[Point]) -> float:
        return math.fsum(math.dist(table.at(n), spot) for n, spot in zip(names, way, strict=True))

    for name, spot in zip(names, min(ways, key=length_m), strict=True):
        if not table.low(name) or math.dist(table.at(name), spot) > AT_CORNER_M:
            table.put(name, spot, 0.0)
    return f'{" and ".join(names)}: each in a corner of its own.'
