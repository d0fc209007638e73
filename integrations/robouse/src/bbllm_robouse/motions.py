"""
Skills of the floating gripper as pure functions: from a table and names to legs of the hand.

The gripper has no wrist: its fingers close along y, whatever the object's yaw.
"""

import itertools
import math
from dataclasses import dataclass

from bbllm_robouse.table import (
    CONTAINERS,
    HIGH_M,
    KINDS,
    LOW_M,
    OPEN_M,
    OPENED_M,
    TABLE_M,
    WIDEST_M,
    Point,
    Table,
    Thing,
    from_scene_frame,
)

from bbllm.core.arguments import DIRECTIONS, DISTANCES_M
from bbllm.core.skill_calls import is_pose_like, parse_pose
from bbllm.core.types import Code, Skill

CLOSED = 1.0
CLOSE_STEPS = 15
"""So many steps the fingers take to close, by the task texts."""
CARRY_M = 0.15
"""Least height of the tool point between two places [m]."""
OVER_M = 0.02
"""What is kept above what the hand passes [m]."""
SIDE_M = 0.01
"""Room beside an object for each finger [m]."""
DROP_M = 0.003
"""An object is let go at most so far above its surface [m]."""
GENTLE_M = 0.003
"""How far a held object is lowered in one step of 20 ms: 0.15 m/s, below the 0.2 m/s that the
tasks with fragile objects allow [m]."""
FAST_M = 0.01
"""How far the hand goes in one step with a full action, by the action's description [m]."""
RIM_M = 0.012
"""What an object keeps from the walls of a container: goals take 8 mm [m]."""
BESIDE_M = 0.012
"""What it keeps from others in it [m]."""
FINGER_M = 0.037
"""From the middle of closed fingers to the face of what they push: 12 mm, and 25 mm to come down
beside it [m]."""
PUSH_Z_M = 0.02

SKILLS = (
    Skill(
        'pick',
        ('object',),
        'grip an object from above and lift it; the fingers close along x, and take up to '
        f'{WIDEST_M:g} m',
        ('grasp', 'grab', 'take'),
    ),
    Skill(
        'place',
        ('target',),
        'put down what is held: at a location, on an object, in or on a container, on the table, '
        'or with its centre at `x y z` [m]; it is carried over what stands between',
        ('put',),
    ),
    Skill(
        'push',
        ('object', 'direction', 'distance'),
        'push an object along the table with closed fingers: left, right, forward (away) or back, '
        f'by {DISTANCES_M[0]:g} to {DISTANCES_M[1]:g} m, as in `push grey_block left 0.15`; the '
        'hand follows behind it, within reach',
    ),
    Skill('open', ('drawer',), 'pull a drawer open by its handle, as in `open drawer`'),
    Skill('close', ('drawer',), 'push a drawer shut, as in `close drawer`'),
    Skill('return_to_base', (), 'move the hand up and out of the way'),
)


@dataclass(frozen=True, slots=True)
class Leg:
    """The tool point goes straight to a place."""

    to_m: Point
    grip: float
    """The position of the fingers, -1 open to 1 closed."""
    step_m: float = FAST_M
    """How far it goes in a step at most [m]."""
    near_m: float = 0.004
    """How near it has to come [m]."""
    may_touch: bool = False
    """Whether it may end where something stops it."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The hand stands still and moves its fingers."""

    grip: float
    steps: int = CLOSE_STEPS


