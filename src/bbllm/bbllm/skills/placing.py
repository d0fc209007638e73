"""
Where a grasped object comes to rest, and how the hand is turned to set it down there.

A target of three or four numbers is the centre of the object; one of seven is the hand at the
release. Either way the object is set on the surface near its underside, and the hand points
straight down: a tilt by the quaternion (10 degrees at most) is ignored.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbllm.core.skill_calls import looks_like_pose, parse_pose
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Code, Kind, Pose, Scene, SceneObject
from bbllm.skills.catalog import Rejection
from bbllm.skills.grasps import (
    ROUND_YAWS,
    Grip,
    Hand,
    NoRoom,
    fit_fingers,
    in_tool_frame,
    tool_yaw,
)
from bbllm.skills.shapes import (
    Vector,
    bottom_z,
    contains,
    flat_axes,
    half_height,
    is_round,
    is_solid,
    outline,
    polygon_gap,
    top_z,
    vertical_axis,
    yaw_pose,
)

SURFACE_SNAP_M = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTarget:
    """Where an object shall come to rest."""

    label: str
    """What people call it: `location_A`, `red_cube`, `the pose 0.5 0 0.02`."""
    centre_m: Vector
    """Of the object, when it rests there, world frame [m]."""
    yaw_rad: float
    """Turn of the object about the vertical; what is square may be turned further by 90 degrees
    [rad]."""
    supports: tuple[str, ...] = ()
    hand_yaw_rad: float | None = None
    """How the hand shall be turned, where the fingers have room; half a turn further is the same
    to them. None where only the object matters [rad]."""
    within: str = ''
    """Name of the container in which it may come to rest anywhere; empty where there is none."""


def from_tcp(point: Vector, yaw_rad: float) -> Vector:
    """
    Return where a point of the tool's frame is from the TCP [m] when the hand points down.

    The point has z out of the fingers; *yaw_rad* turns the hand about the world's z axis.
    """
    # A tool that points down has its y and z axes turned over.
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    return (cos * point[0] + sin * point[1], sin * point[0] - cos * point[1], -point[2])


def yaw_like(item: SceneObject) -> float:
    """Return the yaw of an object's edges, 0 for what is round [rad]."""
    axes = flat_axes(item)
    return axes[0][0] if axes else 0.0


def _at_centre(
    arg: str,
    centre_m: Vector,
    yaw_deg: float | None,
    held: SceneObject,
    others: Sequence[SceneObject],
) -> PlaceTarget | Rejection:
    x, y, z = centre_m
    half = half_height(held)
    below = _below(others, centre_m, z - half)
    if not below:
        # Where no furniture is known, everything stands on a table at z = 0.
        tables = [item for item in others if item.kind is Kind.FIXTURE]
        under = [item for item in tables if contains(outline(item), (x, y))]
        if tables and not under:
            return _beside(arg, tables)
        height = max((top_z(item) for item in under), default=0.0) + half
        if tables or abs(z - height) > SURFACE_SNAP_M:
            return Rejection(
                Code.BAD_ARGUMENTS,
                f'there is nothing at the pose {arg} to set {held.name} on; it would stand with '
                f'its centre at z = {height:.3f}.',
            )
    support = max(below, key=top_z, default=None)
    surface = top_z(support) if support is not None else 0.0
    yaw = math.radians(yaw_deg) if yaw_deg is not None else 0.0
    if yaw_deg is None and support is not None and support.kind in MOVABLE:
        yaw = yaw_like(support)
    return PlaceTarget(
        label=f'the pose {arg}',
        centre_m=(x, y, surface + half),
        yaw_rad=yaw,
        supports=() if support is None else (support.name,),
    )


def _below_hand(
    arg: str, tcp: Pose, held: SceneObject, others: Sequence[SceneObject], hand: Hand
) -> PlaceTarget | Rejection:
    """Find out where the object is when the hand is there, from where it is in the hand now."""
    yaw = tool_yaw(tcp)
    offset = from_tcp(in_tool_frame(held.pose.position_m, hand.tcp), yaw)
    x, y, z = (tcp.position_m[axis] + offset[axis] for axis in range(3))
    half = half_height(held)
    foot = z - half
    under = [item for item in others if is_solid(item) and contains(outline(item), (x, y))]
    tables = [item for item in others if item.kind is Kind.FIXTURE]
    if tables and not under:
        return _beside(arg, tables)
    support = max(_below(others, (x, y, z), foot), key=top_z, default=None)
    if support is None and (under or abs(foot) > SURFACE_SNAP_M):
        return _off_surface(arg, held, max(under, key=top_z, default=None), foot, half - offset[2])
    return PlaceTarget(
        label=f'the pose {arg}',
        centre_m=(x, y, (top_z(support) if support is not None else 0.0) + half),
        yaw_rad=yaw_like(held) + yaw - tool_yaw(hand.tcp),
        supports=() if support is None else (support.name,),
        hand_yaw_rad=yaw,
    )


