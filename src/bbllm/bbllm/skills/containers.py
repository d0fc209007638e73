"""
Free places for a grasped object in a container, and what is in the container already.

Of a container only the outer size is given, and that it is open at the top, with a floor of 6 mm
and walls that may lean outwards. The ellipse that fits into its outline counts: exact for plates
and bowls, on the safe side for boxes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bbllm.core.text import listed
from bbllm.core.types import Code, Kind, Scene, SceneObject
from bbllm.skills.grasps import (
    FINGER_LAYERS,
    Grip,
    Hand,
    NoRoom,
    in_mm,
    in_words,
    no_room,
)
from bbllm.skills.placing import PlaceTarget, place_grips, yaw_like
from bbllm.skills.rejection import Rejection
from bbllm.skills.shapes import (
    Point,
    bottom_z,
    flat_axes,
    half_height,
    is_solid,
    moved_outline,
    outline,
    polygon_gap,
    top_z,
)

FLOOR_M = 0.006
RIM_M = 0.028
"""How far from its outer edge a container's floor may end [m]."""
FINGER_RIM_M = 0.014
"""How near to its outer edge fingers may come down [m]."""
DEEP_M = 0.02
"""What stands in a container of this height or more is in it; else it is on it [m]."""
SPOT_M = 0.015
APART_M = 0.004
"""What is kept from what lies in the container already [m]."""
SPARE_M = 0.008
"""How much larger all others are taken, where there is room: the arm keeps away from them [m]."""
SLACK_M = 0.003
"""How far from where it should be the middle of what lies in a container may be [m]."""
UPRIGHT = math.cos(math.radians(20.0))
"""Cosine of how far a container may lean; no hand can set one up again."""
TURNS = (0.0, math.pi / 4, math.pi / 2, -math.pi / 4)
"""How an object may be turned against the container, as wished first [rad]."""

_NEVER_IN = (Kind.LOCATION, Kind.FIXTURE, Kind.HAND)


def is_container(item: SceneObject) -> bool:
    return item.kind is Kind.CONTAINER


def is_upright(container: SceneObject) -> bool:
    x, y, _, _ = container.pose.quat_xyzw
    return 1.0 - 2.0 * (x * x + y * y) >= UPRIGHT  # of its own axis z, the part along the world's


def is_deep(item: SceneObject) -> bool:
    return is_container(item) and item.size_m[2] >= DEEP_M


def floor_z(container: SceneObject) -> float:
    """Return the height of the surface on which objects in a container rest [m]."""
    return bottom_z(container) + FLOOR_M


def lies_in(item: SceneObject, container: SceneObject, rim_m: float = 0.0) -> bool:
    """Return whether an object lies in or on a container, less a rim [m], by poses and sizes."""
    if not is_container(container) or is_container(item) or item.kind in _NEVER_IN:
        return False
    if not is_upright(container):
        return False
    x, y, z = item.pose.position_m
    return (
        within(container, [(x, y)], rim_m)
        and bottom_z(item) <= top_z(container) + SLACK_M
        and z >= floor_z(container) + min(item.size_m) / 2 - SLACK_M
    )


def within(container: SceneObject, points: Sequence[Point], rim_m: float) -> bool:
    """Return whether points seen from above are in a container's ellipse, less a rim [m]."""
    return all(share <= 1.0 for share in _shares(container, points, rim_m))


def _shares(container: SceneObject, points: Sequence[Point], rim_m: float) -> Iterator[float]:
    """Yield how far out points are in a container's ellipse: its edge is at 1; squared."""
    a, b = (size / 2 - rim_m for size in container.size_m[:2])
    if min(a, b) <= 0.0:
        yield math.inf
        return
    yaw = yaw_like(container)
    cx, cy, _ = container.pose.position_m
    cos, sin = math.cos(yaw), math.sin(yaw)
    for x, y in points:
        yield (
            ((cos * (x - cx) + sin * (y - cy)) / a) ** 2
            + ((cos * (y - cy) - sin * (x - cx)) / b) ** 2
        )


def _beyond_m(container: SceneObject, points: Sequence[Point], rim_m: float) -> float:
    """Return how far the farthest of some points is outside, on the line to the middle [m]."""
    x, y, _ = container.pose.position_m
    shares = _shares(container, points, rim_m)
    return max(
        math.dist((x, y), point) * (1.0 - 1.0 / math.sqrt(share)) if share > 1.0 else 0.0
        for point, share in zip(points, shares)
    )


def container_place(
    container: SceneObject, scene: Scene, hand: Hand
) -> tuple[PlaceTarget, tuple[Grip, ...]] | Rejection:
    """Return where in a container the grasped object shall rest, and how to release it there."""
    found = _place_in(container, scene, hand)
    if not isinstance(found, Rejection):
        return found
    rest = [item for item in scene.objects if is_container(item) and item is not container]
    if not rest:
        return found
    roomy = [
        item.name
        for item in rest
        if is_upright(item) and not isinstance(_place_in(item, scene, hand), Rejection)
    ]
    where = (
        f'There is room for it in {listed(roomy)}.' if roomy else 'No other container has room.'
    )
    return replace(found, message=f'{found.message} {where}')


