"""
Geometry of scene objects: heights, extents and outlines seen from above.

Plain floats throughout: a scene has a dozen boxes and these run many times per plan, where the
overhead of arrays of three numbers would dominate: scipy's `ConvexHull` takes eight times as long.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from bbllm.core.types import Kind, Pose, SceneObject

Point = tuple[float, float]
Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]
"""Rows; columns are the object's axes in the world frame."""

UPRIGHT_COSINE = 0.95
"""An axis is vertical when it is within 18 degrees of it."""
CIRCLE_CORNERS = 16


def is_solid(item: SceneObject) -> bool:
    """Return whether an object can be touched; a location and the hand itself cannot."""
    return item.kind not in (Kind.LOCATION, Kind.HAND)


def rotation_of(pose: Pose) -> Matrix:
    """Return the rotation matrix of a pose, rows first; columns are the object's axes."""
    x, y, z, w = pose.quat_xyzw
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def yaw_pose(position_m: Vector, yaw_rad: float) -> Pose:
    return Pose(
        position_m=position_m,
        quat_xyzw=(0.0, 0.0, math.sin(yaw_rad / 2), math.cos(yaw_rad / 2)),
    )


def half_extent(item: SceneObject, direction: Vector) -> float:
    """Return how far an object reaches from its centre along a unit vector [m]."""
    x, y, z = (
        a * direction[0] + b * direction[1] + c * direction[2]
        for a, b, c in zip(*rotation_of(item.pose), strict=True)
    )
    return _reach_m(item, x, y, z)


def half_height(item: SceneObject) -> float:
    x, y, z, w = item.pose.quat_xyzw
    # the last row of `rotation_of`
    return _reach_m(item, 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y))


def _reach_m(item: SceneObject, x: float, y: float, z: float) -> float:
    """Return how far an object reaches along a unit vector of its own frame [m]."""
    a, b, c = item.size_m
    if item.kind is Kind.CYLINDER:
        return a / 2 * math.sqrt(max(0.0, 1.0 - z**2)) + c / 2 * abs(z)
    return abs(x) * a / 2 + abs(y) * b / 2 + abs(z) * c / 2


def top_z(item: SceneObject) -> float:
    """Return the height of an object's highest point; of a location, its surface [m]."""
    return item.pose.position_m[2] + (0.0 if item.kind is Kind.LOCATION else half_height(item))


def bottom_z(item: SceneObject) -> float:
    """Return the height of the lowest point [m]."""
    return item.pose.position_m[2] - half_height(item)


def vertical_axis(item: SceneObject) -> int | None:
    """Return which of an object's own axes is vertical, None where it stands on an edge."""
    x, y, z, w = item.pose.quat_xyzw
    # the last row of `rotation_of`, of which one part at most is as large
    for axis, part in enumerate(
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y))
    ):
        if abs(part) >= UPRIGHT_COSINE:
            return axis
    return None


def is_round(item: SceneObject) -> bool:
    return item.kind is Kind.CYLINDER and vertical_axis(item) == 2


def yaw_of(item: SceneObject) -> tuple[float, float] | None:
    """
    Return the yaw of an object's edges, and after what turn it is seen to be the same [deg].

    None for what is round seen from above, or stands on an edge.
    """
    axes = flat_axes(item)
    if len(axes) < 2:
        return None
    (yaw, one), (_, other) = axes
    return math.degrees(yaw), 90.0 if math.isclose(one, other, rel_tol=0.01) else 180.0


# The objects of a table are asked for theirs many times in a row, as for their outlines.
@lru_cache(maxsize=256)
def flat_axes(item: SceneObject) -> tuple[tuple[float, float], ...]:
    """
    Return an object's horizontal axes as (yaw, full extent) pairs [rad, m].

    Two pairs, about 90 degrees apart; one with yaw 0 for what is round seen from above; none
    for what stands on an edge.
    """
    if is_round(item):
        return ((0.0, item.size_m[0]),)
    upright = vertical_axis(item)
    if upright is None:
        return ()
    rotation = rotation_of(item.pose)
    axes = [axis for axis in range(3) if axis != upright]
    return tuple(
        (math.atan2(rotation[1][axis], rotation[0][axis]), item.size_m[axis]) for axis in axes
    )


@lru_cache(maxsize=256)
def outline(item: SceneObject) -> tuple[Point, ...]:
    """Return the convex outline of an object seen from above, counter-clockwise [m]."""
    x, y, _ = item.pose.position_m
    if is_round(item):
        # Corners outside the circle, so that the outline never falls short of the object.
        radius = item.size_m[0] / 2 / math.cos(math.pi / CIRCLE_CORNERS)
        turns = [2 * math.pi * index / CIRCLE_CORNERS for index in range(CIRCLE_CORNERS)]
        return tuple((x + radius * math.cos(t), y + radius * math.sin(t)) for t in turns)
    rotation = rotation_of(item.pose)
    hx, hy, hz = (size / 2 for size in item.size_m)
    corners = [
        (
            x + rotation[0][0] * a + rotation[0][1] * b + rotation[0][2] * c,
            y + rotation[1][0] * a + rotation[1][1] * b + rotation[1][2] * c,
        )
        for a in (-hx, hx)
        for b in (-hy, hy)
        for c in (-hz, hz)
    ]
    return convex_hull(corners)


