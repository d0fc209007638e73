"""
Grips from above with room for both fingers, for picking and for placing.

All grips point straight down. At yaw 0 the tool's x axis is the world's x axis and the fingers
open along the world's y axis. Neighbours count as outlines seen from above, the fingers as boxes
that grow thicker with height, as in `robots/fr3/fr3.xml`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.skills.shapes import (
    Point,
    Vector,
    bottom_z,
    flat_axes,
    half_height,
    is_round,
    is_solid,
    outline,
    polygon_gap,
    rotation_of,
    top_z,
    way_out,
)

MAX_WIDTH_M = 0.08
TIP_BELOW_TCP_M = 0.0095
"""How far the finger tips reach below the TCP [m]."""
ROUND_YAWS = 6
WAYS_NAMED = 2
"""How many directions a refusal lists."""


@dataclass(frozen=True, slots=True)
class FingerLayer:
    """One storey of a finger, as a box."""

    above_tcp_m: float
    """Height of its underside above the TCP [m]."""
    outer_m: float
    """Distance from the plane of the finger's gripping face to its outer face [m]."""
    half_width_m: float
    """Half extent across the opening direction [m]."""


FINGER_LAYERS = (
    FingerLayer(-TIP_BELOW_TCP_M, 0.0144, 0.00875),
    FingerLayer(0.009, 0.019, 0.00875),
    FingerLayer(0.022, 0.025, 0.011),
)
HAND_ABOVE_TCP_M = 0.0384
HAND_HALF_M = (0.0315, 0.102)
"""Half extents of the hand across and along the opening direction [m]."""
PALM_ROOM_M = HAND_ABOVE_TCP_M - 0.005
"""How far what is gripped may reach up above the TCP [m]."""
SIDE_ROOM_M = 0.012
"""How much further than the object each finger opens [m]."""
LEAST_SIDE_ROOM_M = 0.002
"""The same where there is little room [m]."""
SETTLED_M = 1e-4
"""How much less that may be: what is set down a whole number of millimetres from a neighbour
settles a little nearer [m]."""
WIDEST_GRASP_M = MAX_WIDTH_M - 2 * LEAST_SIDE_ROOM_M
"""Widest object that fits with a little room on both sides [m]."""
NEIGHBOUR_GAPS_M = (0.002, 0.001)
"""What fingers keep from neighbours; the second when nothing else is possible [m]."""
DESCENT_GAP_M = NEIGHBOUR_GAPS_M[-1] / 2
"""What hand and fingers must keep on the way down, in any direction: less than the least gap of a
grip, so that rounding refuses no grip that fits [m]."""
PALM_GAP_M = 0.003
"""What the palm keeps from what is beside it and reaches up to it [m]."""
BELOW_TOP_M = 0.008
"""How far below a low object's top the TCP grips, so that the thick part of the fingers stays
above neighbours of the same height [m]."""
BELOW_TALL_TOP_M = 0.02
"""The same for objects that are taller than TALL_M [m]."""
TALL_M = 0.06
TIP_GAP_M = 0.002
"""What the finger tips keep from the surface [m]."""
_HAND_REACH_M = math.hypot(*HAND_HALF_M) + 0.01


def room_m(layer: FingerLayer) -> float:
    """Return the room that a finger needs beside an object, where a layer of it passes [m]."""
    return layer.outer_m + LEAST_SIDE_ROOM_M + NEIGHBOUR_GAPS_M[-1]


def in_mm(length_m: float) -> int:
    """Return a length that is needed, rounded up [mm]."""
    return math.ceil(length_m * 1000 - 1e-6)


def _higher_mm(above_tcp_m: float, below_top_m: float = BELOW_TOP_M) -> int:
    """Return how much higher than what is gripped so far below its top a neighbour counts [mm]."""
    return math.floor((above_tcp_m - DESCENT_GAP_M - below_top_m) * 1000 + 1e-6)