def _below(others: Sequence[SceneObject], at: Vector, foot_m: float) -> list[SceneObject]:
    """Return what an object could stand on there, whose underside is at a height [m]."""
    return [
        item
        for item in others
        if is_solid(item)
        and contains(outline(item), (at[0], at[1]))
        and abs(top_z(item) - foot_m) <= SURFACE_SNAP_M
    ]


def _beside(arg: str, tables: Sequence[SceneObject]) -> Rejection:
    tops = ', nor over '.join(_extents(item) for item in tables)
    return Rejection(Code.BAD_ARGUMENTS, f'the pose {arg} is not over {tops}.')


def _extents(item: SceneObject) -> str:
    (low_x, high_x), (low_y, high_y) = (
        (min(along), max(along)) for along in zip(*outline(item), strict=True)
    )
    return (
        f'{item.name}, which goes from x = {low_x:.3f} to {high_x:.3f} and from '
        f'y = {low_y:.3f} to {high_y:.3f}'
    )


def _off_surface(
    arg: str, held: SceneObject, under: SceneObject | None, foot_m: float, tcp_above_m: float
) -> Rejection:
    surface, name = (0.0, 'the table') if under is None else (top_z(under), under.name)
    height_m = foot_m - surface
    does = (
        f'let go of {held.name} {height_m * 100:.1f} cm above {name}'
        if height_m > 0.0
        else f'push {held.name} {-height_m * 100:.1f} cm into {name}'
    )
    return Rejection(
        Code.BAD_ARGUMENTS,
        f'the hand at the pose {arg} would {does}; at z = {surface + tcp_above_m:.3f} it would '
        f'set {held.name} down on {name}.',
    )


PLACE_GAP_M = 0.0005
"""How far above the surface an object is let go [m]."""
TOUCHING_M = 0.001
"""Outlines that overlap by more than this cannot stand side by side [m]."""
SPOT_GRID_M = 0.04
SPOT_RADII_M = (0.38, 0.62)
"""Radii of the free spots on a surface: well within reach [m]."""
SPOT_GAP_M = 0.05


def place_target(arg: str, held: SceneObject, scene: Scene, hand: Hand) -> PlaceTarget | Rejection:
    """Turn the argument of `place`, a name or a pose literal, into a free place to rest."""
    others = [item for item in scene.objects if item.name != held.name]
    if looks_like_pose(arg):
        literal = parse_pose(arg)
        target = (
            _at_centre(arg, literal.position_m, literal.yaw_deg, held, others)
            if literal.quat_xyzw is None
            else _below_hand(arg, literal.pose, held, others, hand)
        )
    else:
        target = _at_object(scene.object(arg), held, others, hand)
    if isinstance(target, Rejection):
        return target
    return _occupied(target, held, others) or target


def place_grips(
    held: SceneObject,
    target: PlaceTarget,
    scene: Scene,
    hand: Hand,
) -> tuple[Grip, ...] | NoRoom:
    """Return poses of the tool at which the object can be released, roomiest first."""
    centre = in_tool_frame(held.pose.position_m, hand.tcp)
    yaw_now = tool_yaw(hand.tcp)
    neighbours = [item for item in scene.objects if item.name != held.name and is_solid(item)]
    found: list[Grip] = []
    blockers: list[str] = []
    for turn in _turns(held, target, yaw_now):
        yaw = math.remainder(yaw_now + turn, 2 * math.pi)
        offset = from_tcp(centre, yaw)
        x, y, z = (target.centre_m[axis] - offset[axis] for axis in range(3))
        fit = fit_fingers((x, y, z + PLACE_GAP_M), yaw, hand.width_m, neighbours)
        if isinstance(fit, Grip):
            found.append(fit)
        else:
            blockers += fit.neighbours
    if not found:
        return NoRoom(tuple(dict.fromkeys(blockers)))
    if target.hand_yaw_rad is not None:
        as_asked = [grip for grip in found if _same_fingers(grip.yaw_rad, target.hand_yaw_rad)]
        found = as_asked or found
    return tuple(sorted(found, key=lambda grip: -round(grip.side_room_m, 3)))


def square(item: SceneObject) -> bool:
    """Return whether a quarter turn changes nothing of an object seen from above."""
    widths = [extent for _, extent in flat_axes(item)]
    return len(widths) == 2 and abs(widths[0] - widths[1]) < 0.002


