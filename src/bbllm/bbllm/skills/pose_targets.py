"""
Where a held object shall come to rest when that is told in numbers.

Three or four numbers tell where the centre of the object shall be, seven where the hand shall be
when it lets go. Either way the object is set on the surface that its underside is near to, and the
hand points straight down: what a quaternion tilts it by (10 degrees at most) is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.types import MOVABLE, Code, Kind, Pose, SceneObject
from bbllm.skills.catalog import parse_pose
from bbllm.skills.grasps import Hand, in_tool_frame, tool_yaw
from bbllm.skills.rejection import Rejection
from bbllm.skills.shapes import (
    Vector,
    contains,
    flat_axes,
    half_height,
    is_solid,
    outline,
    top_z,
)

SURFACE_SNAP_M = 0.025
"""How far an object's underside may be from a surface for a pose to mean that surface [m]."""


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
    """Names of what it will stand on, without the table."""
    hand_yaw_rad: float | None = None
    """How the hand shall be turned, where the fingers have room; half a turn further is the same
    to them. None where only the object matters [rad]."""
    within: str = ''
    """Name of the container in which it may come to rest anywhere; empty where there is none."""


def pose_target(
    arg: str, held: SceneObject, others: Sequence[SceneObject], hand: Hand
) -> PlaceTarget | Rejection:
    """
    Turn a pose literal into a place to rest, or say why nothing can stand there.

    Args:
        arg: The literal.
        held: What is in the hand.
        others: Everything else in the scene.
        hand: Where the TCP is.
    """
    literal = parse_pose(arg)
    if literal.quat_xyzw is not None:
        return _below_hand(arg, literal.pose, held, others, hand)
    return _at_centre(arg, literal.position_m, literal.yaw_deg, held, others)


def from_tcp(point: Vector, yaw_rad: float) -> Vector:
    """
    Return where a point of the tool's frame is from the TCP when the hand points down.

    Args:
        point: In the frame of the TCP, z out of the fingers [m].
        yaw_rad: Turn of the hand about the world's z axis [rad].
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
    """Write from where to where a table goes, along the axes of the world [m]."""
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
    """Return that the object would be let go in the air, or pushed into what is there."""
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