Motion = tuple[Leg | Hold, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call is not tried."""

    code: Code
    message: str


def grip_of(gap_m: float) -> float:
    """Return the finger position for a gap between the fingers [m]."""
    return 1.0 - 2.0 * min(OPEN_M, max(0.0, gap_m)) / OPEN_M


def in_reach(point: Point) -> bool:
    """Return whether the tool point can be at a place seen from above."""
    return all(LOW_M[axis] <= point[axis] <= HIGH_M[axis] for axis in (0, 1))


def carry_height(table: Table, held: Thing | None) -> float:
    """Return the height of the tool point at which hand and load pass over everything [m]."""
    others = [each.top_m for each in table.things.values() if held is None or each != held]
    hangs = 0.0 if held is None else table.hand_m[2] - (held.at_m[2] - held.height_m / 2)
    return min(HIGH_M[2], max(CARRY_M, max(others, default=0.0) + hangs + OVER_M))


def pick(table: Table, name: str, held: str | None) -> Motion | Refusal:
    """Return the motion that grips an object and lifts it."""
    thing = table.things[name]
    if held is not None:
        return Refusal(Code.ALREADY_HOLDING, f'{held} is in the hand; place it first.')
    if thing.kind not in KINDS:
        return Refusal(Code.NOT_GRASPABLE, f'{name} is a {thing.kind}, which cannot be picked.')
    if thing.grip_m is None and thing.width_m > WIDEST_M:
        return Refusal(
            Code.NOT_GRASPABLE,
            f'{name} is {thing.width_m * 1000:.0f} mm wide between the fingers, which take '
            f'{WIDEST_M * 1000:.0f} mm; push it instead.',
        )
    if above := [each.name for each in table.movables if _stands_on(each, thing)]:
        return Refusal(Code.COVERED, f'{above[0]} stands on {name}; move it first.')
    x, y, z = thing.grip_m or thing.at_m
    if not in_reach((x, y, z)):
        return Refusal(Code.OUT_OF_WORKSPACE, f'{name} is out of reach of the hand.')
    width = thing.size_m[1] if thing.grip_m else thing.width_m
    opened = grip_of(width + 2 * SIDE_M)
    high, low = carry_height(table, None), max(z, LOW_M[2])
    return (
        Leg((*table.hand_m[:2], max(high, table.hand_m[2])), opened, near_m=0.02),
        Leg((x, y, high), opened),
        Leg((x, y, low), opened, near_m=0.003, may_touch=True),
        Hold(CLOSED),
        Leg((x, y, high), CLOSED, near_m=0.01),
    )


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an object is to rest."""

    xy_m: tuple[float, float]
    surface_m: float
    """Height of what it rests on [m]."""


def spot_of(table: Table, target: str, held: Thing) -> Spot | Refusal:
    """Return where an object comes to rest on a target, a name or a pose in bbllm's frame."""
    if is_pose_like(target):
        x, y, z = from_scene_frame(parse_pose(target).position_m)
        return Spot((x, y), max(0.0, z - held.height_m / 2))
    if target == 'table':
        return _free_on_table(table, held)
    thing = table.things[target]
    if thing.name == held.name:
        return Refusal(Code.BAD_ARGUMENTS, f'{target} is in the hand.')
    if thing.kind in KINDS:
        if above := [e.name for e in table.movables if e != held and _stands_on(e, thing)]:
            return Refusal(Code.OCCUPIED, f'{above[0]} stands on {target}.')
        return Spot(thing.at_m[:2], thing.at_m[2] + thing.height_m / 2)
    if thing.kind in CONTAINERS:
        return _free_inside(table, thing, held)
    if thing.kind in ('pad', 'cell', 'socket'):
        surface = thing.at_m[2] if thing.kind == 'pad' else 0.0
        there = [each for each in table.movables if each != held and _over(each, thing)]
        if there and thing.kind != 'pad':
            return Refusal(Code.OCCUPIED, f'{there[0].name} is at {target}.')
        if there and (free := _beside(table, thing, held)) is not None:
            return Spot(free, surface)
        if there:
            return Refusal(Code.OCCUPIED, f'{there[0].name} leaves no room at {target}.')
        return Spot(thing.at_m[:2], surface)
    return Refusal(
        Code.BAD_ARGUMENTS,
        f'Nothing can be placed on {target}, which is a {thing.kind}; place it at a location, on '
        'an object, in a container or on the table.',
    )


def place(table: Table, target: str, held: str | None) -> tuple[Motion, Spot] | Refusal:
    """Return the motion that puts down what is held, and where it is to rest."""
    if held is None:
        return Refusal(Code.NOT_HOLDING, 'The hand is empty; pick an object first.')
    load = table.things[held]
    spot = spot_of(table, target, load)
    if isinstance(spot, Refusal):
        return spot
    # An object hangs in the hand as it was gripped.
    off = [load.at_m[axis] - table.hand_m[axis] for axis in range(3)]
    x, y = spot.xy_m[0] - off[0], spot.xy_m[1] - off[1]
    if not in_reach((x, y, 0.0)):
        return Refusal(Code.OUT_OF_WORKSPACE, f'{target} is out of reach of the hand.')
    z = max(LOW_M[2], spot.surface_m + load.height_m / 2 + DROP_M - off[2])
    high = max(carry_height(table, load), min(HIGH_M[2], z + OVER_M))
    released = grip_of((load.size_m[1] if load.grip_m else load.width_m) + 2 * SIDE_M)
    return (
        Leg((*table.hand_m[:2], high), CLOSED, near_m=0.01),
        Leg((x, y, high), CLOSED, near_m=0.003),
        Leg((x, y, z), CLOSED, step_m=GENTLE_M, near_m=0.002, may_touch=True),
        Hold(released, 12),
        Leg((x, y, high), released, near_m=0.02),
    ), spot


def push(
    table: Table, name: str, direction: str, distance_m: float, held: str | None
) -> Motion | Refusal:
    """Return the motion that pushes an object along the table."""
    thing = table.things[name]
    if held is not None:
        return Refusal(Code.ALREADY_HOLDING, f'{held} is in the hand; place it first.')
    if thing.kind not in KINDS:
        return Refusal(Code.BAD_ARGUMENTS, f'{name} is a {thing.kind}, which does not move.')
    ux, uy, _ = from_scene_frame((*DIRECTIONS[direction], 0.0))
    half = thing.radius_m if thing.kind == 'cylinder' else max(thing.size_m[:2]) / 2
    x, y, z = thing.at_m
    begin = (x - ux * (half + FINGER_M), y - uy * (half + FINGER_M))
    way = distance_m + FINGER_M - 0.012
    end = (begin[0] + ux * way, begin[1] + uy * way)
    if not (in_reach((*begin, 0.0)) and in_reach((*end, 0.0))):
        return Refusal(
            Code.OUT_OF_WORKSPACE,
            f'The hand cannot push {name} {direction} by {distance_m:g} m within its reach.',
        )
    high, low = carry_height(table, None), max(LOW_M[2], min(PUSH_Z_M, z))
    back = (end[0] - ux * 0.03, end[1] - uy * 0.03)
    return (
        Leg((*table.hand_m[:2], high), CLOSED, near_m=0.02),
        Leg((*begin, high), CLOSED),
        Leg((*begin, low), CLOSED),
        Leg((*end, low), CLOSED, step_m=0.005),
        Leg((*back, low), CLOSED, near_m=0.01),
        Leg((*back, high), CLOSED, near_m=0.02),
    )


HANDLE_GRIP = 0.2
"""The position of the fingers around the handle of a drawer: a gap of 4 cm."""
TRAVEL_M = 0.12
"""How far drawers slide, by `max_opening` of their observation [m]."""


def pull(table: Table, name: str, held: str | None) -> Motion | Refusal:
    """Return the motion that opens a drawer."""
    thing = table.things[name]
    if refusal := _no_drawer(thing, held):
        return refusal
    assert thing.handle_m is not None and thing.opening_m is not None  # it is a drawer
    x, y, z = thing.handle_m
    end = y + thing.opening_m - TRAVEL_M - 0.004
    high = 0.13
    return (
        Leg((*table.hand_m[:2], max(high, table.hand_m[2])), HANDLE_GRIP, near_m=0.02),
        Leg((x, y, high), HANDLE_GRIP),
        Leg((x, y, z), HANDLE_GRIP, near_m=0.003),
        Hold(CLOSED),
        Leg((x, end, z), CLOSED, step_m=0.005, may_touch=True),
        Hold(HANDLE_GRIP),
        Leg((x, end - 0.006, high), HANDLE_GRIP, near_m=0.02),
    )


def shut(table: Table, name: str, held: str | None) -> Motion | Refusal:
    """Return the motion that closes a drawer, by its front."""
    thing = table.things[name]
    if refusal := _no_drawer(thing, held):
        return refusal
    assert thing.handle_m is not None and thing.opening_m is not None  # it is a drawer
    x, y, z = thing.handle_m
    before, end = y - 0.04, y + thing.opening_m - 0.013
    return (
        Leg((*table.hand_m[:2], max(0.13, table.hand_m[2])), CLOSED, near_m=0.02),
        Leg((x, before, 0.13), CLOSED),
        Leg((x, before, z), CLOSED),
        Leg((x, end, z), CLOSED, step_m=0.005, may_touch=True),
        Leg((x, end - 0.045, z), CLOSED, near_m=0.01),
        Leg((x, end - 0.045, 0.13), CLOSED, near_m=0.02),
    )


def rise(table: Table, held: str | None) -> Motion:
    """Return the motion that takes the hand up."""
    load = None if held is None else table.things[held]
    grip = CLOSED if held else -1.0
    return (Leg((*table.hand_m[:2], max(0.25, carry_height(table, load))), grip, near_m=0.02),)


def _no_drawer(thing: Thing, held: str | None) -> Refusal | None:
    if held is not None:
        return Refusal(Code.ALREADY_HOLDING, f'{held} is in the hand; place it first.')
    if thing.handle_m is None:
        return Refusal(Code.BAD_ARGUMENTS, f'{thing.name} is a {thing.kind} and no drawer.')
    return None


def _stands_on(upper: Thing, lower: Thing) -> bool:
    gap = upper.at_m[2] - upper.height_m / 2 - (lower.at_m[2] + lower.height_m / 2)
    near = math.dist(upper.at_m[:2], lower.at_m[:2]) < upper.radius_m + lower.radius_m
    return upper != lower and abs(gap) < 0.01 and near and _overlaps(upper, lower)


def _overlaps(a: Thing, b: Thing) -> bool:
    return all(
        abs(a.at_m[axis] - b.at_m[axis]) < (a.size_m[axis] + b.size_m[axis]) / 2 for axis in (0, 1)
    )


def _over(thing: Thing, place: Thing) -> bool:
    """Return whether the middle of an object is at a location."""
    return all(
        abs(thing.at_m[axis] - place.at_m[axis]) <= place.size_m[axis] / 2 for axis in (0, 1)
    )


def _keeps_off(xy: tuple[float, float], held: Thing, others: list[Thing], gap_m: float) -> bool:
    """Whether an object at a place leaves room for the fingers, which open along y."""
    return all(
        abs(xy[0] - each.at_m[0]) > (held.size_m[0] + each.size_m[0]) / 2 + gap_m
        or abs(xy[1] - each.at_m[1]) > (held.width_m + each.width_m) / 2 + gap_m + 2 * SIDE_M
        for each in others
    )


def _free_inside(table: Table, container: Thing, held: Thing) -> Spot | Refusal:
    if container.opening_m is not None and container.opening_m < OPENED_M:
        return Refusal(
            Code.PRECONDITION, f'{container.name} is closed; open({container.name}) first.'
        )
    cx, cy, surface = container.at_m
    inside = [each for each in table.movables if each != held and _over(each, container)]
    rim = 0.0 if container.kind == 'plate' else RIM_M
    half = [max(0.0, container.size_m[axis] / 2 - rim - held.radius_m / 1.2) for axis in (0, 1)]
    shares = (0.0, 0.5, -0.5, 1.0, -1.0)
    spots = sorted(itertools.product(shares, shares), key=lambda each: math.hypot(*each))
    for a, b in spots:
        if container.kind in ('bowl', 'plate') and math.hypot(a, b) > 1.01:
            continue
        xy = (cx + a * half[0], cy + b * half[1])
        if _keeps_off(xy, held, inside, BESIDE_M / 4):
            return Spot(xy, surface)
    names = ', '.join(each.name for each in inside)
    return Refusal(Code.OCCUPIED, f'{names} leave no room in {container.name}.')


def _beside(table: Table, pad: Thing, held: Thing) -> tuple[float, float] | None:
    others = [each for each in table.movables if each != held and _over(each, pad)]
    for a, b in itertools.product((0.0, 0.6, -0.6), repeat=2):
        xy = (pad.at_m[0] + a * pad.size_m[0] / 2, pad.at_m[1] + b * pad.size_m[1] / 2)
        if _keeps_off(xy, held, others, BESIDE_M):
            return xy
    return None


def _free_on_table(table: Table, held: Thing) -> Spot | Refusal:
    others = [each for each in table.things.values() if each != held and each.kind != 'cell']
    wide, deep = TABLE_M[0] / 2 - 0.06, TABLE_M[1] / 2 - 0.06
    grid = itertools.product(range(-4, 5), range(-4, 5))
    spots = [(a * wide / 4, b * deep / 4) for a, b in grid]
    for xy in sorted(spots, key=lambda each: math.dist(each, held.at_m[:2])):
        if _keeps_off(xy, held, others, 2 * BESIDE_M):
            return Spot(xy, 0.0)
    return Refusal(Code.OCCUPIED, 'There is no free place on the table.')