def _turns(held: SceneObject, target: PlaceTarget, yaw_now: float) -> list[float]:
    """Return by how much the hand may turn so that the object gets its yaw [rad]."""
    axes = flat_axes(held)
    if is_round(held) or not axes:
        first, count = 0.0, 2 * ROUND_YAWS
    else:
        first, count = target.yaw_rad - axes[0][0], 4 if square(held) else 2
    if target.hand_yaw_rad is not None:
        first = target.hand_yaw_rad - yaw_now
    return [first + 2 * math.pi * index / count for index in range(count)]


def _same_fingers(one_rad: float, other_rad: float) -> bool:
    """Return whether two yaws of the hand are the same but for half a turn."""
    return abs(math.remainder(one_rad - other_rad, math.pi)) < 1e-6


def _at_object(
    item: SceneObject, held: SceneObject, others: Sequence[SceneObject], hand: Hand
) -> PlaceTarget | Rejection:
    if item.name == held.name:
        return Rejection(
            Code.BAD_ARGUMENTS, f'{held.name} is in the hand and cannot be placed on itself.'
        )
    if item.kind is Kind.HAND:
        return Rejection(Code.BAD_ARGUMENTS, f'{held.name} is in the hand already.')
    if item.kind is Kind.FIXTURE:
        return _free_spot(item, held, others, hand)
    if item.kind is Kind.LOCATION:
        x, y, z = item.pose.position_m
        under = [
            other.name
            for other in others
            if is_solid(other)
            and abs(top_z(other) - z) < 0.01
            and contains(outline(other), (x, y))
        ]
        return PlaceTarget(
            label=item.name,
            centre_m=(x, y, z + half_height(held)),
            yaw_rad=yaw_like(item),
            supports=tuple(under),
        )
    if vertical_axis(item) is None or (item.kind is Kind.CYLINDER and not is_round(item)):
        return Rejection(
            Code.BAD_ARGUMENTS, f'{item.name} has no level top on which {held.name} could stand.'
        )
    x, y, _ = item.pose.position_m
    return PlaceTarget(
        label=item.name,
        centre_m=(x, y, top_z(item) + half_height(held)),
        yaw_rad=yaw_like(item),
        supports=(item.name,),
    )


def _occupied(
    target: PlaceTarget, held: SceneObject, others: Sequence[SceneObject]
) -> Rejection | None:
    ghost = replace(held, pose=yaw_pose(target.centre_m, target.yaw_rad))
    if vertical_axis(held) != 2:  # it lies on its side, and its outline turns with it
        ghost = replace(held, pose=replace(held.pose, position_m=target.centre_m))
    shape = outline(ghost)
    low, high = target.centre_m[2] - half_height(held), target.centre_m[2] + half_height(held)
    blockers = [
        other.name
        for other in others
        if is_solid(other)
        and other.name not in target.supports
        and top_z(other) > low + 0.003
        and bottom_z(other) < high - 0.003
        and polygon_gap(shape, outline(other)) < -TOUCHING_M
    ]
    if not blockers:
        return None
    if target.supports and target.label == target.supports[0]:
        stands = 'stands' if len(blockers) == 1 else 'stand'
        return Rejection(
            Code.OCCUPIED,
            f'nothing can be placed on {target.label} because {listed(blockers)} {stands} on it.',
        )
    return Rejection(Code.OCCUPIED, f'{target.label} is occupied by {listed(blockers)}.')


def _free_spot(
    surface: SceneObject, held: SceneObject, others: Sequence[SceneObject], hand: Hand
) -> PlaceTarget | Rejection:
    height = top_z(surface)
    area = outline(surface)
    radius = math.hypot(held.size_m[0], held.size_m[1]) / 2
    around = [
        item
        for item in others
        if item.name != surface.name and (not is_solid(item) or top_z(item) > height + 0.001)
    ]
    hand_x, hand_y, _ = hand.tcp.position_m
    steps = math.ceil(SPOT_RADII_M[1] / SPOT_GRID_M)
    spots = [
        (ix * SPOT_GRID_M, iy * SPOT_GRID_M)
        for ix in range(0, steps + 1)
        for iy in range(-steps, steps + 1)
    ]
    spots.sort(key=lambda spot: (math.hypot(spot[0] - hand_x, spot[1] - hand_y), spot))
    for x, y in spots:
        if not SPOT_RADII_M[0] <= math.hypot(x, y) <= SPOT_RADII_M[1]:
            continue
        turns = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        square_here = tuple((x + dx * radius, y + dy * radius) for dx, dy in turns)
        if not all(contains(area, corner) for corner in square_here):
            continue
        if all(polygon_gap(square_here, outline(item)) >= SPOT_GAP_M for item in around):
            return PlaceTarget(
                label=surface.name,
                centre_m=(x, y, height + half_height(held)),
                yaw_rad=0.0,
                supports=(surface.name,),
            )
    return Rejection(Code.OCCUPIED, f'no free spot on {surface.name} is left within reach.')
