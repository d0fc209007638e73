"""
`reach(target)`: move the hand over a target without touching it.

A pose is refused only where hand or grasped object certainly overlap with something; the planner
of the arm finds all else.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bbllm.core.skill_calls import is_pose_like, parse_pose
from bbllm.core.text import listed
from bbllm.core.types import Code, Kind, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.grasps import (
    FINGER_LAYERS,
    HAND_ABOVE_TCP_M,
    HAND_HALF_M,
    Grip,
    Hand,
    in_tool_frame,
    tool_yaw,
)
from bbllm.skills.needs import FREE_WAY, IN_REACH, in_hand
from bbllm.skills.placing import from_tcp
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, Motion, MoveAbove
from bbllm.skills.shapes import (
    Point,
    Vector,
    bottom_z,
    half_height,
    is_solid,
    moved_outline,
    outline,
    polygon_gap,
    top_z,
)
from bbllm.skills.skill import ArmSkill, Handling, HandUse, Judge, Precondition

REACH_YAWS = 8
"""Turns of the hand about the vertical that are tried where none is asked for, evenly spread."""
OVERLAP_M = 0.001
"""What overlaps by more than this is in the way for certain [m]."""
CLEAR_M = 0.006
"""What the hand keeps from objects on its ways, and a millimetre [m]."""
HAND_HEIGHT_M = 0.06


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the hand, or the grasped object, as an upright prism in the world frame."""

    name: str
    shape: tuple[Point, ...]
    """Outline seen from above, counter-clockwise [m]."""
    low_m: float
    high_m: float


