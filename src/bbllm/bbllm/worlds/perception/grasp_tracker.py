"""
The object in the hand, from the state of the hand: no camera sees what the fingers cover.

When the fingers close and stop at the width of an object between them, it moves with the TCP from
then on. When they open it falls onto the highest support below; when they close further it has
slipped out, and its place is unknown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from bbllm.core.types import Pose, SceneObject
from bbllm.scene.relations import REST_GAP_M, find_held
from bbllm.scene.transforms import (
    angle_between,
    axes_of,
    compose,
    inverse,
    multiply,
    normalized,
    shortest_turn,
)
from bbllm.skills.containers import floor_z, is_container, is_upright, within
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import (
    UPRIGHT_COSINE,
    Vector,
    bottom_z,
    half_height,
    is_solid,
    outline,
    polygon_gap,
    top_z,
)

STOPPED_S = 0.1
"""Fingers that keep their width for so long have stopped [s]."""
STILL_M = 0.0005
"""Widths that differ by less are the same [m]."""
OPENED_M = 0.0015
"""Fingers that open by more have let go [m]."""
CLOSED_M = 0.004
"""Fingers that close by more have lost what was between them; soft objects give way [m]."""
OFF_MIDDLE_M = 0.03
"""How far from the middle between the fingers an object may have been known to be before they
pushed it there [m]."""
TURNED_RAD = 0.5
"""By how much they may have turned it [rad]."""


class HandChange(Enum):
    """What a measurement of the hand shows to have happened."""

    GRASPED = 'grasped'
    """The fingers grip an object."""
    RELEASED = 'released'
    """The fingers have let an object go."""
    SLIPPED = 'slipped'
    """An object is no longer between the fingers, which have closed."""


@dataclass(frozen=True, slots=True)
class HandEvent:
    """What has happened to one object."""

    change: HandChange
    name: str
    pose: Pose
    """Where the object was then, world frame."""


class GraspTracker:
    """Follows the fingers by every measurement of the hand, in their order."""

    def __init__(self) -> None:
        self.name: str | None = None
        """What is in the hand."""
        self._T_tcp_thing = Pose(position_m=(0.0, 0.0, 0.0))
        self.hand: Hand | None = None
        """The hand as it was measured last."""
        self.stamp_s = 0.0
        """When it was, on the world's clock [s]."""
        self.decided = False
        """Whether it is known what the newest movement of the fingers did."""
        self._stop: Hand | None = None
        self._stop_s = 0.0
        self._closing = True
        self._gripped_m = 0.0

    @property
    def pose(self) -> Pose | None:
        """Where the carried object is, world frame; None with an empty hand."""
        return None if self.hand is None else self.pose_in(self.hand)

    def pose_in(self, hand: Hand) -> Pose | None:
        """Return where the carried object is with the hand somewhere else, world frame."""
        return None if self.name is None else compose(hand.tcp, self._T_tcp_thing)

    def forget(self) -> None:
        """Accept that a camera sees the object elsewhere than in the hand."""
        self.name = None
        self._closing = False

    def update(
        self, hand: Hand, stamp_s: float, objects: Sequence[SceneObject]
    ) -> HandEvent | None:
        """
        Take in one measurement; return what it shows to have happened.

        What is older than the last, on the world's clock [s], is left out.
        """
        if self.hand is not None and stamp_s < self.stamp_s:
            return None
        before, self.hand, self.stamp_s = self.hand, hand, stamp_s
        self._follow_width(hand, stamp_s)
        if self.name is not None:
            return self._check_grip(before or hand, hand)
        return self._sight_between(hand, objects)

    def _follow_width(self, hand: Hand, stamp_s: float) -> None:
        """Note since when the fingers have their width, and whether they closed to it."""
        stop = self._stop
        if stop is None or abs(hand.width_m - stop.width_m) > STILL_M:
            self._closing = stop is None or hand.width_m < stop.width_m
            self._stop, self._stop_s, self.decided = hand, stamp_s, False

    def _check_grip(self, before: Hand, hand: Hand) -> HandEvent | None:
        assert self.name is not None  # says who calls
        self.decided = True
        change_m = hand.width_m - self._gripped_m
        if -CLOSED_M <= change_m <= OPENED_M:
            return None
        name, self.name = self.name, None
        # Objects are let go at the lowest point of a way: one of the two measurements may be from
        # before the hand had come down, or from after it had gone up again.
        tcp = min((before.tcp, hand.tcp), key=lambda tcp: tcp.position_m[2])
        pose = compose(tcp, self._T_tcp_thing)
        change = HandChange.RELEASED if change_m > 0 else HandChange.SLIPPED
        return HandEvent(change, name, pose)

    def _sight_between(self, hand: Hand, objects: Sequence[SceneObject]) -> HandEvent | None:
        stop = self._stop
        assert stop is not None  # set by _follow_width
        if self.stamp_s - self._stop_s < STOPPED_S:
            return None
        first, self.decided = not self.decided, True
        if not self._closing:
            return None
        if first:  # where they stopped: the arm may have gone on since
            return self._take(stop, [self._pushed(item, stop) for item in objects])
        return self._take(hand, objects)

    def _pushed(self, item: SceneObject, hand: Hand) -> SceneObject:
        """Return an object that was between the fingers as they have pushed it."""
        T = compose(inverse(hand.tcp), item.pose)
        pushed = in_fingers(item.pose, hand.tcp)
        turned = angle_between(T.quat_xyzw, pushed.quat_xyzw)
        if abs(T.position_m[1]) > OFF_MIDDLE_M or turned > TURNED_RAD:
            return item
        return replace(item, pose=compose(hand.tcp, pushed))

    def _take(self, hand: Hand, objects: Sequence[SceneObject]) -> HandEvent | None:
        name = find_held(objects, hand)
        if name is None:
            return None
        item = next(item for item in objects if item.name == name)
        self.name, self._gripped_m = name, hand.width_m
        self._T_tcp_thing = in_fingers(item.pose, hand.tcp)
        return HandEvent(HandChange.GRASPED, name, item.pose)


