"""
Whether a scene could stand as it is described, and what to change where it could not.

Everything stands upright, so outlines seen from above and height intervals decide.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from bbllm.core.types import Kind, SceneObject
from bbllm.skills.shapes import bottom_z, rotation_of, top_z

Point = tuple[float, float]

TOUCH_M = 1e-4
"""Things that overlap by less than this just touch [m]."""
GAP_M = 1e-3
"""How far above its support a thing may start [m]."""
BASE_RADIUS_M = 0.16
"""Around the z axis stands the robot's base [m]."""
BASE_HEIGHT_M = 0.40
RESERVED = frozenset({'robot', 'hand', 'gripper', 'base', 'world'})


def complaints(
    tables: Sequence[SceneObject],
    objects: Sequence[SceneObject],
    locations: Sequence[SceneObject],
    fixed: Collection[str] = (),
) -> list[str]:
    """
    Return one sentence part per fault of a scene; empty where it can stand.

    Args:
        tables: What things can stand on, and be fixed to.
        objects: What stands there.
        locations: The named places.
        fixed: Names of the objects that are bolted to a table.
    """
    names = [item.name for item in (*tables, *objects, *locations)]
    return [
        *_name_faults(names),
        *(fault for item in objects for fault in _support_faults(item, tables, objects)),
        *(fault for item in locations for fault in _location_faults(item, tables)),
        *(
            f'{item.name} is fixed but stands on no table; only to a table can things be fixed'
            for item in objects
            if item.name in fixed and not _stands_on_table(item, tables)
        ),
        *_overlap_faults(tables, objects),
        *(
            f'{item.name} stands in the base of the robot; keep it {BASE_RADIUS_M} m or more '
            'from x = y = 0'
            for item in objects
            if _in_base(item)
        ),
    ]


def overlap(first: SceneObject, second: SceneObject) -> bool:
    """Tell whether two upright things share space."""
    apart_in_height = (
        bottom_z(first) > top_z(second) - TOUCH_M or bottom_z(second) > top_z(first) - TOUCH_M
    )
    return not apart_in_height and _outlines_overlap(first, second)


def _name_faults(names: Sequence[str]) -> Iterable[str]:
    for name, count in Counter(names).items():
        if count > 1:
            yield f'the name {name} is given {count} times; names must be unique'
        if name.lower() in RESERVED or name.startswith('fr3_'):
            yield f'the name {name} belongs to the robot; choose another'


def _support_faults(
    item: SceneObject, tables: Sequence[SceneObject], objects: Sequence[SceneObject]
) -> Iterable[str]:
    """Find what an object stands on; nothing, or too little of it, is a fault."""
    below = bottom_z(item)
    centre = item.pose.position_m[:2]
    for other in objects:
        level = abs(below - top_z(other)) <= GAP_M
        if other is not item and level and _contains(other, centre):
            return
    under = [table for table in tables if _contains(table, centre)]
    if not under:
        spans = ' or '.join(_span(table) for table in tables)
        yield f'{item.name} at {_at(item)} is off the table; on it is {spans}'
        return
    for table in under:
        if abs(below - top_z(table)) <= GAP_M:
            if not all(_contains(table, corner) for corner in _outline(item)):
                yield f'{item.name} at {_at(item)} hangs over the edge of {table.name}'
            return
    top = max(top_z(table) for table in under)
    side = 'floats' if below > top else 'is sunk'
    yield (
        f'{item.name} {side}: its bottom is at z = {below:.3f} and there is nothing right below '
        f'it to stand on; on the table its centre would be at '
        f'z = {top + (item.pose.position_m[2] - below):.3f}'
    )


def _stands_on_table(item: SceneObject, tables: Sequence[SceneObject]) -> bool:
    centre, below = item.pose.position_m[:2], bottom_z(item)
    return any(_contains(table, centre) and abs(below - top_z(table)) <= GAP_M for table in tables)


def _location_faults(item: SceneObject, tables: Sequence[SceneObject]) -> Iterable[str]:
    point = item.pose.position_m
    under = [table for table in tables if _contains(table, point[:2])]
    if not under:
        spans = ' or '.join(_span(table) for table in tables)
        yield f'{item.name} at {_at(item)} is off the table; on it is {spans}'
    elif all(abs(point[2] - top_z(table)) > GAP_M for table in under):
        yield f'{item.name} floats at z = {point[2]:.3f}; its table is at {top_z(under[0]):.3f}'