def moved_outline(item: SceneObject, turn_rad: float, to: Point) -> tuple[Point, ...]:
    """Return an object's outline as it is once it has been turned and is somewhere else."""
    x0, y0, _ = item.pose.position_m
    cos, sin = math.cos(turn_rad), math.sin(turn_rad)
    return tuple(
        (to[0] + cos * (x - x0) - sin * (y - y0), to[1] + sin * (x - x0) + cos * (y - y0))
        for x, y in outline(item)
    )


def convex_hull(points: Sequence[Point]) -> tuple[Point, ...]:
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return tuple(ordered)
    return tuple(_half_hull(ordered)[:-1] + _half_hull(ordered[::-1])[:-1])


def _half_hull(points: Sequence[Point]) -> list[Point]:
    hull: list[Point] = []
    for point in points:
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) <= 0.0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def polygon_gap(one: Sequence[Point], other: Sequence[Point]) -> float:
    """
    Return the gap between two convex polygons along the best of their edge normals [m].

    Positive: at least that far apart. Negative: they overlap by at least that much.
    """
    return max(_gap_along_edges(one, other)[0], _gap_along_edges(other, one)[0])


def free_space(one: Sequence[Point], other: Sequence[Point]) -> float:
    """Return the distance of two convex polygons, 0 where they overlap [m]."""
    if polygon_gap(one, other) <= 0.0:
        return 0.0
    pairs = ((one, other), (other, one))
    return min(
        _to_edge(point, polygon[i - 1], polygon[i])
        for points, polygon in pairs
        for point in points
        for i in range(len(polygon))
    )


def _to_edge(point: Point, start: Point, end: Point) -> float:
    """Return how far a point is from a straight piece of a line [m]."""
    way = (end[0] - start[0], end[1] - start[1])
    length_2 = way[0] ** 2 + way[1] ** 2
    along = (point[0] - start[0]) * way[0] + (point[1] - start[1]) * way[1]
    share = min(1.0, max(0.0, along / length_2)) if length_2 else 0.0
    return math.dist(point, (start[0] + share * way[0], start[1] + share * way[1]))


def are_near(one: SceneObject, other: SceneObject) -> bool:
    """Return whether two objects may overlap, seen from above; answers in no time."""
    (x, y, _), (u, v, _) = one.pose.position_m, other.pose.position_m
    reach_m = math.hypot(*one.size_m) + math.hypot(*other.size_m)
    return math.hypot(x - u, y - v) < reach_m / 2


def way_out(one: Sequence[Point], other: Sequence[Point]) -> Point:
    """Return by how much the first of two overlapping convex polygons must move to end it [m]."""
    (gap, normal), (back, inward) = _gap_along_edges(other, one), _gap_along_edges(one, other)
    if gap >= back:
        return (-gap * normal[0], -gap * normal[1])
    return (back * inward[0], back * inward[1])


def _gap_along_edges(one: Sequence[Point], other: Sequence[Point]) -> tuple[float, Point]:
    """Return the largest gap along an outward normal of the first polygon, and that normal."""
    best, along = -math.inf, (0.0, 0.0)
    for index, (ax, ay) in enumerate(one):
        bx, by = one[(index + 1) % len(one)]
        length = math.hypot(bx - ax, by - ay)
        if length < 1e-9:
            continue
        nx, ny = (by - ay) / length, (ax - bx) / length  # outward of a counter-clockwise polygon
        gap = min((x - ax) * nx + (y - ay) * ny for x, y in other)
        if gap > best:
            best, along = gap, (nx, ny)
    return best, along


def overlap(one: Sequence[Point], other: Sequence[Point]) -> list[Point]:
    """Return what two convex, counter-clockwise polygons share, empty for nothing [m]."""
    shared = [*one]
    for (ax, ay), (bx, by) in zip(other, (*other[1:], other[0])):
        # Sutherland and Hodgman: keep what is left of each edge.
        sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in shared]
        kept: list[Point] = []
        for i, (x, y) in enumerate(shared):
            (u, v), side = shared[i - 1], sides[i - 1]
            if (side < 0.0) != (sides[i] < 0.0):
                share = side / (side - sides[i])
                kept.append((u + share * (x - u), v + share * (y - v)))
            if sides[i] >= 0.0:
                kept.append((x, y))
        shared = kept
    return shared


def depth_within(polygon: Sequence[Point], point: Point) -> float:
    """Return how far inside a convex polygon a point is, negative outside [m]."""
    return -_gap_along_edges(polygon, [point])[0] if len(polygon) >= 3 else -math.inf


def way_in(polygon: Sequence[Point], point: Point, depth_m: float) -> Point:
    """Return by how much a point must move to be so far within the polygon's nearest edge [m]."""
    gap, (nx, ny) = _gap_along_edges(polygon, [point])
    return (-(gap + depth_m) * nx, -(gap + depth_m) * ny)


def contains(polygon: Sequence[Point], point: Point) -> bool:
    """Return whether a point lies inside a convex, counter-clockwise polygon."""
    return len(polygon) >= 3 and all(
        _turn(polygon[index], polygon[(index + 1) % len(polygon)], point) >= 0.0
        for index in range(len(polygon))
    )
