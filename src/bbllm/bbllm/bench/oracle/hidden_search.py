"""
From a goal that depends on hidden properties to actions: weigh or try first, then build.

What blocks weigh and which are fixed is in no scene. It is learned from the force on the hand and
from failed lifts, that is, from the calls, outcomes and observations of the episode so far.
"""

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from statistics import fmean
from typing import Literal

from bbllm.bench.oracle.goal_brief import GoalBrief
from bbllm.core.events import Event
from bbllm.core.observation import Observed, Seven
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


class Blocks:
    """What an episode has shown of blocks, and where they will be after the actions so far."""

    def __init__(self, scene: Scene, events: Sequence[Event]):
        blocks = [item for item in scene.objects if item.kind in MOVABLE]
        self.names = tuple(item.name for item in blocks)
        self.corners = [
            (item.pose.position_m[0] + i * item.size_m[0] / 2,
             item.pose.position_m[1] + j * item.size_m[1] / 2)
            for item in scene.objects
            if item.kind is Kind.FIXTURE
            for i in (1, -1)
            for j in (1, -1)
        ]  # fmt: skip
        self.outcomes = [event.data for event in events if isinstance(event.data, Outcome)]
        self.forces_n: dict[str, list[float]] = {}
        """Vertical force while a block was held, by block, a reading each [N]."""
        self.rose: set[str] = set()
        self.stuck: set[str] = set()
        """Blocks that were tried and did not rise."""
        self.held: str | None = None
        self.actions: list[BlockAction] = []
        self._failed: list[Point] = []
        """Where something could not be placed."""
        self._homes: dict[str, Point] = {}
        """Where each block was when it was first seen."""
        looks = self._learn(events)
        self.feels = any(look.force_n is not None for look in looks)
        """Whether a force was ever measured."""
        for name, pose in ((n, pose) for look in looks for n, pose in look.blocks.items()):
            self._homes.setdefault(name, pose[:2])
        self.stuck -= self.rose
        self.held = scene.held
        self._tcp = scene.hand.tcp if scene.hand is not None else None
        self._half_m = {item.name: item.size_m[2] / 2 or 0.02 for item in blocks}
        self._at = {item.name: item.pose.position_m for item in blocks}
        self._homes = {name: at[:2] for name, at in self._at.items()} | self._homes
        self._on = {f.subject: f.object for f in scene.facts if f.predicate == 'on'}

    def _learn(self, events: Sequence[Event]) -> list[Observed]:
        """Take in what was done and felt, and return all that was seen."""
        looks: list[Observed] = []
        ended = False
        for data in (event.data for event in events):
            if isinstance(data, Outcome):
                ended, arg = data.succeeded, (*data.call.args, '')[0]
                match data.call.skill:
                    case 'pick' if ended:
                        self.held = arg
                        self.rose.add(arg)
                    case 'pick' if data.code is Code.WOULD_NOT_RISE:
                        self.stuck.add(arg)
                    case 'place' if ended:
                        self.held = None
                    case 'place' if len(arg.split()) == 7:
                        x, y, *_ = map(float, arg.split())
                        self._failed.append((x, y))
            elif isinstance(data, Observed):
                looks.append(data)
                # A hand that moves feels its own motion too; it stands still after calls that end.
                if ended and self.held is not None and data.force_n is not None:
                    self.forces_n.setdefault(self.held, []).append(data.force_n[2])
        return looks

    # --- what is known --------------------------------------------------------------------------

    def force_n(self, name: str) -> float:
        """Return the mean of a block's readings: the heavier, the less; 0 without any [N]."""
        return fmean(self.forces_n.get(name) or (0.0,))

    def unsure(self, *, only_heaviest: bool) -> list[str]:
        """Return the blocks that have to be weighed again to be put in order."""
        order = sorted(self.names, key=self.force_n)
        doubtful: set[str] = set()
        for a, b in combinations(order, 2):
            n_a, n_b = len(self.forces_n[a]), len(self.forces_n[b])
            doubt_n = CERTAIN_SDS * READING_SD_N * math.sqrt(1 / n_a + 1 / n_b)
            matters = not only_heaviest or a == order[0]
            if matters and abs(self.force_n(a) - self.force_n(b)) < doubt_n:
                doubtful |= {a, b}
        few = [name for name in self.names if len(self.forces_n[name]) < MOST_READINGS]
        return [name for name in few if name in doubtful]

    def movable(self, n_fixed: int) -> set[str] | None:
        """Return the blocks that can be moved, None where that is not known."""
        if len(self.stuck) == n_fixed:
            return set(self.names) - self.stuck
        return self.rose if len(self.rose) >= len(self.names) - n_fixed else None

    def at(self, name: str) -> Point:
        """Return where a block is, seen from above [m]."""
        x, y, _ = self._at[name]
        return x, y

    def below(self, name: str) -> str | None:
        """Return the block that a block stands on."""
        below = self._on.get(name)
        return below if name != self.held and below in self.names else None

    def failed(self, at: Point) -> bool:
        """Whether placing something there has failed before."""
        return any(math.dist(at, spot) < FAILED_SPOT_M for spot in self._failed)

    def clear(self, at: Point, besides: Collection[str], apart_m: float = APART_M) -> bool:
        """Whether there is room for a block at a place, some blocks aside."""
        others = (name for name in self.names if name not in besides and name != self.held)
        return all(math.dist(at, self.at(name)) >= apart_m for name in others)

    # --- actions --------------------------------------------------------------------------------

    def pick(self, name: str) -> None:
        """Take a block; what is in the hand, or stands on the block, goes home before."""
        if self.held == name:
            return
        self.empty_hand()
        self.uncover(name)
        self.actions.append(BlockAction('pick', name))
        self.held = name

    def uncover(self, name: str) -> None:
        """Put what stands on a block on the table, the highest first."""
        for above in [other for other in self.names if self.below(other) == name]:
            self.put_home(above)

    def empty_hand(self) -> None:
        """Put what is in the hand back where it was, or beside."""
        if self.held is not None:
            self.put_home(self.held)

    def put(self, name: str, at: Point, on: str = '') -> None:
        """Set a block down with its centre at a point [m], on the table or on another block."""
        self.pick(name)
        half_m = self._half_m[name]
        z = half_m + (self._at[on][2] + self._half_m[on] if on else 0.0)
        dx, dy, dz, yaw = 0.0, 0.0, max(0.0, half_m - GRIP_BELOW_TOP_M), 0.0
        if not self.actions and self._tcp is not None:  # it keeps the pose in the hand
            dx, dy, dz = (self._tcp.position_m[i] - self._at[name][i] for i in range(3))
            yaw = 2 * math.atan2(self._tcp.quat_xyzw[1], self._tcp.quat_xyzw[0])
        turned = (math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)
        pose = (at[0] + dx, at[1] + dy, z + dz, *turned)
        self.actions.append(BlockAction('place', name, pose))
        self._at[name] = (*at, z)
        self._on[name] = on
        self.held = None

    def put_home(self, name: str) -> None:
        """Set a block down on the table, where it was at first, or where there is room."""
        home = self._homes[name]
        if self.clear(home, {name}, TOUCHING_M) and not self.failed(home):
            self.put(name, home)
            return
        around = (
            (home[0] + radius_m * math.cos(turn), home[1] + radius_m * math.sin(turn))
            for radius_m in (0.1, 0.14, 0.18)
            for turn in (index * math.pi / 4 for index in range(8))
        )
        spots = (*self._homes.values(), *around)
        free = (spot for spot in spots if self.clear(spot, {name}) and not self.failed(spot))
        self.put(name, next(free, home))


