"""
From a goal that depends on hidden properties to actions: weigh or try first, then build.

What blocks weigh and which are fixed is in no scene. It is learned from the force on the hand and
from failed lifts, that is, from the calls, outcomes and observations of the episode so far.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import fmean
from typing import Literal, cast

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


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do next, and why."""

    stage: Literal['gather', 'act', 'done']
    """`gather`: something has to be found out first."""
    reason: str
    """One sentence that names what is known."""
    actions: Sequence[BlockAction] = ()


@dataclass(slots=True)
class _Deed:
    action: BlockAction
    done: bool
    stuck: bool
    """Whether the block did not rise."""
    seen: Observed | None = None


class _Past:
    """A scene of blocks, what was done and felt before, and what that has shown."""

    def __init__(self, scene: Scene, events: Sequence[Event]):
        blocks = [item for item in scene.objects if item.kind in MOVABLE]
        self.names = tuple(item.name for item in blocks)
        self.half_m = {item.name: item.size_m[2] / 2 or 0.02 for item in blocks}
        self.corners = [
            (item.pose.position_m[0] + i * item.size_m[0] / 2,
             item.pose.position_m[1] + j * item.size_m[1] / 2)
            for item in scene.objects
            if item.kind is Kind.FIXTURE
            for i in (1, -1)
            for j in (1, -1)
        ]  # fmt: skip
        self.now = observed(scene)
        self.deeds = _deeds(events)
        self.looks = [*(deed.seen for deed in self.deeds if deed.seen is not None), self.now]
        self.forces_n: dict[str, list[float]] = {}
        """Vertical force while a block was held, by block, a reading each [N]."""
        self.rose: set[str] = set()
        self.stuck: set[str] = set()
        """Blocks that were tried and did not rise."""
        self.held: str | None = None
        for deed in self.deeds:
            self._learn(deed)
        self.stuck -= self.rose
        if _measured(self.now):
            self.held = self.held_in(self.now)

    def held_in(self, look: Observed) -> str | None:
        """Return the block between closed fingers."""
        if look.eef is None or look.fingers_m is None or sum(look.fingers_m) >= OPEN_M:
            return None
        for name, pose in look.blocks.items():
            aside_m = math.dist(pose[:2], look.eef[:2])
            if aside_m <= HELD_ASIDE_M and abs(pose[2] - look.eef[2]) <= self.half_m[name] + 0.005:
                return name
        return None

    def _learn(self, deed: _Deed) -> None:
        action, seen = deed.action, deed.seen
        if seen is not None and _measured(seen):
            self.held = self.held_in(seen)
        elif deed.done and action.verb in ('pick', 'place'):
            self.held = action.name if action.verb == 'pick' else None
        if self.held is not None:
            self.rose.add(self.held)
            # A hand that moves feels its own motion too; it stands still after calls that end.
            if seen is not None and seen.force_n is not None and deed.done:
                self.forces_n.setdefault(self.held, []).append(seen.force_n[2])
        elif action.verb == 'pick' and action.name in self.names and deed.stuck:
            self.stuck.add(action.name)

    def force_n(self, name: str) -> float:
        """Return the mean of a block's readings: the heavier, the less; 0 without any [N]."""
        return fmean(self.forces_n.get(name) or (0.0,))

    def unsure(self, *, only_heaviest: bool) -> list[str]:
        """Return the blocks that have to be weighed again to be put in order."""
        order = sorted(self.names, key=self.force_n)
        pairs = combinations(order, 2)
        doubtful: set[str] = set()
        for a, b in [(order[0], other) for other in order[1:]] if only_heaviest else pairs:
            n_a, n_b = len(self.forces_n[a]), len(self.forces_n[b])
            doubt_n = CERTAIN_SDS * READING_SD_N * math.sqrt(1 / n_a + 1 / n_b)
            if abs(self.force_n(a) - self.force_n(b)) < doubt_n:
                doubtful |= {a, b}
        few = [name for name in self.names if len(self.forces_n[name]) < MOST_READINGS]
        return [name for name in few if name in doubtful]

    def movable(self, n_fixed: int) -> set[str] | None:
        """Return the blocks that can be moved, None where that is not known."""
        if len(self.stuck) == n_fixed:
            return set(self.names) - self.stuck
        return self.rose if len(self.rose) >= len(self.names) - n_fixed else None


