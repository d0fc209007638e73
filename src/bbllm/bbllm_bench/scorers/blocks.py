"""Goals of conditions, of what carries what, of what no scene shows, and of puzzles."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bbllm.core.errors import ParseError, UnknownNameError
from bbllm.core.goals import (
    SHAPES,
    ConditionKind,
    GoalCondition,
    Selection,
    TaskGoal,
    parse_goal,
)
from bbllm.core.skill_calls import is_pose_like, parse_pose
from bbllm.core.text import count_of, listed
from bbllm.core.types import Fact, Kind, Scene, SceneObject
from bbllm.scene.relations import build_scene
from bbllm.skills.shapes import Point, bottom_z, outline, top_z
from bbllm.worlds.scene.goal_check import check_goal
from bbllm.worlds.scene.table_tolerances import TableTolerances
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.goals import Conditions, Corners, Hold, Layout, Tower
from bbllm_bench.suites.scores import Condition, at_least, at_most, cm

# --- conditions, by the checker of episodes -----------------------------------------------------


def conditions(goal: Conditions, table: Table) -> list[Condition]:
    """Check each condition by itself, and of several texts the one that the table fits best."""
    each = [_conditions(text, goal.limits, table) for text in goal.texts]
    best = max(each, key=lambda found: sum(one.holds for one in found))
    if len({*map(len, each)}) > 1:
        return best
    # The same words at the start and at the end, whichever text fits then.
    words = [' or '.join(dict.fromkeys(one.text for one in same)) for same in zip(*each)]
    return [Condition(text, one.fault) for text, one in zip(words, best)]


def _conditions(text: str, limits: TableTolerances, table: Table) -> list[Condition]:
    wanted, unreadable = read_goal(text, table)
    if unreadable:
        return [Condition(text, unreadable)]
    parts = (part for condition in wanted.conditions for part in _one_by_one(condition))
    return [_checked(part, limits, table) for part in parts]


def _one_by_one(condition: GoalCondition) -> list[GoalCondition]:
    """Return what a condition requires of each of its objects, which GCR counts."""
    (chosen, *more) = condition.subjects
    all_of = condition.negated or chosen.count == len(chosen.names)
    if more or not all_of or condition.kind in SHAPES:
        return [condition]
    return [replace(condition, subjects=(_named(name),)) for name in chosen.names]


def _named(name: str) -> Selection:
    return Selection((name,), 1, name)


def read_goal(text: str, table: Table) -> tuple[TaskGoal, str]:
    """Return a goal and '', or an empty one and why the table cannot have it."""
    try:
        goal = parse_goal(text, _scene(table, table.start))
        if goal.variables:
            return TaskGoal(()), 'each condition is checked by itself, so that no x = a|b is taken'
        return goal, ''
    except (ParseError, UnknownNameError) as error:
        return TaskGoal(()), str(error)


def _checked(condition: GoalCondition, limits: TableTolerances, table: Table) -> Condition:
    start, now = (_scene(table, items) for items in (table.start, table.now))
    found = check_goal(TaskGoal((condition,)), now, start, limits)
    fault = '; '.join(found.unmet) or found.unseen
    return Condition(condition.in_words, fault and f'{fault}.')


def _scene(table: Table, items: Mapping[str, SceneObject]) -> Scene:
    scene = build_scene(tuple(items.values()), None, skills=(), stamp_s=0.0, now_s=0.0)
    far = [Fact(name, 'reachable', 'no') for name in table.out_of_reach]
    held = [Fact(table.held, 'held_by', 'hand')] if table.held and items is table.now else []
    return replace(scene, facts=(*scene.facts, *far, *held))


# --- towers of so many blocks, in any order, by weight, or on the one that is fixed -------------

Blocks = tuple[str, ...]
"""Names of the blocks of a tower, from the bottom up."""
ORDERS: Mapping[str, str] = {
    'lighter_up': 'each block lighter than the one under it',
    'on_fixed': 'the block at the bottom is fixed to the table',
    'lighter_up_on_fixed': 'the block at the bottom is fixed to the table, and each above the '
    'next is lighter',
}


def tower(goal: Tower, table: Table) -> list[Condition]:
    """Check that some blocks are a tower, and that these are in order."""
    blocks = table.movables
    limits = TableTolerances(level_m=goal.level_m, middle_m=goal.near_m, tilt_deg=goal.tilt_deg)
    chosen = Selection(blocks, goal.height, f'{goal.height} of {"|".join(blocks)}')
    high = _checked(GoalCondition(ConditionKind.TOWER, (chosen,)), limits, table)
    fallen = (
        '' if any(not table.fall(name) for name in blocks) else 'no block stands on the table.'
    )
    conditions = [Condition(f'a tower of {goal.height} blocks', fallen or high.fault)]
    if goal.order != 'any':
        ways = (
            GoalCondition(ConditionKind.TOWER, tuple(map(_named, way)))
            for way in _orders(goal, table)
        )
        faults = [_checked(way, limits, table).fault for way in ways]
        none = 'no blocks can be in this order, by what they weigh and which are fixed.'
        # Where several are as high, one in order is enough.
        conditions.append(Condition(ORDERS[goal.order], min(faults, key=bool, default=none)))
    return conditions + _untouched(table, goal.still_m)


def _orders(goal: Tower, table: Table) -> Iterator[Blocks]:
    """Yield the towers that have the order of a goal, from the bottom up."""
    masses = table.mass_kg
    bottoms: list[Blocks] = [()]
    if goal.order != 'lighter_up':
        bottoms = [(name,) for name in table.movables if name in table.fixed]
    for bottom in bottoms:
        rest = [name for name in table.movables if name not in bottom]
        for above in itertools.permutations(rest, goal.height - len(bottom)):
            known = goal.order == 'on_fixed' or all(name in masses for name in above)
            if known and (
                goal.order == 'on_fixed'
                or all(masses[high] < masses[low] for low, high in itertools.pairwise(above))
            ):
                yield (*bottom, *above)


def _untouched(table: Table, still_m: float) -> list[Condition]:
    """Check that the hand has let go, and that what is fixed to the table is where it was."""
    holding = f'{table.held} is still in the hand.' if table.held else ''
    fixed = [name for name in table.movables if name in table.fixed]
    faults = [table.moved(name, still_m, ' although it is fixed') for name in fixed]
    texts = [f'{name} where it was' for name in fixed]
    return [Condition('the hand is empty', holding), *map(Condition, texts, faults)]


# --- blocks on the table, each at a corner of its own -------------------------------------------


def corners(goal: Corners, table: Table) -> list[Condition]:
    """Measure from each block to the corner that is nearest to it."""
    near = [name for name in table.movables if name not in table.out_of_reach]
    names = [name for name in near if goal.which == 'all' or name not in table.fixed]
    if not names:
        return [Condition('a block at a corner', 'no block within reach can be moved.')]
    points = [corner for top in table.tables for corner in outline(top)]
    conditions: list[Condition] = []
    at: dict[Point, list[str]] = {}
    for name in names:
        ways = ((math.dist(table.xy(name), point), point) for point in points)
        way, corner = min(ways, default=(math.inf, (0.0, 0.0)))
        fault = table.fall(name) if points else 'there is no table that would have corners.'
        if not fault and not at_most(way, goal.corner_m):
            allowed = f'{cm(goal.corner_m)} are allowed.'
            fault = f'{name} is {cm(way)} from the nearest corner; {allowed}'
        if not fault:
            at.setdefault(corner, []).append(name)
        conditions.append(Condition(f'{name} at a corner', fault))
    together = next((names for names in at.values() if len(names) > 1), [])
    shared = f'{listed(together)} are at the same corner.' if together else ''
    return [*conditions, Condition('no corner twice', shared), *_untouched(table, goal.still_m)]


# --- one block by weight in the hand, above the table -------------------------------------------


MEANT: Mapping[str, str] = {
    'heaviest': 'heaviest',
    'second_heaviest': 'second heaviest',
    'lightest': 'lightest',
    'odd': 'odd one out',
}


def hold(goal: Hold, table: Table) -> list[Condition]:
    """Take what is in the hand, and measure that."""
    held = table.held if table.held in table.now else ''
    lighter = low = 'the hand is empty.'
    if held:
        lighter, low = _other(goal, table, held), ''
        tops = table.tops_under(held)
        raised = bottom_z(table.now[held]) - max(tops, default=0.0)
        if not tops:
            low = f'{held} is not over the table.'
        elif not at_least(raised, goal.raised_m):
            low = f'{held} is {cm(raised)} above the table, not {cm(goal.raised_m)}.'
    return [
        Condition('a block in the hand', '' if held else lighter),
        Condition(f'it is the {MEANT[goal.which]}', lighter),
        Condition(f'it is {cm(goal.raised_m)} above the table', low),
    ]


def _other(goal: Hold, table: Table, held: str) -> str:
    masses = {name: table.mass_kg[name] for name in table.movables if name in table.mass_kg}
    if held not in masses:
        return f'the mass of {held} is unknown.'
    own = masses[held]
    if (wanted := goal.wanted(masses)) == held:
        return ''
    reported = f'{held}, in the hand, weighs {1000 * own:.0f} g'
    # Where several weigh the same, none is meant.
    other = wanted or next((name for name in masses if name != held and masses[name] >= own), '')
    if not other:
        return f'{reported}, and no block is the {MEANT[goal.which]}.'
    which = other if goal.which == 'heaviest' else f'the {MEANT[goal.which]}, {other},'
    return f'{reported}, but {which} weighs {1000 * masses[other]:.0f} g.'


Points = dict[str, tuple[float, float] | None]
ANYWHERE = ''
"""What an object was put on that is neither on a location nor on another object."""


def layout(goal: Layout, table: Table) -> Iterator[Condition]:
    """Measure each place, then go through the moves; a part of the goal is a condition each."""
    near = {'location_m': goal.near_m, 'middle_m': goal.near_m, 'still_m': goal.still_m}
    limits = TableTolerances(level_m=goal.level_m, tilt_deg=goal.tilt_deg, **near)
    for above, below in goal.on.items():
        rests = GoalCondition(ConditionKind.ON, (_named(above),), _named(below))
        yield _checked(rests, limits, table)
    for name in goal.still:
        moved = GoalCondition(ConditionKind.MOVED, (_named(name),), negated=True)
        yield _checked(moved, limits, table)
    yield from _by_rules(goal, table)


# --- rules of moves -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Move:
    """One object that was picked and put down."""

    name: str
    below: str
    """The location or object that it was put on; `ANYWHERE` if neither."""
    level: int
    """Which object from the bottom it was there, counted from 1."""


def _by_rules(goal: Layout, table: Table) -> Iterator[Condition]:
    moves = [*moves_of(table, goal.near_m)]
    if goal.moves is not None:
        made = f'{count_of(len(moves), "move")} were made; {goal.moves} are allowed.'
        fault = '' if len(moves) <= goal.moves else made
        yield Condition(f'at most {count_of(goal.moves, "move")}', fault)
    for name in goal.untouched:
        moved = any(move.name == name for move in moves)
        fault = f'{name} was moved, which is not allowed.' if moved else ''
        yield Condition(f'{name} never moved', fault)
    if goal.on_places:
        faults = (
            f'move {i} put {move.name} neither on a location nor on its like.'
            for i, move in enumerate(moves, 1)
            if move.name != table.held
            and _kind(table, move.below) not in (_kind(table, move.name), Kind.LOCATION.value)
        )
        yield Condition('everything put on a location or on its like', next(faults, ''))
    if goal.tallest is not None:
        faults = (
            f'move {i} made a tower of {move.level} objects; {goal.tallest} are allowed.'
            for i, move in enumerate(moves, 1)
            if move.level > goal.tallest
        )
        yield Condition(f'never more than {goal.tallest} on each other', next(faults, ''))


def _kind(table: Table, name: str) -> str:
    return table.known(name).kind.value if name in table.names else ''


def moves_of(table: Table, near_m: float) -> Iterator[Move]:
    """
    Yield the moves of an episode, as the targets of its calls say.

    A pose above the table is on the top of the pile that it is near to, seen from above, and any
    other on the location there.
    """
    under = {name: _first_under(table, name, near_m) for name in table.movables}
    at: Points = {name: item.pose.position_m[:2] for name, item in table.start.items()}
    for name, target in table.moves:
        under[name], at[name] = ANYWHERE, None
        if is_pose_like(target):
            x, y, z = parse_pose(target).position_m
            at[name] = (x, y)
            under[name] = _at_pose(table, under, at, name, (x, y, z), near_m)
        elif target in at and table.known(target).kind is not Kind.FIXTURE:
            at[name], under[name] = at[target], target
        yield Move(name, under[name], _level(under, name))


def _first_under(table: Table, name: str, near_m: float) -> str:
    """Return what an object was on at the start."""
    if name not in table.start:
        return ANYWHERE
    item = table.start[name]
    for other, below in table.start.items():
        level = abs(bottom_z(item) - top_z(below)) <= table.level_m
        near = math.dist(item.pose.position_m[:2], below.pose.position_m[:2]) <= near_m
        if other != name and below.kind is not Kind.FIXTURE and level and near:
            return other
    return ANYWHERE


def _at_pose(table: Table, under: dict[str, str], at: Points,
             name: str, point: tuple[float, float, float], near_m: float) -> str:  # fmt: skip
    x, y, z = point
    near = [
        other
        for other, where in at.items()
        if other != name
        and where is not None
        and table.known(other).kind is not Kind.FIXTURE
        and math.dist(where, (x, y)) <= near_m
    ]
    piles = [other for other in near if other in under and other not in under.values()]
    if piles and z - table.known(name).size_m[2] / 2 > table.level_m:
        return piles[0]
    return next((other for other in near if table.known(other).kind is Kind.LOCATION), ANYWHERE)


def _level(under: dict[str, str], name: str) -> int:
    """Return which object from the bottom an object is, counted from 1."""
    level, seen = 1, {name}
    while (name := under[name]) in under and name not in seen:
        seen.add(name)
        level += 1
    return level
