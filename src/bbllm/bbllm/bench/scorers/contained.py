"""Named things in or on named containers, judged by where they have come to rest."""

from __future__ import annotations

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Contained
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.types import Kind, SceneObject
from bbllm.skills.containers import within
from bbllm.skills.grasps import in_tool_frame
from bbllm.skills.shapes import bottom_z, contains, outline, top_z

FLOOR_M = 0.004
"""A container's floor is thicker than this, the table is not above itself [m]."""


def parts_of(goal: Contained, table: Table) -> list[Part]:
    """Look at each pair for distance and height, and at all other things for where they are."""
    if not goal.inside:
        return [Part('something lies in something', 'the goal names nothing.')]
    pairs = [
        Part(f'{thing} in {container}', _fault(goal, table, thing, container))
        for thing, container in goal.inside.items()
    ]
    return [*pairs, Part('nothing else in a container', _stray(goal, table))]


def _fault(goal: Contained, table: Table, thing: str, container: str) -> str:
    for name in (thing, container):
        if name not in table.now:
            return f'there is no {name}.'
    item, around = table.now[thing], table.now[container]
    if not within(around, [table.xy(thing)], goal.rim_m):
        return f'the middle of {thing} is not {cm(goal.rim_m)} or more within {container}.'
    low = bottom_z(item) - bottom_z(around)
    if not at_least(low, FLOOR_M - goal.level_m):
        return f'{thing} reaches {cm(-low)} below {container}.'
    high = bottom_z(item) - top_z(around)
    if not at_most(high, goal.level_m):
        return f'{thing} is {cm(high)} above {container}.'
    upset = _upset(table, around)
    return f'{container} {upset}.' if upset else ''


def _upset(table: Table, container: SceneObject) -> str:
    if table.tilt_cosine > _up(container):  # nor upside down
        return 'is not upright'
    return ''


def _up(item: SceneObject) -> float:
    x, y, _, _ = item.pose.quat_xyzw
    return 1.0 - 2.0 * (x * x + y * y)


def _stray(goal: Contained, table: Table) -> str:
    for name in table.movables:
        if name in goal.inside or name not in table.now:
            continue
        for container in table.every(Kind.CONTAINER):
            if container in table.now and not _fault(goal, table, name, container):
                return f'{name} is in {container}, where it does not belong.'
    return ''


def second_look(goal: Contained, table: Table) -> Finding:
    """Go through the containers: which things are in the box that stands over each of them."""
    found: dict[str, str] = {}
    for container in table.every(Kind.CONTAINER):
        if container not in table.now:
            return Finding(False, f'{container} is gone.')
        for name in table.movables:
            if name in table.now and _over(goal, table.now[name], table.now[container]):
                found[name] = container
    for thing, container in goal.inside.items():
        if found.get(thing) != container:
            return Finding(False, f'{thing} is in {found.get(thing, "no container")}.')
    if strays := sorted(set(found) - set(goal.inside)):
        return Finding(False, f'{strays[0]} is in {found[strays[0]]}.')
    return Finding(bool(goal.inside), '' if goal.inside else 'the goal names nothing.')


def _over(goal: Contained, item: SceneObject, container: SceneObject) -> bool:
    """Tell whether a thing's middle is over a container, and its foot between floor and rim."""
    x, y, z = in_tool_frame(item.pose.position_m, container.pose)
    a, b, c = (size / 2 for size in container.size_m)
    foot = z - (item.pose.position_m[2] - bottom_z(item))
    return (
        contains(outline(container), item.pose.position_m[:2])
        and abs(x) <= a - goal.rim_m
        and abs(y) <= b - goal.rim_m
        and FLOOR_M - goal.level_m <= foot + c <= 2 * c + goal.level_m
    )
