"""Goals of what carries what: objects on others or on locations, in containers, and towers."""

import itertools
import math
from collections.abc import Mapping

from bbllm.bench.scorers.hidden import untouched
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Contained, Resting, Tower
from bbllm.bench.suites.scores import Condition, at_least, at_most, cm, first_fault
from bbllm.core.text import count_of
from bbllm.core.types import Kind, SceneObject
from bbllm.skills.containers import within
from bbllm.skills.grasps import in_tool_frame
from bbllm.skills.shapes import (
    bottom_z,
    contains,
    half_height,
    is_solid,
    outline,
    polygon_gap,
    top_z,
)

NO_NAMES = 'the goal names nothing.'


def _missing(table: Table, *names: str) -> str:
    return next((f'there is no {name}.' for name in names if name not in table.now), '')


def _far(goal: Resting | Tower, table: Table, above: str, below: str) -> str:
    way = table.apart(above, below)
    return '' if at_most(way, goal.near_m) else f'{above} is {cm(way)} from the middle of {below}'


# --- named objects on named objects or locations ------------------------------------------------


def resting(goal: Resting, table: Table) -> list[Condition]:
    """Measure from each object to what it is to rest on: height, and distance of the middles."""
    if not goal.on:
        return [Condition('something rests on something', NO_NAMES)]
    return [
        Condition(f'{above} on {below}', _not_resting(goal, table, above, below))
        for above, below in goal.on.items()
    ]


def _not_resting(goal: Resting, table: Table, above: str, below: str) -> str:
    if missing := _missing(table, above, below):
        return missing
    support = table.now[below]
    gap = bottom_z(table.now[above]) - top_z(support)
    if not at_most(abs(gap), goal.level_m):
        side = 'above' if gap > 0 else 'below'
        return f'the underside of {above} is {cm(abs(gap))} {side} the top of {below}.'
    if table.tipped(above):
        return table.tipped(above)
    if support.kind is Kind.FIXTURE:  # anywhere on furniture will do
        return (
            '' if contains(outline(support), table.xy(above)) else f'{above} is not over {below}.'
        )
    far = _far(goal, table, above, below)
    return far and f'{far}; {cm(goal.near_m)} are allowed.'


def resting_fault(goal: Resting, table: Table) -> str:
    """Go straight down from the middle of each object: what is met first must be its support."""
    for above, below in goal.on.items():
        if fault := _missing(table, above) or table.tipped(above):
            return fault
        met = _met_below(goal, table, table.now[above], below)
        if met != below:
            return f'under {above} is {met or "nothing"}, not {below}.'
    return '' if goal.on else NO_NAMES


def _met_below(goal: Resting, table: Table, item: SceneObject, support: str) -> str:
    """Return the name of what carries the middle of an object, '' where nothing does."""
    low = bottom_z(item)
    under = {
        name: top_z(other)
        for name, other in table.now.items()
        if name != item.name
        and is_solid(other)
        and contains(outline(other), item.pose.position_m[:2])
        and other.pose.position_m[2] < item.pose.position_m[2]
    }
    solid = max(under, key=under.__getitem__, default='')
    if not solid or not at_most(abs(low - under[solid]), goal.level_m):
        return ''
    wanted = table.now.get(support)
    if wanted is None or wanted.kind is Kind.FIXTURE:
        return solid
    # A location is painted on what carries it; of an object, the spot in its middle counts.
    if not at_most(abs(table.point(item.name) - table.point(support)), goal.near_m):
        return f'the rim of {solid}'
    level = at_most(abs(table.z(support) - low), goal.level_m)
    return support if wanted.kind is Kind.LOCATION and level else solid


# --- named objects in or on named containers ----------------------------------------------------

FLOOR_M = 0.004
"""A container's floor is thicker than this, the table is not above itself [m]."""