def _deeds(events: Sequence[Event]) -> list[_Deed]:
    """Return the calls of an episode with their outcome and what was seen after it."""
    found: list[_Deed] = []
    for data in (event.data for event in events):
        if isinstance(data, Outcome):
            skill, args = data.call.skill, data.call.args
            action = BlockAction(skill, args[0] if args else '')
            numbers = args[0].split() if args else []
            if skill in ('place', 'reach') and len(numbers) == 7:
                action = BlockAction(skill, pose=cast(Seven, tuple(map(float, numbers))))
            found.append(_Deed(action, data.succeeded, data.code is Code.WOULD_NOT_RISE))
        elif isinstance(data, Observed) and found:
            found[-1].seen = data
    return found


def _measured(look: Observed) -> bool:
    return look.eef is not None and look.fingers_m is not None


def decide(scene: Scene, events: Sequence[Event], brief: GoalBrief) -> Decision:
    """Return what to do next; the same history and goal give the same answer."""
    past = _Past(scene, events)
    table = _Table(past)
    if not brief.gather:
        return _guess(past, table, brief)
    reason = ''
    if brief.needs == 'weights':
        reason = _weigh(past, brief, table)
    elif brief.needs == 'movable':
        reason = _try(past, brief, table)
    if reason:
        return Decision('gather', reason, table.actions)
    order = sorted(past.names, key=past.force_n)
    known, free = '', past.movable(brief.n_fixed)
    if brief.needs == 'weights':
        felt = ', '.join(f'{name} ({past.force_n(name):.2f} N)' for name in order)
        known = f'From heavy to light: {felt}. '
        if any(name not in past.forces_n for name in order):
            known = 'No force is measured, so that this is a guess. '
    elif brief.needs == 'movable' and free is not None:
        fixed = [name for name in past.names if name not in free]
        known = f'Movable: {_listed(sorted(free)) or "none"}. Fixed: {_listed(fixed) or "none"}. '
    wanted = _lay_out(table, brief, order, free)
    if not table.actions:
        return Decision('done', f'{known}{wanted} That is so now.')
    return Decision('act', f'{known}{wanted} It is not so yet.', table.actions)


def _guess(past: _Past, table: _Table, brief: GoalBrief) -> Decision:
    """Decide at random and all at once; the task counts as done after that."""
    if past.deeds:
        return Decision('done', 'The plan was carried out.')
    order = list(past.names)
    random.Random(f'{brief.seed}').shuffle(order)
    wanted = _lay_out(table, brief, order, order[brief.n_fixed :])
    return Decision('act', f'A guess: {wanted}', table.actions)


def _weigh(past: _Past, brief: GoalBrief, table: _Table) -> str:
    """Add what has to be weighed; return why, '' where every weight is known."""
    new = [name for name in past.names if name not in past.forces_n]
    tried = any(deed.done for deed in past.deeds)
    if new and tried and all(look.force_n is None for look in past.looks):
        return ''  # nothing measures forces here, so that more lifting would show nothing
    for name in new:
        table.pick(name)
        table.empty_hand()
    if new:
        return f'Not known yet: the weight of {_listed(new)}. Each is lifted to feel it.'
    close = past.unsure(only_heaviest=brief.goal == 'hold')
    for name in close:
        table.pick(name)
        table.actions += [BlockAction('wait')] * READINGS_MORE
        table.empty_hand()
    felt = ', '.join(f'{name} {past.force_n(name):.2f} N' for name in close)
    return f'The weights are too close, so they are felt again: {felt}.' if close else ''


def _try(past: _Past, brief: GoalBrief, table: _Table) -> str:
    """Add what has to be tried; return why, '' where it is known what can be moved."""
    if past.movable(brief.n_fixed) is not None:
        return ''
    # Where too many did not rise, one of the tries has failed for another reason.
    left = [name for name in past.names if name not in past.rose]
    left.sort(key=[deed.action.name for deed in past.deeds].count)
    for name in left[: max(1, len(left) - brief.n_fixed)]:
        table.pick(name)
    listed = _listed(left)
    return f'Not known yet: what is fixed ({brief.n_fixed}). {listed} may be; lifting shows it.'


def _listed(names: Sequence[str]) -> str:
    return ' and '.join(filter(None, (', '.join(names[:-1]), *names[-1:])))