_TIP, _MIDDLE, _MOUNT = FINGER_LAYERS
ROOM_RULE = (
    f'In pick and place a finger, {2000 * _TIP.half_width_m:.0f} mm wide, comes down at the '
    f'middle of each of these sides: {in_mm(room_m(_TIP))} mm have to be free there, '
    f'{in_mm(room_m(_MIDDLE))} beside what is higher, {in_mm(room_m(_MOUNT))} if by '
    f'{_higher_mm(_MOUNT.above_tcp_m)} mm or if the object is tall (over {TALL_M * 1000:.0f} mm) '
    'or of the kind other'
)
"""What prompts state of the room that the fingers need: what `fit_fingers` measures."""
PALM_RULE = (
    f'covers {in_mm(HAND_HALF_M[1] + PALM_GAP_M)} mm each way along the fingers, '
    f'{in_mm(HAND_HALF_M[0] + PALM_GAP_M)} across: nothing there may be '
    f'{_higher_mm(HAND_ABOVE_TCP_M)} mm higher than the object '
    f'({_higher_mm(HAND_ABOVE_TCP_M, PALM_ROOM_M)} if that is tall or of the kind other)'
)
"""The same of the hand above them, as what the hand does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """The hand at one moment."""

    tcp: Pose
    """Pose of the TCP in the world frame; its z axis points out of the fingers."""
    width_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grip:
    """A pose of the tool, pointing down, that grips or releases an object."""

    position_m: Vector
    """Of the TCP, world frame [m]."""
    yaw_rad: float
    opening_m: float
    """How far the hand opens before it comes down, or after it has let go [m]."""
    side_room_m: float
    """What each finger has between it and the object at that opening [m]."""


@dataclass(frozen=True, slots=True)
class NoRoom:
    """No grip fits."""

    neighbours: tuple[str, ...]
    lacks_m: float = math.inf
    """How much more room the fingers need where least is missing; infinite where the palm is in
    the way, or nothing is between the fingers [m]."""
    ways: tuple[str, ...] = ()
    """What blocks each direction in which the fingers could open, the least blocked first."""

    @property
    def sentence(self) -> str:
        """What leaves no room for the fingers: axis, side and millimetres of each."""
        return f'the fingers have no room: {"; ".join(self.ways)}.'


def grip_widths(item: SceneObject) -> tuple[float, ...]:
    """Return the object's widths along the axes on which a hand from above can grip it [m]."""
    return tuple(extent for _, extent in flat_axes(item))


def grips_for(item: SceneObject, others: Iterable[SceneObject]) -> tuple[Grip, ...] | NoRoom:
    """Return grips on an object where it lies, roomiest first."""
    x, y, z = item.pose.position_m
    neighbours = [other for other in others if is_solid(other)]
    heights = sorted({_grip_height(item), _highest_grip(item)})
    found: list[Grip] = []
    blocked: list[NoRoom] = []
    for height in heights:
        for axis_yaw, extent in _finger_axes(item):
            if extent + 2 * LEAST_SIDE_ROOM_M > MAX_WIDTH_M:
                continue
            centre = (x, y, z + height)
            fit = fit_fingers(centre, axis_yaw - math.pi / 2, extent, neighbours)
            if isinstance(fit, Grip):
                found += [fit, _turned(fit)]
            else:
                blocked.append(fit)
        if found:
            break
    if not found:
        return no_room(blocked)
    return tuple(sorted(found, key=lambda grip: -round(grip.side_room_m, 3)))


def shifted(grip: Grip, along_m: float) -> Grip:
    """Return a grip that is moved along the tool's x axis, which is that of the fingers' faces."""
    (x, y, z), yaw = grip.position_m, grip.yaw_rad
    moved = (x + along_m * math.cos(yaw), y + along_m * math.sin(yaw), z)
    return replace(grip, position_m=moved)


def fit_fingers(
    tcp_m: Vector,
    yaw_rad: float,
    extent_m: float,
    neighbours: Sequence[SceneObject],
) -> Grip | NoRoom:
    """
    Find out how far the hand can open at a pose of the TCP in the world frame.

    *extent_m* is the width of the object between the fingers, *neighbours* are all other solid
    ones.
    """
    limits = _limits(tcp_m, yaw_rad, neighbours)
    limit = limits[0].free_m if limits else math.inf
    for gap in NEIGHBOUR_GAPS_M:
        room = min(SIDE_ROOM_M, limit - gap - extent_m / 2, (MAX_WIDTH_M - extent_m) / 2)
        if room >= LEAST_SIDE_ROOM_M - SETTLED_M:
            width = extent_m + 2 * room
            return Grip(position_m=tcp_m, yaw_rad=yaw_rad, opening_m=width, side_room_m=room)
    narrow = [each for each in limits if each.free_m < extent_m / 2 + 0.004]
    names = tuple(dict.fromkeys(each.name for each in narrow))
    needed_m = extent_m / 2 + LEAST_SIDE_ROOM_M + NEIGHBOUR_GAPS_M[-1]
    return NoRoom(names, needed_m - limit, (_way(limits, needed_m, yaw_rad + math.pi / 2),))