def _plan(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    """Return a way to any of some poses of the hand: over what is named, or at a pose."""
    arg = call.args[0]
    held = None if scene.held is None else scene.object(scene.held)
    yaws = [2 * math.pi * index / REACH_YAWS for index in range(REACH_YAWS)]
    if is_pose_like(arg):
        literal = parse_pose(arg)
        position, label = literal.position_m, f'the pose {arg}'
        if literal.quat_xyzw is not None:
            yaws = [tool_yaw(literal.pose) + turn for turn in (0.0, math.pi)]
        elif literal.yaw_deg is not None:
            yaws = [math.radians(literal.yaw_deg) + turn for turn in (0.0, math.pi)]
    else:
        item = scene.object(arg)
        x, y, _ = item.pose.position_m
        position, label = (x, y, top_z(item) + HOVER_M + _below_tcp(held, hand)), arg
    if is_pose_like(arg):
        overlaps = [_overlap(label, position, yaw, scene, hand) for yaw in yaws]
        if overlaps[0] is not None and None not in overlaps:
            return overlaps[0]
    grips = tuple(
        Grip(position_m=position, yaw_rad=yaw, opening_m=hand.width_m, side_room_m=0.0)
        for yaw in yaws
    )
    return Motion((MoveAbove(grips, 0.0, label),))


def _below_tcp(held: SceneObject | None, hand: Hand) -> float:
    """Return how far the grasped object hangs below the TCP [m]."""
    if held is None:
        return 0.0
    return max(0.0, hand.tcp.position_m[2] - held.pose.position_m[2] + half_height(held))


def _overlap(
    label: str, tcp_m: Vector, yaw_rad: float, scene: Scene, hand: Hand
) -> Rejection | None:
    """Return what would be inside what, None where nothing is for certain."""
    hits = _hits(tcp_m, yaw_rad, scene, hand)
    if not hits:
        return None
    names = listed(list(dict.fromkeys(name for _, _, name in hits)))
    x, y, free_z = tcp_m
    left = hits
    while left:  # higher up something else may be in the way
        free_z += left[0][0]
        left = _hits((x, y, free_z), yaw_rad, scene, hand)
    free_z = math.ceil((free_z + CLEAR_M) * 1000 - 1e-6) / 1000
    return Rejection(
        Code.NO_PATH,
        f'the hand at {label} would push {hits[0][1]} into {names}; from z = {free_z:.3f} '
        'upwards it would not.',
    )


def _hits(tcp_m: Vector, yaw_rad: float, scene: Scene, hand: Hand) -> list[tuple[float, str, str]]:
    """Return (depth [m], part of the hand, name) of what overlaps with the hand, deepest first."""
    parts = list(_fingers(tcp_m, yaw_rad, hand.width_m))
    if scene.held is not None:
        parts.append(_in_hand(scene.object(scene.held), tcp_m, yaw_rad, hand))
    hits = [
        (top_z(item) - part.low_m, part.name, item.name)
        for part in parts
        for item in scene.objects
        if is_solid(item)
        and item.name != scene.held
        and top_z(item) - part.low_m > OVERLAP_M
        # The hand comes from above: what is under a table would have to go through it.
        and (item.kind is Kind.FIXTURE or part.high_m - bottom_z(item) > OVERLAP_M)
        and polygon_gap(part.shape, outline(item)) < -OVERLAP_M
    ]
    return sorted(hits, key=lambda hit: -hit[0])


def _fingers(tcp_m: Vector, yaw_rad: float, width_m: float) -> Iterator[_Part]:
    x, y, z = tcp_m
    tops = [layer.above_tcp_m for layer in FINGER_LAYERS[1:]] + [HAND_ABOVE_TCP_M]
    for layer, top_m in zip(FINGER_LAYERS, tops, strict=True):
        half = (layer.half_width_m, layer.outer_m / 2)
        for side in (-1.0, 1.0):
            along = side * (width_m / 2 + layer.outer_m / 2)
            middle = (x - math.sin(yaw_rad) * along, y + math.cos(yaw_rad) * along)
            shape = _rectangle(middle, half, yaw_rad)
            yield _Part('its fingers', shape, z + layer.above_tcp_m, z + top_m)
    palm = _rectangle((x, y), HAND_HALF_M, yaw_rad)
    yield _Part('its palm', palm, z + HAND_ABOVE_TCP_M, z + HAND_ABOVE_TCP_M + HAND_HEIGHT_M)


def _in_hand(held: SceneObject, tcp_m: Vector, yaw_rad: float, hand: Hand) -> _Part:
    dx, dy, dz = from_tcp(in_tool_frame(held.pose.position_m, hand.tcp), yaw_rad)
    shape = moved_outline(held, yaw_rad - tool_yaw(hand.tcp), (tcp_m[0] + dx, tcp_m[1] + dy))
    z, half = tcp_m[2] + dz, half_height(held)
    return _Part(held.name, shape, z - half, z + half)


def _rectangle(middle: Point, half_m: tuple[float, float], yaw_rad: float) -> tuple[Point, ...]:
    """Return the corners of a rectangle that is turned by a yaw, counter-clockwise [m]."""
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    a, b = half_m
    return tuple(
        (middle[0] + cos * u - sin * v, middle[1] + sin * u + cos * v)
        for u, v in ((-a, -b), (a, -b), (a, b), (-a, b))
    )


REACH = ArmSkill(
    signature=Skill('reach', ('target',), 'move the hand over a target without touching it'),
    needs=(
        Precondition(
            '{target} is not in the hand',
            Code.ALREADY_HOLDING,
            '{target} is in the hand already, so the hand is at it.',
            unmet=in_hand,
        ),
        Precondition(
            'the hand is in nothing there, if {target} is a pose',
            Code.NO_PATH,
            judge=Judge.GEOMETRY,
        ),
        replace(IN_REACH, unmet=None),  # the fact is of a hand that comes down
        FREE_WAY,
    ),
    plan=_plan,
    handling=lambda call: Handling(),
    words=('reach', 'move', 'hover', 'go to', 'go over', 'go above'),
    forms=('reach over {}',),
    hand_use=HandUse.SEEN,
)