class _Table:
    """The blocks as they are now, and as they will be after the actions so far."""

    def __init__(self, past: _Past):
        self._past = past
        self._poses = dict(past.now.blocks)
        self._homes: dict[str, Point] = {}
        """Where each block stood when it was first seen to stand."""
        for look in past.looks:
            held = past.held_in(look)
            for name, pose in look.blocks.items():
                if name != held:
                    self._homes.setdefault(name, pose[:2])
        # One that was never seen to stand was lifted straight up.
        self._homes = {n: self._homes.get(n, pose[:2]) for n, pose in past.now.blocks.items()}
        self._bad = [
            deed.action.pose[:2]
            for deed in past.deeds
            if deed.action.verb == 'place' and not deed.done and deed.action.pose is not None
        ]
        self.corners = past.corners
        self.held = past.held
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
        """Set a block down with its centre at a point [m], its edges along those of another."""
        self.pick(name)
        yaw = _yaw(self._poses[like or name])
        x, y, z = *at, bottom_m + self._past.half_m[name]
        dx, dy, dz = self._in_hand(name, yaw)
        pose = (x + dx, y + dy, z + dz, math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)
        self.actions.append(BlockAction('place', name, pose))
        self._poses[name] = (x, y, z, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
        self.held = None

    def put_on(self, name: str, below: str) -> None:
        """Set a block on another."""
        self.put(name, self.at(below), self._top_m(below), like=below)

    def put_home(self, name: str) -> None:
        """Set a block down on the table, where it was at first, or where there is room."""
        home = self._homes[name]
        if self.clear(home, {name}, TOUCHING_M) and not self.failed(home):
            self.put(name, home, 0.0)
            return
        around = (
            (home[0] + radius_m * math.cos(turn), home[1] + radius_m * math.sin(turn))
            for radius_m in (0.1, 0.14, 0.18)
            for turn in (index * math.pi / 4 for index in range(8))
        )
        spots = (*self._homes.values(), *around)
        free = (spot for spot in spots if self.clear(spot, {name}) and not self.failed(spot))
        self.put(name, next(free, home), 0.0)

    def at(self, name: str) -> Point:
        """Return where a block is, seen from above [m]."""
        x, y, *_ = self._poses[name]
        return x, y

    def on(self, name: str, below: str) -> bool:
        """Whether a block stands well on another."""
        bottom_m = self._poses[name][2] - self._past.half_m[name]
        return (
            self.held not in (name, below)
            and math.dist(self.at(name), self.at(below)) <= ON_ASIDE_M
            and abs(bottom_m - self._top_m(below)) <= ON_HEIGHT_M
        )

    def standing_on(self, below: str) -> list[str]:
        """Return what rests on a block in any way, the highest first."""
        half_m = self._past.half_m[below]
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
        return self.held != name and self._poses[name][2] <= 1.5 * self._past.half_m[name]

    def failed(self, at: Point) -> bool:
        """Whether placing something there has failed before."""
        return any(math.dist(at, spot) < FAILED_SPOT_M for spot in self._bad)

    def clear(self, at: Point, besides: Collection[str], apart_m: float = APART_M) -> bool:
        """Whether there is room for a block at a place, some blocks aside."""
        others = (name for name in self._poses if name not in besides and name != self.held)
        return all(math.dist(at, self.at(name)) >= apart_m for name in others)

    def _top_m(self, name: str) -> float:
        return self._poses[name][2] + self._past.half_m[name]

    def _in_hand(self, name: str, yaw: float) -> tuple[float, float, float]:
        """Return from the centre of a block to the tool centre point that holds it [m]."""
        looks = [one for one in self._past.looks if self._past.held_in(one) == name]
        if not looks:
            return 0.0, 0.0, max(0.0, self._past.half_m[name] - GRIP_BELOW_TOP_M)
        held = looks[-1]
        assert held.eef is not None  # only then is anything known to be held
        dx, dy, dz = (held.eef[axis] - held.blocks[name][axis] for axis in range(3))
        if held is not self._past.now or self.actions:
            # The next grip will be another one; only its height will be the same.
            return 0.0, 0.0, dz
        turn = yaw - 2 * math.atan2(held.eef[4], held.eef[3])
        cos, sin = math.cos(turn), math.sin(turn)
        return cos * dx - sin * dy, sin * dx + cos * dy, dz


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
    if len(names) > len(table.corners):
        return 'There are not as many corners as blocks.'
    mid = [sum(corner[axis] for corner in table.corners) / 4 for axis in (0, 1)]
    spots = [
        (x - math.copysign(INSET_M, x - mid[0]), y - math.copysign(INSET_M, y - mid[1]))
        for x, y in table.corners
    ]
    good = [spot for spot in spots if not table.failed(spot)]
    clear = [spot for spot in good if table.clear(spot, names)]
    usable = next(some for some in (clear, good, spots) if len(some) >= len(names))

    def length_m(way: Sequence[Point]) -> float:
        return math.fsum(math.dist(table.at(n), spot) for n, spot in zip(names, way, strict=True))

    best = min(permutations(usable, len(names)), key=length_m)
    for name, spot in zip(names, best, strict=True):
        if not table.low(name) or math.dist(table.at(name), spot) > AT_CORNER_M:
            table.put(name, spot, 0.0)
    return f'{" and ".join(names)}: each in a corner of its own.'