def contained(goal: Contained, table: Table) -> list[Condition]:
    """Check each pair for distance and height, and all other objects for where they are."""
    if not goal.inside:
        return [Condition('something lies in something', NO_NAMES)]
    strays = (
        f'{name} is in {container}, where it does not belong.'
        for name in table.movables
        if name not in goal.inside and name in table.now
        for container in table.every(Kind.CONTAINER)
        if container in table.now and not _not_in(goal, table, name, container)
    )
    return [
        *(
            Condition(f'{name} in {container}', _not_in(goal, table, name, container))
            for name, container in goal.inside.items()
        ),
        Condition('nothing else in a container', next(strays, '')),
    ]


def _not_in(goal: Contained, table: Table, name: str, container: str) -> str:
    if missing := _missing(table, name, container):
        return missing
    item, around = table.now[name], table.now[container]
    if not within(around, [table.xy(name)], goal.rim_m):
        return f'the middle of {name} is not {cm(goal.rim_m)} or more within {container}.'
    low = bottom_z(item) - bottom_z(around)
    if not at_least(low, FLOOR_M - goal.level_m):
        return f'{name} reaches {cm(-low)} below {container}.'
    high = bottom_z(item) - top_z(around)
    if not at_most(high, goal.level_m):
        return f'{name} is {cm(high)} above {container}.'
    x, y, _, _ = around.pose.quat_xyzw
    upright = 1.0 - 2.0 * (x * x + y * y) >= table.tilt_cosine  # nor upside down
    return '' if upright else f'{container} is not upright.'


def contained_fault(goal: Contained, table: Table) -> str:
    """Go through the containers: which objects are in the box that stands over each of them."""
    found: dict[str, str] = {}
    for container in table.every(Kind.CONTAINER):
        if container not in table.now:
            return f'{container} is gone.'
        for name in table.movables:
            if name in table.now and _over(goal, table.now[name], table.now[container]):
                found[name] = container
    for name, container in goal.inside.items():
        if found.get(name) != container:
            return f'{name} is in {found.get(name, "no container")}.'
    for name in sorted(found.keys() - goal.inside.keys()):
        return f'{name} is in {found[name]}.'
    return '' if goal.inside else NO_NAMES


def _over(goal: Contained, item: SceneObject, container: SceneObject) -> bool:
    """Whether the middle of an object is over a container, its foot between floor and rim."""
    x, y, z = in_tool_frame(item.pose.position_m, container.pose)
    a, b, c = (size / 2 for size in container.size_m)
    foot = z - (item.pose.position_m[2] - bottom_z(item))
    return (
        contains(outline(container), item.pose.position_m[:2])
        and abs(x) <= a - goal.rim_m
        and abs(y) <= b - goal.rim_m
        and FLOOR_M - goal.level_m <= foot + c <= 2 * c + goal.level_m
    )


# --- towers of so many blocks, in any order, by weight, or on the one that is fixed -------------

Blocks = tuple[str, ...]
"""Names of the blocks of a tower, from the bottom up."""
ORDERS: Mapping[str, str] = {
    'lighter_up': 'each block lighter than the one under it',
    'on_fixed': 'the block at the bottom is fixed to the table',
}


def tower(goal: Tower, table: Table) -> list[Condition]:
    """Measure from each block to each other: which is under which, and how far off."""
    towers = _towers(goal, table)
    found = [one for one in towers if len(one) == goal.height]
    low = '' if found else _too_low(goal, table, max(towers, key=len, default=()))
    conditions = [Condition(f'a tower of {goal.height} blocks', low)]
    if goal.order != 'any':
        faults = [_order_fault(goal, table, one) for one in found]
        none = f'there is no tower of {goal.height} blocks.'
        # Where several are as high, one in order is enough.
        conditions.append(Condition(ORDERS[goal.order], min(faults, key=bool, default=none)))
    return conditions + untouched(table, goal.still_m)


def _present(table: Table) -> list[str]:
    return [name for name in table.movables if name in table.now]


