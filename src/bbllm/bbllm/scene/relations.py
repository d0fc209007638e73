"""
The scene with its relations as triples, from objects, hand and clock.

* (a on b): a rests on b, which is a shallow container, the top of an object, a location whose
  middle is within 2 cm, or a piece of furniture; only the nearest of these, in that order, but
  all objects on whose tops it stands, the nearest first.
* (a in b): the centre of a is inside the furniture b, or a lies in the deep container b.
* (location occupied_by a): a is on that location.
* (a left_of b), (a right_of b): as the robot sees it, b is the object nearest to a at the same
  height, within 15 cm, and more beside it than before or behind it.
* (a held_by hand): a lies between the finger pads, which are as far apart as a is wide.
* (hand is empty): nothing is held.
* (a is clear): a is an object, and nothing is on top of it.
* (a reachable yes), (a reachable no): the hand can, or cannot, come down on it from above; whether
  the fingers are wide enough for it does not count.
* (a is lost): a was seen and is no longer there to be seen, see `core.observation`.

Everything is derived from what was sensed now; nothing is remembered or taken from commands. What
a source of objects infers, such as where an object is that the hand covers, is marked `estimated`.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from bbllm.core.errors import SceneError
from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.types import MOVABLE, Fact, Kind, Scene, SceneObject, Skill
from bbllm.scene.hand_force import Force, hand_reading
from bbllm.skills.containers import is_deep, lies_in
from bbllm.skills.effects import LOCATION_RADIUS_M
from bbllm.skills.grasps import Hand, in_tool_frame
from bbllm.skills.shapes import (
    bottom_z,
    contains,
    half_extent,
    half_height,
    outline,
    polygon_gap,
    rotation_of,
    top_z,
)

MAX_AGE_S = 1.0
"""A scene older than this is an error [s]."""
REST_GAP_M = 0.01
"""Largest gap, or overlap, between an object and what it rests on [m]."""
NEIGHBOUR_M = 0.15
"""How far apart neighbours may be [m]."""
PAD_M = 0.007
"""Half extent of a finger pad, without the least overlap with an object in the grip [m]."""
OFF_MIDDLE_M = 0.01
"""Largest distance of a grasped object's centre from the middle between the fingers [m]."""
WIDTH_BELOW_M = 0.004
"""Fingers grip an object when they are at most this much nearer together than it is wide [m]."""
WIDTH_ABOVE_M = 0.0025
"""The same for further apart [m]."""
HAND = 'hand'
"""How facts call the hand."""

TARGETS = MOVABLE | {Kind.LOCATION, Kind.CONTAINER}
ReachTest = Callable[[SceneObject], bool]
"""Returns whether the hand can come down on an object or location from above."""


def build_scene(
    objects: Sequence[SceneObject],
    hand: Hand | None,
    *,
    skills: Sequence[Skill],
    stamp_s: float,
    now_s: float,
    reach: ReachTest | None = None,
    carried: str | None = None,
    estimated: Collection[str] = (),
    lost: Collection[LostObject] = (),
    force_n: Force | None = None,
) -> Scene:
    """
    Return the scene with its relations.

    Args:
        objects: Everything that has a name, as sensed.
        hand: Where the TCP is and how far the fingers are open; None where there is no hand.
        skills: The skills of the robot.
        stamp_s: When it was sensed, on the world's clock [s].
        now_s: The world's clock [s].
        reach: Reachability test; without it there are no `reachable` triples.
        carried: What is in the hand, where the hand alone shows it.
        estimated: Names of objects whose pose was inferred; what rests on them is marked so.
        lost: Objects that are no longer seen.
        force_n: Force of the world on the hand, in world axes; None where it is not measured [N].

    Raises SceneError where there are no objects, or they were sensed too long ago.
    """
    if now_s - stamp_s > MAX_AGE_S:
        raise SceneError(
            f'The scene is stale: it was sensed {now_s - stamp_s:.1f} s ago, and at most '
            f'{MAX_AGE_S:.1f} s are allowed. Is the source of the objects still running?'
        )
    if not objects:
        raise SceneError('The scene is empty: no objects were sensed.')
    held = carried
    if held is None and hand is not None:
        held = find_held(objects, hand)
    facts = [*_relations(tuple(objects), held, hand is not None, reach)]
    if estimated:
        facts = [
            replace(fact, estimated=fact.subject in estimated or fact.object in estimated)
            for fact in facts
        ]
    felt = None if hand is None else hand_reading(hand, force_n)
    known = (*facts, *lost_facts(lost, now_s))
    return Scene(tuple(objects), tuple(skills), known, stamp_s, felt)


# Most scenes differ from the one before in the hand alone.
@lru_cache(maxsize=4)
def _relations(
    objects: tuple[SceneObject, ...], held: str | None, has_hand: bool, reach: ReachTest | None
) -> tuple[Fact, ...]:
    kinds = {item.name: item.kind for item in objects}
    free = [item for item in objects if item.name != held]
    movable = [item for item in free if item.kind in MOVABLE]
    resting = _resting(movable, objects, held)
    on = [fact for fact in resting if fact.predicate == 'on']
    covered = {fact.object for fact in on}

    facts: list[Fact] = []
    if held is not None:
        facts.append(Fact(held, 'held_by', HAND))
    elif has_hand:
        facts.append(Fact(HAND, 'is', 'empty'))
    facts += resting
    facts += [
        Fact(fact.object, 'occupied_by', fact.subject)
        for fact in on
        if kinds[fact.object] is Kind.LOCATION
    ]
    facts += [Fact(item.name, 'is', 'clear') for item in movable if item.name not in covered]
    facts += _beside(movable)
    if reach is not None:
        facts += [
            Fact(item.name, 'reachable', 'yes' if reach(item) else 'no')
            for item in free
            if item.kind in TARGETS
        ]
    return tuple(facts)