def _place_in(
    container: SceneObject, scene: Scene, hand: Hand
) -> tuple[PlaceTarget, tuple[Grip, ...]] | Rejection:
    assert scene.held is not None  # the caller looked
    held = scene.object(scene.held)
    others = [item for item in scene.objects if item.name != held.name]
    inside = [item for item in others if lies_in(item, container)]
    targets = list(_targets(container, held, inside))
    blocked: list[NoRoom] = []
    beyond: list[float] = []
    for spare_m in (SPARE_M, 0.0):
        free = [_swollen(item, spare_m) for item in others if item is not container]
        around = replace(scene, objects=(held, *free))
        blocked = []
        for target in targets:
            grips = place_grips(held, target, around, hand)
            if isinstance(grips, NoRoom):
                blocked.append(grips)
                continue
            if clear := tuple(grip for grip in grips if _fingers_fit(grip, container)):
                return target, clear
            beyond += [_beyond_m(container, _ends(grip), FINGER_RIM_M) for grip in grips]
    if not targets:
        why = _without_fingers(container, held, inside)
    else:
        out = f'the fingers reach {in_mm(min(beyond))} mm beyond the rim' if beyond else ''
        why = '; '.join(filter(None, [*no_room(blocked).ways, out])) if blocked else out
    return _no_room(container, held, inside, blocked, why)


def _swollen(item: SceneObject, spare_m: float) -> SceneObject:
    """Return an object that is larger on all sides, as if it were so."""
    if not is_solid(item) or item.kind is Kind.FIXTURE:
        return item
    x, y, z = (size + 2 * spare_m for size in item.size_m)
    return replace(item, size_m=(x, y, z))


def _targets(
    container: SceneObject, held: SceneObject, inside: Sequence[SceneObject]
) -> Iterator[PlaceTarget]:
    shapes = [outline(item) for item in inside]
    z = floor_z(container) + half_height(held)
    for (x, y), yaw, shape in _lying(container, held):
        if within(container, shape, RIM_M) and all(
            polygon_gap(shape, other) >= APART_M for other in shapes
        ):
            yield PlaceTarget(
                label=container.name,
                centre_m=(x, y, z),
                yaw_rad=yaw,
                supports=(container.name,),
                within=container.name,
            )


def _lying(
    container: SceneObject, held: SceneObject
) -> Iterator[tuple[Point, float, tuple[Point, ...]]]:
    """Yield where in a container an object could lie, as wished first: middle, yaw, outline."""
    # The object is turned from how it is in the hand now, which may lie on any of its sides.
    axes = flat_axes(held)
    yaw_now = axes[0][0] if axes else 0.0
    for spot in _spots(container):
        for turn in TURNS if axes else (0.0,):
            yaw = yaw_like(container) + turn
            yield spot, yaw, moved_outline(held, yaw - yaw_now, spot)


def _without_fingers(
    container: SceneObject, held: SceneObject, inside: Sequence[SceneObject]
) -> str:
    """Return how much is missing for an object to lie in a container, where it does best."""
    outside_m, best, spot = math.inf, (-math.inf, ''), (0.0, 0.0)
    for here, _, shape in _lying(container, held):
        outside_m = min(outside_m, _beyond_m(container, shape, RIM_M))
        if inside and outside_m == 0.0 and within(container, shape, RIM_M):
            gap = min((polygon_gap(shape, outline(item)), item.name) for item in inside)
            best, spot = max((best, spot), (gap, here), key=lambda each: each[0][0])
    if not best[1]:
        far = f'{in_mm(outside_m)} mm ' if math.isfinite(outside_m) else ''
        return f'it reaches {far}beyond the oval'
    x, y, _ = next(item for item in inside if item.name == best[1]).pose.position_m
    side = in_words(x - spot[0], y - spot[1])
    return f'it needs {in_mm(APART_M - best[0])} mm more beside {best[1]} ({side})'


def _spots(container: SceneObject) -> list[Point]:
    cx, cy, _ = container.pose.position_m
    n = int(max(container.size_m[:2]) / 2 / SPOT_M)
    steps = [(i * SPOT_M, j * SPOT_M) for i in range(-n, n + 1) for j in range(-n, n + 1)]
    steps.sort(key=lambda step: (math.hypot(*step), step))
    spots = [(cx + dx, cy + dy) for dx, dy in steps]
    return [spot for spot in spots if within(container, [spot], RIM_M)]


def _fingers_fit(grip: Grip, container: SceneObject) -> bool:
    return within(container, _ends(grip), FINGER_RIM_M)


def _ends(grip: Grip) -> list[Point]:
    """Return the outer corners of the finger tips, seen from above [m]."""
    x, y, _ = grip.position_m
    tip = FINGER_LAYERS[0]
    sin, cos = math.sin(grip.yaw_rad), math.cos(grip.yaw_rad)
    reach = grip.opening_m / 2 + tip.outer_m
    return [
        (x + cos * across - sin * along, y + sin * across + cos * along)
        for across in (-tip.half_width_m, tip.half_width_m)
        for along in (-reach, reach)
    ]


def _no_room(
    container: SceneObject,
    held: SceneObject,
    inside: Sequence[SceneObject],
    blocked: Sequence[NoRoom],
    why: str,
) -> Rejection:
    names = [name for each in blocked for name in each.neighbours]
    names = list(dict.fromkeys([*(item.name for item in inside), *names]))
    cannot = f'{held.name} cannot be put into {container.name}'
    if names:
        leave = 'leaves' if len(names) == 1 else 'leave'
        return Rejection(
            Code.OCCUPIED if inside else Code.NO_CLEARANCE,
            f'{cannot} because {listed(names)} {leave} no room for it and the fingers. '
            f'Where it would fit best, {why}.',
        )
    oval = ' x '.join(f'{max(0.0, size - 2 * RIM_M) * 100:.1f}' for size in container.size_m[:2])
    return Rejection(
        Code.NO_CLEARANCE,
        f'{cannot}: it and the fingers do not fit into its room, an oval of {oval} cm. '
        f'Where it would fit best, {why}.',
    )