def _towers(goal: Tower, table: Table) -> list[Blocks]:
    """Return all towers; a block alone on the table is one."""
    there = _present(table)
    under = {
        above: below
        for above, below in itertools.permutations(there, 2)
        if _level(goal, table, above, below)
        and not _far(goal, table, above, below)
        and not table.tipped(above)
    }
    towers = []
    for top in (name for name in there if name not in under.values()):
        blocks = [top]
        while (below := under.get(blocks[-1], '')) and below not in blocks:
            blocks.append(below)
        if not table.fall(blocks[-1]):
            towers.append(tuple(reversed(blocks)))
    return towers


def _level(goal: Tower, table: Table, above: str, below: str) -> bool:
    gap = bottom_z(table.now[above]) - top_z(table.now[below])
    return at_most(abs(gap), goal.level_m)


def _too_low(goal: Tower, table: Table, highest: Blocks) -> str:
    """Return how high the highest tower is, and what was put beside the middle of another."""
    if not highest:
        return 'no block stands on the table.'
    text = f'the highest tower has {count_of(len(highest), "block")}, not {goal.height}'
    for above, below in itertools.permutations(_present(table), 2):
        touching = polygon_gap(outline(table.now[above]), outline(table.now[below])) < 0
        if touching and _level(goal, table, above, below):
            if far := _far(goal, table, above, below):
                return f'{text}; {far}, where {cm(goal.near_m)} are allowed.'
            if table.tipped(above):
                return f'{text}; {table.tipped(above)}'
    return f'{text}.'


def _order_fault(goal: Tower, table: Table, blocks: Blocks) -> str:
    """Return why a tower is not in the order that the goal wants, '' if it is."""
    if goal.order == 'on_fixed':
        bottom = blocks[0]
        return '' if bottom in table.fixed else f'{bottom}, at the bottom, is not the fixed one.'
    for below, above in itertools.pairwise(blocks):
        low, high = table.mass_kg.get(below), table.mass_kg.get(above)
        if low is None or high is None:
            return f'nothing tells what {below} and {above} weigh.'
        if not high < low:
            told = f'{above}, which weighs {1000 * high:.0f} g, is on {below}'
            return f'{told}, which weighs {1000 * low:.0f} g.'
    return ''


def tower_fault(goal: Tower, table: Table) -> str:
    """Find columns of blocks from above, and check from the side whether the heights add up."""
    if fault := first_fault(untouched(table, goal.still_m)):
        return fault
    columns = [column for column in _columns(goal, table) if len(column) == goal.height]
    none = f'no column of the table has {goal.height} blocks.'
    return min((_column_fault(goal, table, one) for one in columns), key=bool, default=none)


def _columns(goal: Tower, table: Table) -> list[Blocks]:
    """Return groups of blocks that have another one of them near above or below."""
    groups: list[set[str]] = []
    for name in _present(table):
        near = [
            group
            for group in groups
            if any(at_most(abs(table.point(name) - table.point(o)), goal.near_m) for o in group)
        ]
        groups = [group for group in groups if group not in near] + [{name}.union(*near)]
    return [tuple(sorted(group, key=table.z)) for group in groups]


def _column_fault(goal: Tower, table: Table, column: Blocks) -> str:
    bottom = column[0]
    if table.fall(bottom):
        return table.fall(bottom)
    for below, above in itertools.pairwise(column):
        wanted = half_height(table.now[below]) + half_height(table.now[above])
        if not at_most(abs(table.z(above) - table.z(below) - wanted), goal.level_m):
            return f'the height of {above} does not add up with that of {below}.'
        if not at_most(abs(table.point(above) - table.point(below)), goal.near_m):
            return f'the column of {bottom} leans too far.'
        if table.tipped(above):
            return table.tipped(above)
    if goal.order == 'on_fixed' and bottom not in table.fixed:
        return f'the column of {bottom} is on nothing fixed.'
    weights = [table.mass_kg.get(name, math.nan) for name in column]
    # A mass that is missing or there twice leaves the two lists different.
    if goal.order == 'lighter_up' and sorted(set(weights), reverse=True) != weights:
        return f'the column of {bottom} is in another order.'
    return ''
