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

from bbllm.core.events import Event
from bbllm.core.observation import Observed, Seven
from bbllm.core.protocols import PromptRequest
from bbllm.core.types import Code, Kind, Outcome, Scene
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.oracle.lessons import Lessons
from bbllm_bench.oracle.table_board import Board, OnTop, Region, TablePlace, TableStep
from bbllm_bench.suites.goals import Corners, Held, Hold, Tower

Point = tuple[float, float]

READING_SD_N = 0.06
"""Deviation of a force reading at rest: 0.2 N a sample, 20 samples, and the hand's motion [N]."""
CERTAIN_SDS = 3.0
"""Two weights differ when their means do by so many deviations."""
MOST_READINGS = 9
"""Most readings of one block: with the first and two rounds of more, one of four is left."""
MOST_ACTIONS = 48
"""Most actions of a round that weighs; LLM-POP takes 50."""
READINGS_MORE = 3
"""How often a block is weighed again where two weights are too close."""
APART_M = 0.09
"""Distance of the centres of two blocks so that the fingers fit in [m]."""
GRIP_BELOW_TOP_M = 0.008
"""How far below the top of a block the finger tips hold it where nothing has shown it [m]."""
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


class Blocks(Board):
    """What an episode has shown of blocks, and where they will be after the actions so far."""

    def __init__(self, scene: Scene, events: Sequence[Event]):
        super().__init__(scene, Lessons(PromptRequest(kind='plan'), scene), room_m=APART_M)
        self.names = tuple(name for name, entity in self.objects.items() if entity.movable)
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
        self.feels = False
        """Whether a force was ever measured."""
        self._learn(events)
        self.stuck -= self.rose
        self.grip_m: Point | None = None
        """Where a block was from the tool centre point in the tool's frame, when one was last
        lifted, along and across the fingers' faces [m]."""
        self._seen = {item.name: item.pose.position_m for item in scene.objects}
        self._tcp = scene.hand.tcp if scene.hand is not None else None
        self._learn_grip(events)

    def _learn(self, events: Sequence[Event]) -> None:
        ended, held = False, ''
        for data in (event.data for event in events):
            if isinstance(data, Outcome):
                ended, arg = data.succeeded, (*data.call.args, '')[0]
                match data.call.skill:
                    case 'pick' if ended:
                        held = arg
                        self.rose.add(arg)
                    case 'pick' if data.code is Code.WOULD_NOT_RISE:
                        self.stuck.add(arg)
                    case 'place' if ended:
                        held = ''
                    case 'place' if len(arg.split()) == 7:
                        x, y, *_ = map(float, arg.split())
                        self.lessons.failed.append((x, y))
            elif isinstance(data, Observed) and data.force_n is not None:
                self.feels = True
                # A hand that moves feels its own motion too; it stands still after calls that end.
                if ended and held:
                    self.forces_n.setdefault(held, []).append(data.force_n[2])

    def _learn_grip(self, events: Sequence[Event]) -> None:
        held = ''
        for data in (event.data for event in events):
            if isinstance(data, Outcome) and data.succeeded:
                held = {'pick': (*data.call.args, '')[0], 'place': ''}.get(data.call.skill, held)
            elif isinstance(data, Observed) and held in data.blocks and data.eef is not None:
                x, y = (data.blocks[held][axis] - data.eef[axis] for axis in (0, 1))
                yaw = 2 * math.atan2(data.eef[4], data.eef[3])
                cos, sin = math.cos(yaw), math.sin(yaw)
                self.grip_m = (cos * x + sin * y, cos * y - sin * x)

    # --- what is known --------------------------------------------------------------------------

    def force_n(self, name: str) -> float:
        """Return the mean of a block's readings: the heavier, the less; 0 without any [N]."""
        return fmean(self.forces_n.get(name) or (0.0,))

    def unsure(self, *, only_heaviest: bool) -> list[str]:
        """Return the blocks that have to be weighed again to be put in order."""
        order = sorted(self.forces_n, key=self.force_n)
        doubtful: set[str] = set()
        for a, b in combinations(order, 2):
            n_a, n_b = len(self.forces_n[a]), len(self.forces_n[b])
            doubt_n = CERTAIN_SDS * READING_SD_N * math.sqrt(1 / n_a + 1 / n_b)
            matters = not only_heaviest or a == order[0]
            if matters and abs(self.force_n(a) - self.force_n(b)) < doubt_n:
                doubtful |= {a, b}
        few = [name for name in self.forces_n if len(self.forces_n[name]) < MOST_READINGS]
        return [name for name in few if name in doubtful]

    def movable(self, n_fixed: int) -> set[str] | None:
        """Return the blocks that can be moved, None where that is not known."""
        if len(self.stuck) == n_fixed:
            return set(self.names) - self.stuck
        return self.rose if len(self.rose) >= len(self.names) - n_fixed else None

    # --- actions --------------------------------------------------------------------------------
    def at(self, name: str) -> Point:
        """Return where a block is, or was taken, seen from above [m]."""
        x, y, _ = self.objects[name].at or self._seen[name]
        return x, y

    def actions(self) -> list[BlockAction]:
        """Return the steps so far, with poses of the tool centre point."""
        found: list[BlockAction] = []
        for i, step in enumerate(self.steps):
            pose = None
            if step.at is not None:
                # Set down with a hand that is not turned, a block is where it was in its frame.
                dx, dy = (-off for off in self.grip_m) if self.grip_m else (0.0, 0.0)
                yaw = 0.0
                dz = max(0.0, self.objects[step.name].height / 2 - GRIP_BELOW_TOP_M)
                if i == 0 and self._tcp is not None:  # it keeps the pose in the hand
                    held_at = self._seen[step.name]
                    dx, dy, dz = (self._tcp.position_m[axis] - held_at[axis] for axis in range(3))
                    yaw = 2 * math.atan2(self._tcp.quat_xyzw[1], self._tcp.quat_xyzw[0])
                x, y, z = step.at
                pose = (x + dx, y + dy, z + dz, math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)
            found.append(BlockAction(step.verb, step.name, pose))
        return found


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
        return Decision('gather', missing, blocks.actions())
    if not brief.off_centre:
        blocks.grip_m = None
    elif blocks.grip_m is None:
        blocks.pick(next(name for name in blocks.names if name not in blocks.stuck))
        return Decision('gather', 'Not known yet: how blocks lie in the hand.', blocks.actions())
    order = sorted(blocks.names, key=blocks.force_n)
    movable = blocks.movable(brief.n_fixed)
    if brief.needs != 'movable':  # it is not told how many are fixed, if any
        movable = {*blocks.names} - blocks.stuck
    wanted = _lay_out(blocks, brief, order, movable)
    if not blocks.steps:
        return Decision('done', f'{known}{wanted} That is so now.')
    return Decision('act', f'{known}{wanted} It is not so yet.', blocks.actions())