# --- decisions --------------------------------------------------------------------------------


def decide(scene: Scene, events: Sequence[Event], brief: GoalBrief) -> Decision:
    """Return what to do next; the same history and goal give the same answer."""
    blocks = Blocks(scene, events)
    if not brief.gather:
        return _guess(blocks, brief)
    if brief.needs == 'weights':
        missing, known = _weigh(blocks, brief)
    else:
        missing, known = _try(blocks, brief) if brief.needs == 'movable' else ('', '')
    if missing:
        return Decision('gather', missing, blocks.actions)
    order = sorted(blocks.names, key=blocks.force_n)
    wanted = _lay_out(blocks, brief, order, blocks.movable(brief.n_fixed))
    if not blocks.actions:
        return Decision('done', f'{known}{wanted} That is so now.')
    return Decision('act', f'{known}{wanted} It is not so yet.', blocks.actions)


def _guess(blocks: Blocks, brief: GoalBrief) -> Decision:
    """Decide at random and all at once; the task counts as done after that."""
    if blocks.outcomes:
        return Decision('done', 'The plan was carried out.')
    order = list(blocks.names)
    random.Random(f'{brief.seed}').shuffle(order)
    wanted = _lay_out(blocks, brief, order, order[brief.n_fixed :])
    return Decision('act', f'A guess: {wanted}', blocks.actions)


