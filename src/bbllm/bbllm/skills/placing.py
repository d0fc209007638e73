"""
Where a grasped object comes to rest, and how the hand is turned to set it down there.

A target of three or four numbers is the centre of the object; one of seven is the hand at the
release. Either way the object is set on the surface near its underside, and the hand points
straight down: a tilt by the quaternion (10 degrees at most) is ignored.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbllm.core.skill_calls import PoseLiteral, format_pose, is_pose_like, parse_pose
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Code, Kind, Pose, Scene, SceneObject
from bbllm.skills.grasps import (
    ROUND_YAWS,
    Grip,
    Hand,
    NoRoom,
    fit_fingers,
    in_mm,
    in_tool_frame,
    in_words,
    no_room,
    tool_yaw,
)
from bbllm.skills.rejection import Rejection
from bbllm.skills.shapes import (
    Point,
    Vector,
    are_near,
    bottom_z,
    contains,
    convex_hull,
    depth_within,
    flat_axes,
    half_height,
    is_round,
    is_solid,
    outline,
    overlap,
    polygon_gap,
    top_z,
    vertical_axis,
    way_in,
    way_out,
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
    yaw = math.radians(yaw_deg or 0.0)
    below = _supports(others, _at_rest(held, centre_m, yaw))
    alike = next((item for item in below if item.kind in MOVABLE), None)
    if yaw_deg is None and alike is not None:
        yaw = yaw_like(alike)
        below = _supports(others, _at_rest(held, centre_m, yaw))
    if not below:
        if tops := _tops(others, _at_rest(held, centre_m, yaw)):
            return _tips_over(arg, _at_rest(held, centre_m, yaw), tops, others)
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
    surface = max(map(top_z, below), default=0.0)
    return PlaceTarget(
        label=f'the pose {arg}',
        centre_m=(x, y, surface + half),
        yaw_rad=yaw,
        supports=tuple(item.name for item in below),
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
    held_yaw = yaw_like(held) + yaw - tool_yaw(hand.tcp)
    ghost = _at_rest(held, (x, y, z), held_yaw)
    below = _supports(others, ghost)
    if not below and (tops := _tops(others, ghost)):
        return _tips_over(arg, ghost, tops, others)
    if not below and (under or abs(foot) > SURFACE_SNAP_M):
        return _off_surface(arg, held, max(under, key=top_z, default=None), foot, half - offset[2])
    return PlaceTarget(
        label=f'the pose {arg}',
        centre_m=(x, y, max(map(top_z, below), default=0.0) + half),
        yaw_rad=held_yaw,
        supports=tuple(item.name for item in below),
        hand_yaw_rad=yaw,
    )


def _at_rest(held: SceneObject, centre_m: Vector, yaw_rad: float) -> SceneObject:
    """Return the object as it would be at a place."""
    if vertical_axis(held) != 2:  # it lies on its side, and its outline turns with it
        return replace(held, pose=replace(held.pose, position_m=centre_m))
    return replace(held, pose=yaw_pose(centre_m, yaw_rad))


def _tops(others: Sequence[SceneObject], ghost: SceneObject) -> list[SceneObject]:
    """Return what an object would touch with its underside, highest first, then nearest."""
    shape, foot, (x, y, _) = outline(ghost), bottom_z(ghost), ghost.pose.position_m
    tops = [
        item
        for item in others
        if is_solid(item)
        and are_near(ghost, item)
        and abs(top_z(item) - foot) <= SURFACE_SNAP_M
        and polygon_gap(shape, outline(item)) < -TOUCHING_M
    ]
    return sorted(tops, key=lambda i: (-top_z(i), math.dist(i.pose.position_m[:2], (x, y))))


def _bearing(shape: Sequence[Point], tops: Sequence[SceneObject]) -> tuple[Point, ...]:
    """Return the support polygon of an outline on some tops of one height [m]."""
    return convex_hull([point for item in tops for point in overlap(shape, outline(item))])


def _level_with(tops: Sequence[SceneObject], highest: SceneObject) -> list[SceneObject]:
    return [item for item in tops if 0.0 <= top_z(highest) - top_z(item) < LEVEL_M]


def _supports(others: Sequence[SceneObject], ghost: SceneObject) -> list[SceneObject]:
    """
    Return what an object stands on there, the highest first; empty where it would tip over.

    Its whole footprint is tested: tops of about one height carry together, and its middle must be
    inside the polygon that they span.
    """
    shape, (x, y, _) = outline(ghost), ghost.pose.position_m
    tops = _tops(others, ghost)
    for highest in tops:
        level = _level_with(tops, highest)
        if depth_within(_bearing(shape, level), (x, y)) >= EDGE_M:
            return level
    return []


def _tips_over(
    arg: str, ghost: SceneObject, tops: Sequence[SceneObject], others: Sequence[SceneObject]
) -> Rejection:
    level, (x, y, z) = _level_with(tops, tops[0]), ghost.pose.position_m
    bearing = _bearing(outline(ghost), level)
    lacks_mm = in_mm(EDGE_M - depth_within(bearing, (x, y)))
    names = listed([item.name for item in level])
    settled = replace(ghost.pose, position_m=(x, y, z + top_z(level[0]) - bottom_z(ghost)))
    return Rejection(
        Code.BAD_ARGUMENTS,
        f'{ghost.name} would tip over at the pose {arg}: it would rest on {names} alone, and its '
        f'middle is {lacks_mm} mm too far out.'
        + _nearby(arg, replace(ghost, pose=settled), others, 'it would stand'),
    )


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
LEVEL_M = 0.003
"""Tops whose heights differ by less carry an object together, and what is higher by less does not
occupy a place. A cube of 4 cm on such a step leans by 4 degrees; 18 count as upright
(`UPRIGHT_COSINE`) [m]."""
EDGE_M = 0.002
"""How far inside its support polygon the middle of an object must be: thirty times the median
error of a placed object (docs/results.md) [m]."""
SLACK_M = 0.0005
"""How much further than needed a proposed place is, since it is written rounded [m]."""
MOST_ASIDE_M = 0.03
"""How far beside a refused place another is proposed; further, it is a different place [m]."""
MOST_SHIFTS = 8
"""How often a place is shifted: in a gap that is too narrow, each side pushes it to the other."""
SPOT_GRID_M = 0.04
SPOT_RADII_M = (0.38, 0.62)
"""Radii of the free spots on a surface: well within reach [m]."""
SPOT_GAP_M = 0.05


def place_target(arg: str, held: SceneObject, scene: Scene, hand: Hand) -> PlaceTarget | Rejection:
    """
    Turn the argument of `place`, a name or a pose literal, into a free place to rest.

    What `motions.refusal` refuses is not asked again.
    """
    others = [item for item in scene.objects if item.name != held.name]
    if is_pose_like(arg):
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
    return _occupied(arg, target, held, others) or target


def put_down(held: SceneObject, target: PlaceTarget) -> SceneObject:
    """Return the object as it rests at a target."""
    return _at_rest(held, target.centre_m, target.yaw_rad)


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
    blocked: list[NoRoom] = []
    for turn in _turns(held, target, yaw_now):
        yaw = math.remainder(yaw_now + turn, 2 * math.pi)
        offset = from_tcp(centre, yaw)
        x, y, z = (target.centre_m[axis] - offset[axis] for axis in range(3))
        fit = fit_fingers((x, y, z + PLACE_GAP_M), yaw, hand.width_m, neighbours)
        if isinstance(fit, Grip):
            found.append(fit)
        else:
            blocked.append(fit)
    if not found:
        return no_room(blocked)
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
    x, y, _ = item.pose.position_m
    return PlaceTarget(
        label=item.name,
        centre_m=(x, y, top_z(item) + half_height(held)),
        yaw_rad=yaw_like(item),
        supports=(item.name,),
    )


def _occupied(
    arg: str, target: PlaceTarget, held: SceneObject, others: Sequence[SceneObject]
) -> Rejection | None:
    ghost = put_down(held, target)
    blockers = _blockers(ghost, target.supports, others)
    if not blockers:
        return None
    names = listed([item.name for item in blockers])
    if target.supports and target.label == target.supports[0]:
        stands = 'stands' if len(blockers) == 1 else 'stand'
        return Rejection(
            Code.OCCUPIED,
            f'nothing can be placed on {target.label} because {names} {stands} on it.',
        )
    around = [item.name for item in blockers if _is_around(item, target.centre_m)]
    if around:
        return Rejection(
            Code.OCCUPIED,
            f'{target.label} is occupied by {around[0]}: place takes a container by its name '
            f'alone, {around[0]}, and chooses the free spot in it.',
        )
    lacks_m = max(-polygon_gap(outline(ghost), outline(item)) for item in blockers)
    room = f'{held.name} needs {in_mm(lacks_m)} mm more room.'
    hint = _nearby(arg, ghost, others, 'it would fit')
    return Rejection(Code.OCCUPIED, f'{target.label} is occupied by {names}: {room}{hint}')


def _is_around(item: SceneObject, centre_m: Vector) -> bool:
    return item.kind is Kind.CONTAINER and contains(outline(item), centre_m[:2])


def _blockers(
    ghost: SceneObject, supports: Sequence[str], others: Sequence[SceneObject]
) -> list[SceneObject]:
    """Return what is in the way of an object at a place, but for what it stands on."""
    shape, low, high = outline(ghost), bottom_z(ghost), top_z(ghost)
    return [
        other
        for other in others
        if is_solid(other)
        and other.name not in supports
        and are_near(ghost, other)
        and top_z(other) > low + LEVEL_M
        and bottom_z(other) < high - LEVEL_M
        and polygon_gap(shape, outline(other)) < -TOUCHING_M
    ]


def _nearby(arg: str, ghost: SceneObject, others: Sequence[SceneObject], does: str) -> str:
    """Return a sentence with a place beside a refused one that works; '' where none is near."""
    shift = _shift_to_stand(ghost, others)
    if shift is None:
        return ''
    dx, dy = shift
    x, y, z = ghost.pose.position_m
    literal = PoseLiteral(position_m=(x + dx, y + dy, z))
    if is_pose_like(arg):
        (x, y, z), was = parse_pose(arg).position_m, parse_pose(arg)
        literal = replace(was, position_m=(x + dx, y + dy, z))
    elif not is_round(ghost) and abs(math.sin(2 * yaw_like(ghost))) > 0.01:
        literal = replace(literal, yaw_deg=math.degrees(yaw_like(ghost)))
    far = f'{in_mm(math.hypot(dx, dy))} mm {in_words(dx, dy)}'
    return f' At {format_pose(literal)}, {far}, {does}.'


def _shift_to_stand(ghost: SceneObject, others: Sequence[SceneObject]) -> Point | None:
    """Return the way to a place nearby where an object stands free, at the same height [m]."""
    x, y, z = ghost.pose.position_m
    dx = dy = 0.0
    for _ in range(MOST_SHIFTS):
        if math.hypot(dx, dy) > MOST_ASIDE_M:
            return None
        here = replace(ghost, pose=replace(ghost.pose, position_m=(x + dx, y + dy, z)))
        shape = outline(here)
        if supports := _supports(others, here):
            blockers = _blockers(here, [item.name for item in supports], others)
            if not blockers:
                return dx, dy
            worst = min(blockers, key=lambda item: polygon_gap(shape, outline(item)))
            step = way_out(shape, outline(worst))
        elif tops := _tops(others, here):
            bearing = _bearing(shape, _level_with(tops, tops[0]))
            step = way_in(bearing, (x + dx, y + dy), EDGE_M)
        else:
            return None
        length = math.hypot(*step)
        if length < 1e-9:
            return None
        # A little more, so that what is written with four decimals holds.
        dx += step[0] * (1 + SLACK_M / length)
        dy += step[1] * (1 + SLACK_M / length)
    return None


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