def _guess(blocks: Blocks, brief: GoalBrief) -> Decision:
    """Decide at random and all at once; the task counts as done after that."""
    if blocks.outcomes:
        return Decision('done', 'The plan was carried out.')
    order = list(blocks.names)
    random.Random(f'{brief.seed}').shuffle(order)
    wanted = _lay_out(blocks, brief, order, order[brief.n_fixed :])
    return Decision('act', f'A guess: {wanted}', blocks.actions())


def _weigh(blocks: Blocks, brief: GoalBrief) -> tuple[str, str]:
    """Add what has to be weighed; return why, '' where nothing has to be, and what is known."""
    new = [name for name in blocks.names if name not in {*blocks.forces_n, *blocks.stuck}]
    tried = any(outcome.succeeded for outcome in blocks.outcomes)
    if new and tried and not blocks.feels:
        return '', 'No force is measured, so that this is a guess. '
    for name in new:
        if len(blocks.steps) + brief.readings + 1 > MOST_ACTIONS:
            break
        blocks.pick(name)
        blocks.steps += [TableStep('wait', 'wait')] * (brief.readings - 1)
        blocks.put(Region())
    if new:
        return f'Not known yet: the weight of {_listed(new)}. Each is lifted to feel it.', ''
    holding = isinstance(brief.goal, Hold)
    close = blocks.unsure(only_heaviest=holding) if brief.readings == 1 else []
    for name in close:
        blocks.pick(name)
        blocks.steps += [TableStep('wait', 'wait')] * READINGS_MORE
        blocks.put(Region())
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
    goal = brief.goal
    if isinstance(goal, Hold):
        name = _by_weight(blocks, goal.which, free)
        blocks.pick(name)
        return f'{name} shall be in the hand.'
    if isinstance(goal, Corners):
        return _to_corners(blocks, sorted(free if goal.which == 'movable' else heaviest_first))
    assert isinstance(goal, Tower)  # what hides nothing is answered elsewhere
    pile = list(blocks.names if goal.order == 'any' else heaviest_first)
    if goal.order == 'any' and blocks.stuck:
        built = [name for base in sorted(blocks.stuck) for name in blocks.pile(base)[1:]]
        # What is on top elsewhere goes there first.
        free.sort(key=lambda name: -(blocks.objects[name].at or (0.0, 0.0, math.inf))[2])
        free = [*built, *(name for name in free if name not in built)]
    if goal.order.endswith('on_fixed') or blocks.stuck:
        pile = [name for name in heaviest_first if name not in free][:1] + free
    return _build(blocks, pile[: goal.height])