def _overlap_faults(
    tables: Sequence[SceneObject], objects: Sequence[SceneObject]
) -> Iterable[str]:
    for first, second in itertools.combinations((*tables, *objects), 2):
        if Kind.FIXTURE in (first.kind, second.kind) and first.kind is not second.kind:
            continue  # a thing that is sunk into a table is told so above
        if overlap(first, second):
            apart = math.dist(first.pose.position_m[:2], second.pose.position_m[:2])
            yield (
                f'{first.name} at {_at(first)} and {second.name} at {_at(second)} overlap: '
                f'their centres are {apart:.3f} m apart'
            )


def _in_base(item: SceneObject) -> bool:
    near = min(math.hypot(*point) for point in (*_outline(item), item.pose.position_m[:2]))
    return near < BASE_RADIUS_M and bottom_z(item) < BASE_HEIGHT_M


def _outline(item: SceneObject) -> list[Point]:
    """Return the corners seen from above; of a cylinder, sixteen points of its circle."""
    x, y, _ = item.pose.position_m
    if item.kind is Kind.CYLINDER:
        r = item.size_m[0] / 2
        turns = [2 * math.pi * i / 16 for i in range(16)]
        return [(x + r * math.cos(turn), y + r * math.sin(turn)) for turn in turns]
    (ax, ay), (bx, by) = _axes(item)
    a, b = item.size_m[0] / 2, item.size_m[1] / 2
    return [
        (x + i * a * ax + j * b * bx, y + i * a * ay + j * b * by)
        for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1))
    ]


def _axes(item: SceneObject) -> tuple[Point, Point]:
    """Return an upright object's own x and y axes seen from above."""
    rows = rotation_of(item.pose)
    return (rows[0][0], rows[1][0]), (rows[0][1], rows[1][1])


def _contains(item: SceneObject, point: Sequence[float]) -> bool:
    """Tell whether a point lies within an object seen from above."""
    dx, dy = point[0] - item.pose.position_m[0], point[1] - item.pose.position_m[1]
    if item.kind is Kind.CYLINDER:
        return math.hypot(dx, dy) <= item.size_m[0] / 2
    return all(
        abs(dx * axis[0] + dy * axis[1]) <= item.size_m[i] / 2 + TOUCH_M
        for i, axis in enumerate(_axes(item))
    )


def _outlines_overlap(first: SceneObject, second: SceneObject) -> bool:
    """Look for a direction that separates two outlines (exact for boxes and circles)."""
    directions = [
        axis for item in (first, second) if item.kind is not Kind.CYLINDER for axis in _axes(item)
    ]
    for this, other in ((first, second), (second, first)):
        if this.kind is Kind.CYLINDER:
            middle = this.pose.position_m[:2]
            points = [other.pose.position_m[:2]]
            if other.kind is not Kind.CYLINDER:
                points = _outline(other)
            nearest = min(points, key=lambda point: math.dist(point, middle))
            length = math.dist(nearest, middle)
            if length > 0:
                directions.append(
                    ((nearest[0] - middle[0]) / length, (nearest[1] - middle[1]) / length)
                )
    return all(_gap(first, second, direction) < -TOUCH_M for direction in directions)


def _gap(first: SceneObject, second: SceneObject, direction: Point) -> float:
    """Return the distance between two things along a direction; negative: they overlap [m]."""
    centres = sum(
        (second.pose.position_m[i] - first.pose.position_m[i]) * direction[i] for i in range(2)
    )
    return abs(centres) - _reach(first, direction) - _reach(second, direction)


def _reach(item: SceneObject, direction: Point) -> float:
    if item.kind is Kind.CYLINDER:
        return item.size_m[0] / 2
    return sum(
        abs(axis[0] * direction[0] + axis[1] * direction[1]) * item.size_m[i] / 2
        for i, axis in enumerate(_axes(item))
    )


def _span(table: SceneObject) -> str:
    (x, y, _), (a, b, _) = table.pose.position_m, table.size_m
    return (
        f'x {x - a / 2:.2f} to {x + a / 2:.2f}, y {y - b / 2:.2f} to {y + b / 2:.2f} '
        f'({table.name})'
    )


def _at(item: SceneObject) -> str:
    return '(' + ', '.join(f'{value:.3f}' for value in item.pose.position_m) + ')'
