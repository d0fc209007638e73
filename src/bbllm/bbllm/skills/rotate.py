"""
`rotate(object, degrees)`: turn an object about the vertical where it stands.

The hand grips the object, lifts it, turns it in the air, sets it down at its place and lets go.
Positive is counter-clockwise as seen from above.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from bbllm.core.arguments import TURNS_DEG
from bbllm.core.text import listed
from bbllm.core.types import Code, Fact, Kind, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.grasps import Grip, Hand, NoRoom, fit_fingers
from bbllm.skills.needs import (
    FINGER_ROOM,
    FREE_WAY,
    IN_REACH,
    taking,
    uncovered,
)
from bbllm.skills.pick import GRIPPABLE, close_on, grips_on, risks_of_taking
from bbllm.skills.placing import LEVEL_M, PLACE_GAP_M, TOUCHING_M, PlaceTarget, yaw_like
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, Glide, LetGo, Lift, Motion, MoveAbove, Rest, Rise
from bbllm.skills.shapes import (
    bottom_z,
    is_solid,
    moved_outline,
    outline,
    polygon_gap,
    top_z,
)
from bbllm.skills.skill import ArmSkill, Handling, Judge, Precondition, where_asked

MOST_AT_ONCE_DEG = 90.0
"""Largest turn in one motion: about half a turn the shorter way is not defined [deg]."""
TURNED_RAD = math.radians(5.0)
"""An object that is turned further off than this is misplaced [rad]."""
STEP_DEG = 5
"""Steps of the turns that a refusal proposes [deg]."""


def _others(item: SceneObject, scene: Scene) -> list[SceneObject]:
    return [other for other in scene.objects if other.name != item.name and is_solid(other)]


def _blockers(item: SceneObject, turn_rad: float, scene: Scene) -> list[str]:
    """Return what an object would overlap with once it is turned."""
    shape = moved_outline(item, turn_rad, item.pose.position_m[:2])
    return [
        other.name
        for other in _others(item, scene)
        if top_z(other) > bottom_z(item) + LEVEL_M
        and bottom_z(other) < top_z(item) - LEVEL_M
        and polygon_gap(shape, outline(other)) < -TOUCHING_M
    ]


def _instead(item: SceneObject, turn_deg: float, grips: Sequence[Grip], scene: Scene) -> str:
    """Return the nearest turn that would do."""
    others = _others(item, scene)
    for off_deg in range(STEP_DEG, 360, STEP_DEG):
        for other_deg in (turn_deg - off_deg, turn_deg + off_deg):
            turn_rad = math.radians(other_deg)
            if (
                STEP_DEG <= abs(other_deg) <= TURNS_DEG[1]
                and not _blockers(item, turn_rad, scene)
                and not isinstance(_turned_grips(grips, turn_rad, others), NoRoom)
            ):
                return f'A turn by {other_deg:g} degrees would do.'
    return 'Pick and place it instead.'


def _turned_grips(
    grips: Sequence[Grip], turn_rad: float, neighbours: Sequence[SceneObject]
) -> tuple[Grip, ...] | NoRoom:
    """Return the grips that have room for the fingers after the turn too, easiest turn first."""
    found: list[Grip] = []
    blocked: list[NoRoom] = []
    for grip in grips:
        width_m = grip.opening_m - 2 * grip.side_room_m
        after = fit_fingers(grip.position_m, grip.yaw_rad + turn_rad, width_m, neighbours)
        if isinstance(after, NoRoom):
            blocked.append(after)
            continue
        room_m = min(grip.side_room_m, after.side_room_m)
        found.append(replace(grip, opening_m=width_m + 2 * room_m, side_room_m=room_m))
    if not found:
        return min(blocked, key=lambda each: each.lacks_m)

    def strain(grip: Grip) -> float:
        """Return how far joint 7 turns from its middle, about [rad]."""
        x, y, _ = grip.position_m
        ahead = math.remainder(grip.yaw_rad - math.atan2(y, x), math.tau)
        return max(abs(ahead), abs(ahead + turn_rad))

    return tuple(sorted(found, key=strain))


def _plan(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    item, turn_deg = scene.object(call.args[0]), float(call.args[1])
    name, turn_rad = item.name, math.radians(turn_deg)
    failed = f'{name} cannot be rotated by {turn_deg:g} degrees'
    grips = grips_on(item, scene, 'rotated')
    if isinstance(grips, Rejection):
        return grips
    if names := _blockers(item, turn_rad, scene):
        why = f'{failed} because {listed(names)} {"is" if len(names) == 1 else "are"} in its way.'
        return Rejection(Code.OCCUPIED, f'{why} {_instead(item, turn_deg, grips, scene)}')
    turned = _turned_grips(grips, turn_rad, _others(item, scene))
    if isinstance(turned, NoRoom):
        why = f'{failed} because, once it is turned, {turned.sentence}'
        return Rejection(Code.NO_CLEARANCE, f'{why} {_instead(item, turn_deg, grips, scene)}')
    supports = tuple(
        other.name
        for other in _others(item, scene)
        if abs(top_z(other) - bottom_z(item)) <= LEVEL_M
        and polygon_gap(outline(item), outline(other)) < 0.0
    )
    parts = math.ceil(abs(turn_deg) / MOST_AT_ONCE_DEG)
    turn = Glide(
        activity=f'turning {name}',
        turn_rad=turn_rad / parts,
        touching=(name,),
        instead='a smaller turn or one the other way round would do',
    )
    down = Glide(
        activity=f'setting {name} down',
        shift_m=(0.0, 0.0, PLACE_GAP_M - HOVER_M),
        touching=(name, *supports),
    )
    target = PlaceTarget(
        label=f'its place, turned by {turn_deg:g} degrees',
        centre_m=item.pose.position_m,
        yaw_rad=yaw_like(item) + turn_rad,
        supports=supports,
    )
    above = MoveAbove(turned, HOVER_M, name, (name,), takes=True)
    return Motion(
        (above, close_on(item), Lift(name), *[turn] * parts, down, LetGo(name), Rise()),
        Rest(name, target, tolerance_rad=None if item.kind is Kind.OTHER else TURNED_RAD),
    )


ROTATE = ArmSkill(
    signature=Skill(
        'rotate',
        ('object', 'degrees'),
        'turn an object about the vertical where it stands, by up to 180 degrees, '
        'counter-clockwise as seen from above, clockwise with a minus; needs room as pick does, '
        'before and after the turn',
    ),
    needs=(
        *taking(
            'rotated',
            '{object} is in the hand; place it with a yaw, as in `x y z yaw_deg`, instead.',
        ),
        *GRIPPABLE,
        uncovered('rotated'),
        Precondition('there is room for it', Code.OCCUPIED, judge=Judge.GEOMETRY),
        FINGER_ROOM,
        IN_REACH,
        FREE_WAY,
    ),
    adds=(Fact('{object}', 'is', 'clear', estimated=True),),
    plan=_plan,
    handling=lambda call: Handling(takes=call.args[:1], verb='turn'),
    risks=risks_of_taking,
    words=(
        *('rotate', 'turn', 'spin', 'twist', 'dreh', 'drehe', 'drehen'),
        *('gira', 'girar', 'rota', 'rotar'),
    ),
    forms=('rotate {} by {}', 'turn {} by {}'),
    offered=where_asked('rotate'),
)