def _by_weight(blocks: Blocks, which: Held, heaviest_first: Sequence[str]) -> str:
    """Return the block that is to be held."""
    if which == 'odd':  # furthest from the mean, which fits the readings best
        middle = fmean(map(blocks.force_n, heaviest_first))
        return max(heaviest_first, key=lambda name: abs(blocks.force_n(name) - middle))
    return heaviest_first[{'second_heaviest': 1, 'lightest': -1}.get(which, 0)]


def _build(blocks: Blocks, pile: Sequence[str]) -> str:
    """Make a pile, from the bottom up; what of it stands is left alone."""
    if blocks.held == pile[0] or blocks.on.get(pile[0]) in blocks.names:
        blocks.clear_away(pile[0])
    steps = [(name, below) for below, name in pairwise(pile)]
    while steps and blocks.on.get(steps[0][0]) == steps[0][1]:
        steps.pop(0)
    for name, below in steps:
        while above := blocks.in_the_way(OnTop(below), ()):
            blocks.clear_away(above)
        blocks.pick(name)
        blocks.put(OnTop(below))
    return f'{" on ".join(reversed(pile))}: that shall be the pile.'


def _to_corners(blocks: Blocks, names: Sequence[str]) -> str:
    """Send each block to a corner of its own, by the shortest ways in all."""
    if not blocks.corners:
        return 'There are no corners.'
    names = names[: len(blocks.corners)]  # of more, some are fixed, which the lifts show
    mid = [sum(corner[axis] for corner in blocks.corners) / 4 for axis in (0, 1)]
    inner = [
        (x - math.copysign(INSET_M, x - mid[0]), y - math.copysign(INSET_M, y - mid[1]))
        for x, y in blocks.corners
    ]
    spots = [TablePlace(f'{x:.3f} {y:.3f}', x, y) for x, y in inner]
    good = [spot for spot in spots if not blocks.lessons.failed_at(spot.x, spot.y)]
    clear = [spot for spot in good if {*names}.issuperset(blocks.standing_at(spot, APART_M))]
    usable = next(some for some in (clear, good, spots) if len(some) >= len(names))

    def length_m(way: Sequence[TablePlace]) -> float:
        pairs = zip(names, way, strict=True)
        return math.fsum(math.dist(blocks.at(name), (spot.x, spot.y)) for name, spot in pairs)

    best = min(permutations(usable, len(names)), key=length_m)
    for name, spot in zip(names, best, strict=True):
        raised = name == blocks.held or blocks.on.get(name) in blocks.names
        if raised or not spot.near(blocks.objects[name], AT_CORNER_M):
            blocks.pick(name)
            blocks.put(spot)
    return f'{" and ".join(names)}: each in a corner of its own.'