def find_held(objects: Sequence[SceneObject], hand: Hand) -> str | None:
    """
    Return the name of what is between the fingers, None where nothing is.

    Seen, not believed: the object overlaps the finger pads, and the distance between the fingers
    is its width along the opening direction.
    """
    rotation = rotation_of(hand.tcp)
    axes = [tuple(rotation[row][axis] for row in range(3)) for axis in range(3)]
    nearest: tuple[float, str] | None = None
    for item in objects:
        if item.kind not in MOVABLE:
            continue
        offset = in_tool_frame(item.pose.position_m, hand.tcp)
        distance = math.hypot(*offset)
        if distance > 0.25:
            continue
        half = [half_extent(item, (axis[0], axis[1], axis[2])) for axis in axes]
        surplus = hand.width_m - 2 * half[1]
        if (
            abs(offset[0]) <= half[0] + PAD_M
            and abs(offset[1]) <= OFF_MIDDLE_M
            and abs(offset[2]) <= half[2] + PAD_M
            and -WIDTH_BELOW_M <= surplus <= WIDTH_ABOVE_M
            and (nearest is None or distance < nearest[0])
        ):
            nearest = (distance, item.name)
    return nearest[1] if nearest else None


def _resting(
    movable: Sequence[SceneObject],
    objects: Sequence[SceneObject],
    held: str | None,
) -> list[Fact]:
    facts = []
    deep = {other.name for other in objects if is_deep(other)}
    tops = [(top_z(other), other) for other in objects]
    for item in movable:
        foot = bottom_z(item)
        level = [other for top, other in tops if abs(top - foot) <= REST_GAP_M]
        facts += [
            Fact(item.name, 'in' if on in deep else 'on', on)
            for on in _supports(item, objects, level, held)
        ]
        facts += [
            Fact(item.name, 'in', other.name)
            for other in objects
            if other.kind is Kind.FIXTURE and _inside(item, other)
        ]
    return facts


def _supports(
    item: SceneObject,
    objects: Sequence[SceneObject],
    level: Sequence[SceneObject],
    held: str | None,
) -> list[str]:
    """
    Return what an object rests on: a container, objects, a location, or else furniture.

    *level* are those whose tops are as high as the underside of the object.
    """
    if around := [other.name for other in objects if lies_in(item, other)]:
        return around[:1]
    under = [
        (_gap_m(item, other), other.name)
        for other in level
        if other.kind in MOVABLE and other.name != held and stands_on(item, other)
    ]
    marks = [
        (_gap_m(item, other), other.name)
        for other in level
        if other.kind is Kind.LOCATION and _gap_m(item, other) <= LOCATION_RADIUS_M
    ]
    if under:
        return [name for _, name in sorted(under)]
    if marks:
        return [min(marks)[1]]
    here = item.pose.position_m[:2]
    wide = [o.name for o in level if o.kind is Kind.FIXTURE and contains(outline(o), here)]
    return wide[:1]


def stands_on(item: SceneObject, other: SceneObject) -> bool:
    """Whether the underside of an object is at the top of another, above a part of it."""
    return (
        other.name != item.name
        and other.pose.position_m[2] < item.pose.position_m[2]
        and abs(bottom_z(item) - top_z(other)) <= REST_GAP_M
        and polygon_gap(outline(item), outline(other)) < -REST_GAP_M / 2
    )


def _inside(item: SceneObject, other: SceneObject) -> bool:
    offset = in_tool_frame(item.pose.position_m, other.pose)
    return all(abs(offset[axis]) < other.size_m[axis] / 2 for axis in range(3))


def _beside(items: Sequence[SceneObject]) -> list[Fact]:
    """Relate each object to the nearest one only; all pairs would drown the rest in a prompt."""
    halves = {item.name: half_height(item) for item in items}
    facts: list[Fact] = []
    for item in items:
        near = [
            (_gap_m(item, other), other.name, other)
            for other in items
            if other is not item
            and abs(other.pose.position_m[2] - item.pose.position_m[2])
            < halves[item.name] + halves[other.name]
        ]
        if not near:
            continue
        distance, _, other = min(near)
        dx, dy = (other.pose.position_m[i] - item.pose.position_m[i] for i in range(2))
        if distance > NEIGHBOUR_M or abs(dy) < abs(dx):
            continue
        side, opposite = ('right_of', 'left_of') if dy > 0 else ('left_of', 'right_of')
        if Fact(other.name, opposite, item.name) not in facts:
            facts.append(Fact(item.name, side, other.name))
    return facts


def _gap_m(item: SceneObject, other: SceneObject) -> float:
    """Return how far apart two objects are, seen from above [m]."""
    return math.dist(item.pose.position_m[:2], other.pose.position_m[:2])