def in_words(dx: float, dy: float) -> str:
    """Return a direction in the frame of the arm's base, as the person at the arm sees it."""
    if abs(dx) >= abs(dy):
        return 'away from the robot' if dx > 0 else 'towards the robot'
    return 'to the left' if dy > 0 else 'to the right'


def _way(limits: Sequence['_Limit'], needed_m: float, opening_rad: float) -> str:
    """Return what blocks the fingers that open along a direction of the world's frame."""
    degrees = round(math.degrees(opening_rad)) % 180
    along = {0: 'along x', 90: 'along y'}.get(degrees, f'along {degrees} deg')
    cos, sin = math.cos(opening_rad), math.sin(opening_rad)
    nearest: dict[float, str] = {}
    for limit in limits:
        lacks_m = needed_m - limit.free_m
        if lacks_m <= 1e-9 or limit.side in nearest:
            continue
        if math.isinf(lacks_m):
            (u, v), mm = limit.out_m, in_mm(math.hypot(*limit.out_m))
            out = in_words(cos * v + sin * u, sin * v - cos * u)
            nearest = {0.0: f'{limit.name} would be under the hand unless it stood {mm} mm {out}'}
            break
        mm = in_mm(room_m(limit.layer))
        where = f' ({in_words(limit.side * cos, limit.side * sin)})' if limit.side else ''
        free = max(0, mm - in_mm(lacks_m))
        are_free = 'mm are free ' if not nearest else ''
        nearest[limit.side] = f'{free} of {mm} {are_free}beside {limit.name}{where}'
    return f'{along}, {" and ".join(nearest.values())}'


def no_room(blocked: Sequence[NoRoom]) -> NoRoom:
    """Return what several grips that do not fit come to; of many directions, the best two."""
    nearest = sorted(blocked, key=lambda each: each.lacks_m)
    names = dict.fromkeys(name for each in blocked for name in each.neighbours)
    ways = dict.fromkeys(way for each in nearest for way in each.ways)
    lacks_m = nearest[0].lacks_m if nearest else math.inf
    return NoRoom(tuple(names), lacks_m, (*ways,)[:WAYS_NAMED] or ('it is too wide',))


def local_outline(item: SceneObject, tcp_m: Vector, yaw_rad: float) -> list[Point]:
    """Return an outline in the tool's frame: across and along the opening direction [m]."""
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    return [
        (cos * (x - tcp_m[0]) + sin * (y - tcp_m[1]), cos * (y - tcp_m[1]) - sin * (x - tcp_m[0]))
        for x, y in outline(item)
    ]


@dataclass(frozen=True, slots=True)
class _Limit:
    """How far a neighbour lets the fingers open."""

    free_m: float
    """Half of that, less the thickness of the finger; -inf where the palm would be on it [m]."""
    name: str
    layer: FingerLayer
    side: float
    """1 where it is in the direction in which the hand opens, -1 for opposite, 0 for both."""
    out_m: Point = (0.0, 0.0)
    """Its way from under the palm, in the tool's frame as `local_outline` [m]."""


def _limits(tcp_m: Vector, yaw_rad: float, neighbours: Sequence[SceneObject]) -> list[_Limit]:
    """Return who limits the opening at a pose of the TCP, nearest first."""
    limits: list[_Limit] = []
    for other in neighbours:
        x, y, _ = other.pose.position_m
        if math.hypot(x - tcp_m[0], y - tcp_m[1]) > _HAND_REACH_M + math.hypot(*other.size_m) / 2:
            continue
        height = top_z(other) - tcp_m[2]
        if height <= -TIP_BELOW_TCP_M:
            continue
        shape = local_outline(other, tcp_m, yaw_rad)
        for layer in FINGER_LAYERS:
            if height > layer.above_tcp_m - DESCENT_GAP_M:
                along = _nearest_along(shape, layer.half_width_m)
                side = math.copysign(1.0, along) if along else 0.0
                limits.append(_Limit(abs(along) - layer.outer_m, other.name, layer, side))
        if height > HAND_ABOVE_TCP_M - DESCENT_GAP_M:
            palm = _hand_outline(PALM_GAP_M)
            if polygon_gap(shape, palm) < 0.0:
                out = way_out(shape, palm)
                limits.append(_Limit(-math.inf, other.name, FINGER_LAYERS[-1], 0.0, out))
    return sorted(limits, key=lambda each: (each.free_m, each.name))