def in_fingers(pose: Pose, tcp: Pose) -> Pose:
    """
    Return where an object is in the frame of the TCP once the fingers have closed on it.

    They push it to the middle between them, and turn it until its sides lie on the pads. Both
    poses are in the world frame.
    """
    T = compose(inverse(tcp), pose)
    # The axis that lies best along the opening direction, y, is turned onto it.
    axis = max(axes_of(T.quat_xyzw), key=lambda direction: direction[1])
    turn = shortest_turn(axis, (0.0, 1.0, 0.0))
    x, _, z = T.position_m
    return Pose(position_m=(x, 0.0, z), quat_xyzw=normalized(multiply(turn, T.quat_xyzw)))


def rest_below(item: SceneObject, others: Sequence[SceneObject]) -> SceneObject | None:
    """Return an object as it rests after its release; None where no support is known below."""
    item = replace(item, pose=_stood_up(item.pose))
    shape, foot = outline(item), bottom_z(item)
    tops = [
        surface_m
        for other in others
        if is_solid(other)
        and other.name != item.name
        and (surface_m := _surface_z(other, item)) <= foot + REST_GAP_M
        and polygon_gap(shape, outline(other)) < -REST_GAP_M / 2
    ]
    if not tops:
        return None
    x, y, _ = item.pose.position_m
    centre: Vector = (x, y, max(tops) + half_height(item))
    return replace(item, pose=replace(item.pose, position_m=centre))


def set_on_supports(
    items: Sequence[SceneObject], fixed: Sequence[SceneObject]
) -> tuple[SceneObject, ...]:
    """
    Return objects at the heights at which they rest, in their order.

    Detected heights are noisy, those of surfaces are not: what is within `REST_GAP_M` of a surface
    stands on it, as its relations have it anyway. What leans, and what overlaps the rim of a
    container, stays as it is.
    """
    supports = [other for other in fixed if is_solid(other)]
    rested: dict[str, SceneObject] = {}
    # From the lowest one up; containers first, since objects in one are about as low as it is.
    for item in sorted(items, key=lambda item: (not is_container(item), bottom_z(item))):
        rested[item.name] = _set_on(item, (*supports, *rested.values()))
    return tuple(rested[item.name] for item in items)


def _set_on(item: SceneObject, supports: Sequence[SceneObject]) -> SceneObject:
    upright = replace(item, pose=_stood_up(item.pose))
    if max(axes_of(upright.pose.quat_xyzw), key=lambda up: up[2])[2] < UPRIGHT_COSINE:
        return item
    foot, shape = bottom_z(upright), outline(upright)
    under = [other for other in supports if polygon_gap(shape, outline(other)) < -REST_GAP_M / 2]
    if around := [other for other in under if is_container(other)]:
        if not all(_is_over(upright, other) for other in around):
            return item
        under = around
    lifts_m = [_surface_z(other, upright) - foot for other in under]
    lift_m = min(lifts_m, key=abs, default=math.inf)
    if abs(lift_m) > REST_GAP_M:
        return item
    x, y, z = upright.pose.position_m
    return replace(upright, pose=replace(upright.pose, position_m=(x, y, z + lift_m)))


def _surface_z(support: SceneObject, item: SceneObject) -> float:
    """Return how high the surface is on which an object above rests: of a container its floor."""
    inside = is_container(support) and _is_over(item, support)
    return floor_z(support) if inside else top_z(support)


def _is_over(item: SceneObject, container: SceneObject) -> bool:
    return is_upright(container) and within(container, [item.pose.position_m[:2]], 0.0)


def _stood_up(pose: Pose) -> Pose:
    """Turn an object that stands almost upright until it does; a surface does the same."""
    up = max(axes_of(pose.quat_xyzw), key=lambda direction: direction[2])
    if up[2] < UPRIGHT_COSINE:
        return pose
    turn = shortest_turn(up, (0.0, 0.0, 1.0))
    return replace(pose, quat_xyzw=normalized(multiply(turn, pose.quat_xyzw)))
