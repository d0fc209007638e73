"""
`push(object, direction, distance)`: push an object along the table with closed fingers.

The fingers come down behind the object, at the middle of the face that points away from the
direction, and move straight on. They are turned with that face, so that the object keeps its yaw.
The robot stops by the thresholds of the safety envelope where the object does not give way.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bbllm.core.arguments import DIRECTIONS, DISTANCES_M
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Code, Fact, Kind, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.grasps import (
    FINGER_LAYERS,
    TIP_BELOW_TCP_M,
    TIP_GAP_M,
    Grip,
    Hand,
)
from bbllm.skills.needs import (
    FREE_WAY,
    IN_REACH,
    taking,
    uncovered,
)
from bbllm.skills.pick import on_edge
from bbllm.skills.placing import LEVEL_M, PlaceTarget, yaw_like
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, Glide, Motion, MoveAbove, Rest, Rise
from bbllm.skills.shapes import (
    Point,
    bottom_z,
    convex_hull,
    depth_within,
    flat_axes,
    half_height,
    is_round,
    is_solid,
    moved_outline,
    outline,
    polygon_gap,
    top_z,
)
from bbllm.skills.skill import (
    ArmSkill,
    Handling,
    Judge,
    Precondition,
    Words,
    where_asked,
)

PUSH_M_S = 0.06
"""Speed of the fingers, evenly: a faster touch counts as a collision [m/s]."""
START_GAP_M = 0.012
"""How far behind the object the fingers come down [m]."""
BACK_M = 0.01
"""How far the fingers leave the object before they rise [m]."""
PUSHED_M = 0.02
"""An object that rests further than this from where it should is misplaced [m]."""
ASIDE_M = 0.012
"""What a pushed object keeps from what it passes, as far as constraints do and a little more
[m]."""
EDGE_M = 0.02
"""What it keeps from the edge of its table [m]."""
MOST_SKEW_RAD = math.radians(15.0)
"""How far the face that is pushed may be turned from the direction: with more the fingers slide
along it [rad]."""
TIPS_M = FINGER_LAYERS[2].above_tcp_m - 0.001
"""How far above the TCP the tips reach: the fingers are thicker further up, and would push the top
of an object, so that it leans on its front edge and jams [m]."""
LEAST_CONTACT_M = 0.004
"""Least height of the face on which the fingers press [m]."""
STEP_M = 0.01
"""Steps of the distances that a refusal proposes [m]."""
BESIDE_M = 0.03
"""What it passes nearer than this is a risk [m]."""
JAMMED = (
    '{name} may have jammed: where the friction of fingers and table is about 1, fingers that '
    'push hold it down as strongly, most of all forward. With a lower `friction` in the '
    'scene file it would slide; pick and place it, or push it another way.'
)
WORDS = {'left': 'to the left', 'right': 'to the right', 'forward': 'forward', 'back': 'back'}


@dataclass(frozen=True, slots=True)
class _Face:
    """The face of an object against which the fingers press."""

    inward: Point
    """Unit vector into the object, world frame."""
    depth_m: float
    """Extent of the object along it [m]."""


def _below(call: SkillCall, scene: Scene) -> Words | None:
    """Return what the object stands on where that is no furniture and no location."""
    name = call.args[0]
    for fact in scene.facts:
        rests = fact.subject == name and fact.predicate in ('on', 'in')
        below = scene.object(fact.object) if rests and fact.object in scene.names else None
        if below is not None and below.kind in MOVABLE | {Kind.CONTAINER}:
            return {'object': name, 'below': fact.object, 'how': fact.predicate}
    return None


def _rolls(call: SkillCall, scene: Scene) -> Words | None:
    item = scene.object(call.args[0])
    lies = item.kind is Kind.CYLINDER and not is_round(item)
    return {'object': item.name} if lies else None


def _face(item: SceneObject, along: Point) -> _Face | None:
    """Return the face that points away from a direction; None where all are too skew."""
    if is_round(item):
        return _Face(along, item.size_m[0])
    way_rad = math.atan2(along[1], along[0])
    found = [
        (abs(math.remainder(yaw + turn - way_rad, math.tau)), yaw + turn, extent_m)
        for yaw, extent_m in flat_axes(item)
        for turn in (0.0, math.pi)
    ]
    skew_rad, yaw_rad, depth_m = min(found)
    if skew_rad > MOST_SKEW_RAD:
        return None
    return _Face((math.cos(yaw_rad), math.sin(yaw_rad)), depth_m)


def _grips(item: SceneObject, face: _Face, along: Point) -> tuple[tuple[Grip, ...], float]:
    """Return where the fingers come down, either way round, and how far it is to the face [m]."""
    x, y, _ = item.pose.position_m
    z = max(bottom_z(item) + TIP_BELOW_TCP_M + TIP_GAP_M, top_z(item) - TIPS_M)
    u, v = face.inward
    off_m = face.depth_m / 2 + FINGER_LAYERS[0].half_width_m
    lead_m = START_GAP_M / (u * along[0] + v * along[1])
    start = (x - u * off_m - along[0] * lead_m, y - v * off_m - along[1] * lead_m, z)
    yaw = math.atan2(v, u)
    return tuple(
        Grip(position_m=start, yaw_rad=yaw + turn, opening_m=0.0, side_room_m=0.0)
        for turn in (0.0, math.pi)
    ), lead_m


def _tips_over(item: SceneObject, face: _Face) -> Rejection | None:
    """Return that an object is too high or too flat for the tips of the fingers."""
    height_m = 2 * half_height(item)
    most_m = face.depth_m / 2 + TIPS_M + TIP_BELOW_TCP_M
    least_m = TIP_GAP_M + LEAST_CONTACT_M
    if height_m > most_m:
        return Rejection(
            Code.NOT_GRASPABLE,
            f'{item.name} is {height_m * 100:.1f} cm high, and would tip over when it is pushed; '
            f'what is that deep may be {most_m * 100:.1f} cm high. Pick and place it instead.',
        )
    if height_m < least_m:
        return Rejection(
            Code.NOT_GRASPABLE,
            f'{item.name} is {height_m * 1000:.0f} mm high, and the fingers push only what is '
            f'{least_m * 1000:.0f} mm high or more.',
        )
    return None


def _shifted(item: SceneObject, along: Point, distance_m: float) -> SceneObject:
    x, y, z = item.pose.position_m
    there = (x + along[0] * distance_m, y + along[1] * distance_m, z)
    return replace(item, pose=replace(item.pose, position_m=there))


def _supports(item: SceneObject, scene: Scene) -> list[SceneObject]:
    """Return the furniture on which an object stands; empty where none is known."""
    return [
        other
        for other in scene.objects
        if other.kind is Kind.FIXTURE
        and abs(top_z(other) - bottom_z(item)) <= LEVEL_M
        and polygon_gap(outline(item), outline(other)) < 0.0
    ]


def _beside(
    item: SceneObject, along: Point, distance_m: float, scene: Scene, room_m: float
) -> list[tuple[float, str]]:
    """Return what an object comes nearer to than so much on its way, nearest first [m]."""
    x, y, _ = item.pose.position_m
    there = (x + along[0] * distance_m, y + along[1] * distance_m)
    swept = convex_hull([*outline(item), *moved_outline(item, 0.0, there)])
    gaps = [
        (polygon_gap(swept, outline(other)), other.name)
        for other in scene.objects
        if other is not item
        and is_solid(other)
        and top_z(other) > bottom_z(item) + LEVEL_M
        and bottom_z(other) < top_z(item)
    ]
    return sorted(gap for gap in gaps if gap[0] < room_m)


def _room_to_edge(item: SceneObject, tables: Sequence[SceneObject]) -> float:
    """Return how far inside the edge of a table all of an object is; infinite without one [m]."""
    if not tables:
        return math.inf
    return max(
        min(depth_within(outline(table), corner) for corner in outline(item)) for table in tables
    )


def _blocked(item: SceneObject, along: Point, distance_m: float, scene: Scene) -> str:
    """Return what is in the way of a push, as a clause; empty for nothing."""
    if near := _beside(item, along, distance_m, scene, ASIDE_M):
        names = [name for _, name in near]
        return f'{listed(names)} {"is" if len(names) == 1 else "are"} in its way'
    tables = _supports(item, scene)
    if _room_to_edge(_shifted(item, along, distance_m), tables) < EDGE_M:
        return f'it would come too near to the edge of {tables[0].name}'
    return ''


def _instead(item: SceneObject, along: Point, distance_m: float, scene: Scene) -> str:
    """Return what would do in place of a push that is blocked."""
    shorter_m = math.floor(distance_m / STEP_M - 1e-6) * STEP_M
    while shorter_m >= DISTANCES_M[0] - 1e-9:
        if not _blocked(item, along, shorter_m, scene):
            return f'Up to {shorter_m:.2f} m would do.'
        shorter_m -= STEP_M
    ways = [
        name
        for name, way in DIRECTIONS.items()
        if way != along
        and _face(item, way) is not None
        and not _blocked(item, way, distance_m, scene)
    ]
    if ways:
        return f'As far {" or ".join(WORDS[name] for name in ways)} would do.'
    return 'Pick and place it instead.'


def _plan(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    item, way, distance_m = scene.object(call.args[0]), call.args[1], float(call.args[2])
    name, along = item.name, DIRECTIONS[way]
    failed = f'{name} cannot be pushed {distance_m:g} m {WORDS[way]}'
    face = _face(item, along)
    if face is None:
        return Rejection(
            Code.NOT_GRASPABLE,
            f'{failed} because none of its faces points that way, within '
            f'{math.degrees(MOST_SKEW_RAD):.0f} degrees. Turn it first, or pick and place it.',
        )
    if (tips := _tips_over(item, face)) is not None:
        return tips
    if why := _blocked(item, along, distance_m, scene):
        return Rejection(
            Code.OCCUPIED, f'{failed} because {why}. {_instead(item, along, distance_m, scene)}'
        )
    grips, lead_m = _grips(item, face, along)
    far_m = lead_m + distance_m
    x, y, z = _shifted(item, along, distance_m).pose.position_m
    target = PlaceTarget(
        label=f'the place {distance_m:g} m {WORDS[way]} of where it was'
        if way in ('left', 'right')
        else f'the place {distance_m:g} m further {way}',
        centre_m=(x, y, z),
        yaw_rad=yaw_like(item),
        supports=tuple(table.name for table in _supports(item, scene)),
    )
    push = Glide(
        activity=f'pushing {name}',
        shift_m=(along[0] * far_m, along[1] * far_m, 0.0),
        most_m_s=PUSH_M_S,
        touching=(name,),
        instead='a shorter distance or another direction would do',
        jammed=JAMMED.format(name=name),
    )
    back = Glide(
        activity=f'moving away from {name}',
        shift_m=(-along[0] * BACK_M, -along[1] * BACK_M, 0.0),
        touching=(name,),
    )
    return Motion(
        (MoveAbove(grips, HOVER_M, name), push, back, Rise()),
        Rest(name, target, tolerance_m=PUSHED_M),
    )


def _risks(call: SkillCall, scene: Scene) -> Iterator[str]:
    item, along, distance_m = scene.object(call.args[0]), DIRECTIONS[call.args[1]], call.args[2]
    for gap_m, name in _beside(item, along, float(distance_m), scene, BESIDE_M):
        yield f'it pushes {item.name} past {name}, {max(gap_m, 0.0) * 100:.1f} cm beside it'
    if item.kind is Kind.OTHER:
        yield f'{item.name} may roll when it is pushed'


PUSH = ArmSkill(
    signature=Skill(
        'push',
        ('object', 'direction', 'distance'),
        'push an object along the table with closed fingers, left, right, forward (away from the '
        f'robot) or back, {DISTANCES_M[0]:g} to {DISTANCES_M[1]:g} m; also for what is too wide '
        'to be picked',
    ),
    needs=(
        *taking('pushed', '{object} is in the hand, and cannot be pushed; place it first.'),
        Precondition(
            '{object} does not stand on an edge',
            Code.NOT_GRASPABLE,
            '{object} stands on an edge, and would fall over when it is pushed.',
            unmet=on_edge,
        ),
        Precondition(
            '{object} does not lie on its side, if it is a cylinder',
            Code.NOT_GRASPABLE,
            '{object} lies on its side, and would roll away; pick and place it instead.',
            unmet=_rolls,
        ),
        uncovered('pushed'),
        Precondition(
            '{object} stands on furniture',
            Code.NOT_GRASPABLE,
            '{object} is {how} {below}, and would be pushed off it; pick and place it instead.',
            unmet=_below,
        ),
        Precondition(
            'a face of {object} points that way, and it is low enough not to tip over',
            Code.NOT_GRASPABLE,
            judge=Judge.GEOMETRY,
        ),
        Precondition(
            'nothing is in the way, and the table goes on', Code.OCCUPIED, judge=Judge.GEOMETRY
        ),
        IN_REACH,
        FREE_WAY,
    ),
    removes=(Fact('{object}', 'on', '*'), Fact('*', 'occupied_by', '{object}')),
    adds=(Fact('{object}', 'is', 'clear', estimated=True),),
    plan=_plan,
    handling=lambda call: Handling(takes=call.args[:1], verb='push'),
    risks=_risks,
    slides=True,
    words=(
        *('push', 'shove', 'slide', 'nudge', 'schieb', 'schiebe', 'schieben'),
        *('empuja', 'empujar', 'desliza', 'deslizar'),
    ),
    forms=('push {} {} by {}', 'push {} to the {} by {}', 'push {} to the {} {}'),
    offered=where_asked('push'),
)