def _weigh(blocks: Blocks, brief: GoalBrief) -> tuple[str, str]:
    """Add what has to be weighed; return why, '' where nothing has to be, and what is known."""
    new = [name for name in blocks.names if name not in blocks.forces_n]
    tried = any(outcome.succeeded for outcome in blocks.outcomes)
    if new and tried and not blocks.feels:
        return '', 'No force is measured, so that this is a guess. '
    for name in new:
        blocks.pick(name)
        blocks.empty_hand()
    if new:
        return f'Not known yet: the weight of {_listed(new)}. Each is lifted to feel it.', ''
    close = blocks.unsure(only_heaviest=brief.goal == 'hold')
    for name in close:
        blocks.pick(name)
        blocks.actions += [BlockAction('wait')] * READINGS_MORE
        blocks.empty_hand()
    felt = ', '.join(f'{name} {blocks.force_n(name):.2f} N' for name in close or blocks.names)
    if close:
        return f'The weights are too close, so they are felt again: {felt}.', ''
    return '', f'The forces on the hand were: {felt}. '


def _try(blocks: Blocks, brief: GoalBrief) -> tuple[str, str]:
    """Add what has to be tried; return why, '' where nothing has to be, and what is known."""
    free = blocks.movable(brief.n_fixed)
    if free is not None:
        fixed = [name for name in blocks.names if name not in free]
        return '', f'Movable: {_listed(sorted(free))}. Fixed: {_listed(fixed)}. '
    # Where too many did not rise, one of the tries has failed for another reason.
    tried = [outcome.call.args[:1] for outcome in blocks.outcomes]
    left = [name for name in blocks.names if name not in blocks.rose]
    left.sort(key=lambda name: tried.count((name,)))
    for name in left[: max(1, len(left) - brief.n_fixed)]:
        blocks.pick(name)
    hint = f'{_listed(left)} may be; lifting shows it.'
    return f'Not known yet: what is fixed ({brief.n_fixed}). {hint}', ''


def _listed(names: Sequence[str]) -> str:
    return ', '.join(names) or 'none'


# --- goals ------------------------------------------------------------------------------------


def _lay_out(
    blocks: Blocks,
    brief: GoalBrief,
    heaviest_first: Sequence[str],
    movable: Collection[str] | None,
) -> str:
    """Add the actions that reach the goal, and return what it is."""
    free = [name for name in heaviest_first if movable is None or name in movable]
    if brief.goal == 'hold':
        blocks.pick(free[0])
        return f'{free[0]} shall be in the hand.'
    if brief.goal == 'corners':
        return _to_corners(blocks, sorted(free if brief.which == 'movable' else heaviest_first))
    pile = list(blocks.names if brief.order == 'any' else heaviest_first)
    if brief.order == 'on_fixed':
        pile = [name for name in heaviest_first if name not in free][:1] + free
    return _build(blocks, pile[: brief.height])


def _build(blocks: Blocks, pile: Sequence[str]) -> str:
    """Make a pile, from the bottom up; what of it stands is left alone."""
    if blocks.held == pile[0] or blocks.below(pile[0]):
        blocks.put_home(pile[0])
    steps = [(name, below) for below, name in pairwise(pile)]
    while steps and blocks.below(steps[0][0]) == steps[0][1]:
        steps.pop(0)
    for name, below in steps:
        blocks.uncover(below)
        blocks.put(name, blocks.at(below), below)
    return f'{" on ".join(reversed(pile))}: that shall be the pile.'


def _to_corners(blocks: Blocks, names: Sequence[str]) -> str:
    """Send each block to a corner of its own, by the shortest ways in all."""
    if len(names) > len(blocks.corners):
        return 'There are not as many corners as blocks.'
    mid = [sum(corner[axis] for corner in blocks.corners) / 4 for axis in (0, 1)]
    spots = [
        (x - math.copysign(INSET_M, x - mid[0]), y - math.copysign(INSET_M, y - mid[1]))
        for x, y in blocks.corners
    ]
    good = [spot for spot in spots if not blocks.failed(spot)]
    clear = [spot for spot in good if blocks.clear(spot, names)]
    usable = next(some for some in (clear, good, spots) if len(some) >= len(names))

    def length_m(way: Sequence[Point]) -> float:
        return math.fsum(math.dist(blocks.at(n), spot) for n, spot in zip(names, way, strict=True))

    best = min(permutations(usable, len(names)), key=length_m)
    for name, spot in zip(names, best, strict=True):
        raised = name == blocks.held or blocks.below(name)
        if raised or math.dist(blocks.at(name), spot) > AT_CORNER_M:
            blocks.put(name, spot)
    return f'{" and ".join(names)}: each in a corner of its own.'
