"""
Motions of the tool for a call in a scene, or the reason why nothing may move.

Pure geometry: which grips would do, how high to hover, what to check afterwards. `arm.execution`
finds out which of the grips the arm can reach. A refusal (`Rejection`) is returned only where the
target certainly overlaps with the hand or the grasped object; the planner finds all else.

A pose given to `place` is where the centre of the object shall be; it is set on the surface within
25 mm of its underside, so that `0.5 0.1 0` and `0.5 0.1 0.02` both put a cube of 4 cm on the
table. Without a yaw, an object is aligned with what it is set on. A pose with a quaternion is
where the TCP shall be, for `place` when it releases.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from bbllm.core.skill_calls import looks_like_pose, parse_pose
from bbllm.core.text import listed
from bbllm.core.types import Code, Kind, Scene, SceneObject, SkillCall
from bbllm.skills.conditions import refusal
from bbllm.skills.containers import container_place, is_container, lies_in
from bbllm.skills.grasps import (
    FINGER_LAYERS,
    HAND_ABOVE_TCP_M,
    HAND_HALF_M,
    MAX_WIDTH_M,
    Grip,
    Hand,
    NoRoom,
    grip_widths,
    grips_for,
    in_tool_frame,
    tool_yaw,
)
from bbllm.skills.placing import PlaceTarget, from_tcp, place_grips, place_target
from bbllm.skills.rejection import Rejection
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


def reach_target(arg: str, scene: Scene, hand: Hand) -> tuple[str, tuple[Grip, ...]] | Rejection:
    """
    Turn the argument of `reach`, a name or a pose literal, into its label and poses of the hand.

    Any of the poses would do.
    """
    held = None if scene.held is None else scene.object(scene.held)
    yaws = [2 * math.pi * index / REACH_YAWS for index in range(REACH_YAWS)]
    if looks_like_pose(arg):
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
    if looks_like_pose(arg):
        overlaps = [_overlap(label, position, yaw, scene, hand) for yaw in yaws]
        if overlaps[0] is not None and None not in overlaps:
            return overlaps[0]
    grips = tuple(
        Grip(position_m=position, yaw_rad=yaw, opening_m=hand.width_m, side_room_m=0.0)
        for yaw in yaws
    )
    return label, grips


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


HOVER_M = 0.08
"""Height above a grip from where the tool comes straight down [m]."""
GRIP_FORCE_N = 40.0
"""Grasp force of both fingers together [N]."""
WIDTH_WINDOW_M = 0.005
"""How much a grasp may end off the expected width [m]."""


@dataclass(frozen=True, slots=True)
class MoveAbove:
    """Choose one of the grips and move over it; a height of 0 ends at the grip itself."""

    grips: tuple[Grip, ...]
    """In order of liking."""
    hover_m: float
    target: str
    touching: tuple[str, ...] = ()
    """Names of what the fingers or the grasped object may touch on the way down."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Come down on an object, grip it and lift it."""

    above: MoveAbove
    name: str
    width_m: float
    """Width of the object, the narrowest way it can lie between the fingers [m]."""
    widest_m: float
    """Its width the widest way [m]."""


@dataclass(frozen=True, slots=True)
class Place:
    """Come down with the grasped object, release it and rise."""

    above: MoveAbove
    name: str
    target: PlaceTarget


Plain = Literal['return_to_base', 'wait', 'open_gripper', 'close_gripper']
PLAIN_SKILLS: tuple[Plain, ...] = get_args(Plain)
"""Skills that need no geometry."""
Motions = Pick | Place | MoveAbove | Plain


def plan_motions(call: SkillCall, scene: Scene, hand: Hand) -> Motions | Rejection:
    """Return the motions of a call that `check_call` has passed, or why it cannot be tried."""
    return refusal(call, scene) or geometric_motions(call, scene, hand)


def geometric_motions(call: SkillCall, scene: Scene, hand: Hand) -> Motions | Rejection:
    """Do the same for a call that `conditions.refusal` does not refuse."""
    if call.skill == 'pick':
        return _pick(scene.object(call.args[0]), scene)
    if call.skill == 'place':
        return _place(call.args[0], scene, hand)
    if call.skill == 'reach':
        target = reach_target(call.args[0], scene, hand)
        return target if isinstance(target, Rejection) else MoveAbove(target[1], 0.0, target[0])
    for plain in PLAIN_SKILLS:
        if call.skill == plain:
            return plain
    return Rejection(Code.UNKNOWN_SKILL, f'The arm has no skill named {call.skill!r}.')


def _pick(item: SceneObject, scene: Scene) -> Pick | Rejection:
    name, widths = item.name, grip_widths(item)
    others = [other for other in scene.objects if other.name != name]
    grips = grips_for(item, others)
    if isinstance(grips, NoRoom):
        around = [o.name for o in others if o.name in grips.neighbours and lies_in(item, o)]
        if around:
            return Rejection(
                Code.NO_CLEARANCE,
                f'{name} cannot be picked because {around[0]} leaves no room for the fingers: it '
                'lies deeper than the rim, and has to stay there.',
            )
        return Rejection(
            Code.NO_CLEARANCE, f'{name} cannot be picked because {_in_the_way(grips)}'
        )
    widest = max(width for width in widths if width <= MAX_WIDTH_M)
    return Pick(MoveAbove(grips, HOVER_M, name, (name,)), name, min(widths), widest)


def _in_the_way(no_room: NoRoom) -> str:
    """Return who leaves no room for the fingers, and how much is missing."""
    names, verb = no_room.neighbours, 'leaves' if len(no_room.neighbours) == 1 else 'leave'
    text = f'{listed(names, "something")} {verb} no room for the fingers'
    if 0.0 < no_room.lacks_m < MAX_WIDTH_M:
        lacks_mm = math.ceil(no_room.lacks_m * 1000 - 1e-6)
        text += f', which need {lacks_mm} mm more on two opposite sides of it'
    return f'{text}.'


def _place(arg: str, scene: Scene, hand: Hand) -> Place | Rejection:
    assert scene.held is not None  # `refusal` looked
    held = scene.object(scene.held)
    if not looks_like_pose(arg) and is_container(scene.object(arg)):
        found = container_place(scene.object(arg), scene, hand)
        if isinstance(found, Rejection):
            return found
        return _put_down(held, *found)
    target = place_target(arg, held, scene, hand)
    if isinstance(target, Rejection):
        return target
    grips = place_grips(held, target, scene, hand)
    if isinstance(grips, NoRoom):
        return Rejection(
            Code.NO_CLEARANCE,
            f'{held.name} cannot be placed at {target.label} because {_in_the_way(grips)}',
        )
    return _put_down(held, target, grips)


def _put_down(held: SceneObject, target: PlaceTarget, grips: tuple[Grip, ...]) -> Place:
    above = MoveAbove(grips, HOVER_M, target.label, (held.name, *target.supports))
    return Place(above, held.name, target)