def _nearest_along(shape: Sequence[Point], half_width_m: float) -> float:
    """
    Return where a polygon comes nearest to the TCP along the opening, within a finger's strip.

    0 where it reaches over it, inf where it is not in the strip [m].
    """
    strip = _clip(_clip(shape, half_width_m, 1.0), half_width_m, -1.0)
    if not strip:
        return math.inf
    along = [v for _, v in strip]
    if min(along) <= 0.0 <= max(along):
        return 0.0
    return min(along, key=abs)


def _clip(shape: Sequence[Point], bound: float, sign: float) -> list[Point]:
    """Cut a polygon off where sign * across exceeds bound."""
    kept: list[Point] = []
    for index, (ax, ay) in enumerate(shape):
        bx, by = shape[(index + 1) % len(shape)]
        inside_a, inside_b = sign * ax <= bound, sign * bx <= bound
        if inside_a:
            kept.append((ax, ay))
        if inside_a != inside_b:
            share = (sign * bound - ax) / (bx - ax)
            kept.append((sign * bound, ay + share * (by - ay)))
    return kept


def _hand_outline(gap_m: float) -> tuple[Point, ...]:
    a, b = (half_m + gap_m for half_m in HAND_HALF_M)
    return ((-a, -b), (a, -b), (a, b), (-a, b))


def _finger_axes(item: SceneObject) -> list[tuple[float, float]]:
    """Return (yaw of the opening direction, width) for every way to grip from above."""
    if is_round(item):
        step = math.pi / ROUND_YAWS
        return [(index * step, item.size_m[0]) for index in range(ROUND_YAWS)]
    axes = flat_axes(item)
    if item.kind is Kind.OTHER:  # lengthwise its ends may be thin, round and uneven
        return [axis for axis in axes if axis[1] <= min(width for _, width in axes) + 0.002]
    return list(axes)


def _grip_height(item: SceneObject) -> float:
    """Return how far above the centre the TCP grips; what may be round is widest there [m]."""
    half = half_height(item)
    if item.kind is Kind.OTHER:
        return max(0.0, half - PALM_ROOM_M, _lowest_grip(item))
    below = BELOW_TALL_TOP_M if 2 * half > TALL_M else BELOW_TOP_M
    return max(half - below, _lowest_grip(item))


def _highest_grip(item: SceneObject) -> float:
    if item.kind is Kind.OTHER:
        return _grip_height(item)
    return max(half_height(item) - BELOW_TOP_M, _lowest_grip(item))


def _lowest_grip(item: SceneObject) -> float:
    """Return the least height of the TCP above the centre that keeps the tips off the ground."""
    return bottom_z(item) + TIP_BELOW_TCP_M + TIP_GAP_M - item.pose.position_m[2]


def _turned(grip: Grip) -> Grip:
    return replace(grip, yaw_rad=math.remainder(grip.yaw_rad + math.pi, 2 * math.pi))


def tool_pose(grip: Grip) -> Pose:
    """Return the pose of a tool that points down: half a turn about x, after the yaw."""
    half = grip.yaw_rad / 2
    return Pose(position_m=grip.position_m, quat_xyzw=(math.cos(half), math.sin(half), 0.0, 0.0))


def closed_on(grip: Grip) -> Hand:
    """Return the hand once it has closed on what it grips."""
    return Hand(tcp=tool_pose(grip), width_m=grip.opening_m - 2 * grip.side_room_m)


def in_tool_frame(point_m: Vector, tcp: Pose) -> Vector:
    """Return a point of the world in the frame of the TCP [m]."""
    rotation = rotation_of(tcp)
    delta = [point_m[row] - tcp.position_m[row] for row in range(3)]
    x, y, z = (sum(rotation[row][axis] * delta[row] for row in range(3)) for axis in range(3))
    return (x, y, z)


def in_world_axes(vector_m: Vector, tcp: Pose) -> Vector:
    """Return a vector of the tool's frame in the axes of the world [m]."""
    rotation = rotation_of(tcp)
    x, y, z = (sum(rotation[row][axis] * vector_m[axis] for axis in range(3)) for row in range(3))
    return (x, y, z)


def tool_yaw(tcp: Pose) -> float:
    """Return the yaw of a tool that points down [rad]."""
    rotation = rotation_of(tcp)
    return math.atan2(rotation[1][0], rotation[0][0])
