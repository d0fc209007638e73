"""
What Robo Use shows of its table, and as what a planner of bbllm sees it.

Robo Use: x to the right, y away from the camera, z up, the table top at z = 0. bbllm, as seen from
the robot: x forward, y left, z up. So (x, y, z) of Robo Use is (y, -x, z) of bbllm, and yaws
differ by a quarter turn [m, rad].
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bbllm.core.errors import SceneError
from bbllm.core.naming import MAX_WORDS
from bbllm.core.types import Fact, Kind, Scene, SceneObject, Skill
from bbllm.scene.relations import HAND, build_scene
from bbllm.skills.shapes import yaw_pose

Point = tuple[float, float, float]

TABLE_M = (0.70, 0.60)
"""Extents of the table along x and y, by `robouse.backends.tabletop.scene` of 0.6.1 [m]."""
LOW_M: Point = (-0.34, -0.27, 0.012)
HIGH_M: Point = (0.34, 0.28, 0.35)
"""Where the tool point can be, by the same file [m]."""
OPEN_M = 0.10
"""How far the fingers open, by the task texts [m]."""
WALL_M = 0.004
"""How thick walls of containers are taken: they are drawn outside of the inner size [m]."""
WIDEST_M = 0.09
"""An object that is wider along y has no room between the fingers [m]."""
FIGURE_M: Point = (0.394, 0.154, 0.068)
"""A figure that lies: from head to foot, across both arms, and height, by the same file [m]."""
OPENED_M = 0.05
"""A drawer that is open by less takes nothing [m]."""
KINDS = {'box': Kind.CUBE, 'cylinder': Kind.CYLINDER, 'knife': Kind.OTHER}
"""Objects that can be gripped, by their kind; others have no known grasp."""
PLACES = frozenset({'pad', 'socket'})
SAME_PLACE_M = 0.01
"""Centres of places that are no further apart are one place [m]."""
CONTAINERS = frozenset({'bowl', 'tray', 'plate', 'drawer'})


class NoObjectsError(SceneError):
    """The task shows pictures and no positions; this world has no perception for them."""


class NoSkillError(SceneError):
    """The task has an object or a fixture for which there is no skill."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object or a fixture, in the frame of Robo Use."""

    name: str
    kind: str
    """As Robo Use calls it."""
    at_m: Point
    """The middle of an object; of a place or container, of the surface that takes objects [m]."""
    size_m: Point
    """Full extents along its own axes; of a container, inside, with the height of its walls."""
    color: str = ''
    yaw_rad: float = 0.0
    height_m: float = 0.0
    """Vertical extent as it lies [m]."""
    grip_m: Point | None = None
    """Where it is gripped, where that is not its middle [m]."""
    opening_m: float | None = None
    """How far a drawer is open [m]."""
    handle_m: Point | None = None
    """Where the handle of a drawer is [m]."""
    label: str = ''
    """What is written on it, or said of it in a word."""
    description: str = ''
    """What the observation says of it in a sentence."""

    @property
    def top_m(self) -> float:
        """The height of its uppermost point [m]."""
        return self.at_m[2] + (self.height_m / 2 if self.kind in KINDS else self.size_m[2])

    @property
    def width_m(self) -> float:
        """How wide it is along y, the direction in which the fingers close [m]."""
        if self.kind == 'cylinder':
            return self.size_m[0]
        sin, cos = abs(math.sin(self.yaw_rad)), abs(math.cos(self.yaw_rad))
        return sin * self.size_m[0] + cos * self.size_m[1]

    @property
    def radius_m(self) -> float:
        """How far from its middle it extends, seen from above [m]."""
        return max(self.size_m[:2]) / 2 * (1.0 if self.kind == 'cylinder' else math.sqrt(2))


@dataclass(frozen=True, slots=True)
class Table:
    """One observation."""

    hand_m: Point
    opening: float
    """0 closed, 1 fully open."""
    touching: tuple[str, ...]
    """Names of the objects at the fingers."""
    things: Mapping[str, Thing]
    """Objects, fixtures and cells by name."""

    @property
    def movables(self) -> tuple[Thing, ...]:
        return tuple(each for each in self.things.values() if each.kind in KINDS)


def read_table(state: Mapping[str, Any]) -> Table:
    """
    Return what an observation shows.

    Raises:
        NoObjectsError: It has no objects, as in tasks of pictures.
        NoSkillError: An object has no known grasp.
    """
    if not isinstance(state.get('objects'), dict):
        raise NoObjectsError(
            'The task shows pictures and no positions of objects, and bbllm has no perception for '
            'the cameras of Robo Use. Tasks whose `obs_mode` is `state` can be played.'
        )
    things = [_object(name, seen) for name, seen in state['objects'].items()]
    for name, seen in (state.get('fixtures') or {}).items():
        things.append(_fixture(name, seen))
    centres = (state.get('grid') or {}).get('cell_centers') or []
    edge = float((state.get('grid') or {}).get('cell_size', 0.0))
    for row, cells in enumerate(centres):
        for column, (x, y) in enumerate(cells):
            at = (float(x), float(y), 0.0)
            things.append(Thing(f'cell_{row}_{column}', 'cell', at, (edge, edge, 0.0)))
    return Table(
        hand_m=_point(state['hand_pos']),
        opening=float(state['gripper_open']),
        touching=tuple(state.get('holding', ())),
        things={each.name: each for each in things},
    )


def _point(values: Sequence[float]) -> Point:
    x, y, z = map(float, values)
    return (x, y, z)


def _object(name: str, seen: Mapping[str, Any]) -> Thing:
    if seen.get('kind') not in KINDS:
        raise NoSkillError(
            f'{name} is a {seen.get("kind")}, for which no grasp is known; there are grasps for '
            f'{", ".join(sorted(KINDS))}.'
        )
    return Thing(
        name=name,
        kind=seen['kind'],
        at_m=_point(seen['pos']),
        size_m=_point(seen['size']),
        color=str(seen.get('color') or ''),
        yaw_rad=math.radians(float(seen.get('yaw_deg', 0.0))),
        height_m=2 * float(seen['half_height']),
        grip_m=_point(seen['handle_pos']) if 'handle_pos' in seen else None,
        label=_said_of(seen, 'label'),
    )


def _fixture(name: str, seen: Mapping[str, Any]) -> Thing:
    """Return a fixture with what the observation says of it."""
    said = {each: _said_of(seen, each) for each in ('label', 'description')}
    return replace(_shaped(name, seen), **said)


def _said_of(seen: Mapping[str, Any], field: str) -> str:
    """Return words of an observation in the characters that a fact of a scene may have."""
    words = re.sub(r'\s*[()]\s*', ', ', str(seen.get(field) or ''))
    words = ' '.join(re.sub(r"[^A-Za-z0-9_ .,:'%+/-]+", ' ', words).split())
    return words[:MAX_WORDS].strip(' ,')


def _shaped(name: str, seen: Mapping[str, Any]) -> Thing:
    kind, color = str(seen.get('kind')), str(seen.get('color') or '')
    if kind == 'drawer':
        x, y, z = _point(seen['interior_center'])
        wide, deep = map(float, seen['interior_size'])
        size = (wide, deep, float(seen['wall_top_z']) - z)
        handle, opening = _point(seen['handle_pos']), float(seen['opening'])
        return Thing(name, kind, (x, y, z), size, color, handle_m=handle, opening_m=opening)
    if kind == 'figure':
        head, chest, feet = (_point(seen[f'{part}_pos']) for part in ('head', 'chest', 'feet'))
        long, across, tall = FIGURE_M
        along = math.dist(head[:2], feet[:2])
        ux, uy = (abs(head[axis] - feet[axis]) / along for axis in (0, 1))
        size = (ux * long + uy * across, uy * long + ux * across, tall)
        at = ((head[0] + feet[0]) / 2, (head[1] + feet[1]) / 2, chest[2] - tall)
        return Thing(name, kind, at, size, color)
    if 'pos' not in seen:
        raise NoSkillError(f'The fixture {name} is a {kind}, whose place is not shown.')
    x, y, z = _point(seen['pos'])
    wide, deep = map(float, (*(seen.get('inner_size') or seen.get('size') or (0.0, 0.0)), 0.0)[:2])
    if kind == 'plate':
        wide = deep = float(seen['diameter'])
        return Thing(name, kind, (x, y, float(seen['top_z'])), (wide, deep, 0.0), color)
    if kind == 'bowl':
        wide = deep = float(seen['inner_diameter'])
    if kind in ('bowl', 'tray'):
        floor = float(seen['floor_z'])
        return Thing(name, kind, (x, y, floor), (wide, deep, float(seen['rim_z']) - floor), color)
    height = float(seen.get('wall_height', seen.get('top_z', z) - z))
    return Thing(name, kind, (x, y, z), (wide, deep, height), color)


# --- as a scene of bbllm -------------------------------------------------------------------------


def to_scene_frame(point: Point) -> Point:
    """Return a position of Robo Use in the frame of bbllm [m]."""
    x, y, z = point
    return (y, -x, z)


def from_scene_frame(point: Point) -> Point:
    """Return a position of bbllm in the frame of Robo Use [m]."""
    x, y, z = point
    return (-y, x, z)


def scene_of(table: Table, skills: Sequence[Skill], *, held: str | None, stamp_s: float) -> Scene:
    """Return the scene that planners receive; *stamp_s* is the time of the simulation [s]."""
    wide, deep = TABLE_M
    top = SceneObject(
        name='table',
        kind=Kind.FIXTURE,
        pose=yaw_pose((0.0, 0.0, -0.01), 0.0),
        size_m=(deep, wide, 0.02),
    )
    objects = (*map(_scene_object, table.things.values()), top)
    scene = build_scene(
        objects, None, skills=skills, stamp_s=stamp_s, now_s=stamp_s, reach=_in_reach,
        carried=held,
    )  # fmt: skip
    facts = [*scene.facts]
    if held is None:
        facts.insert(0, Fact(HAND, 'is', 'empty'))
    for thing in table.things.values():
        if thing.opening_m is not None:
            word = 'open' if thing.opening_m >= OPENED_M else 'closed'
            facts.append(Fact(thing.name, 'is', word))
    facts += _said(table)
    return Scene(scene.objects, scene.skills, tuple(facts), stamp_s)


def _said(table: Table) -> Iterator[Fact]:
    """Yield what no row of a scene shows: words, places that coincide, reach, and the base."""
    things = table.things.values()
    for thing in things:
        if thing.label:
            yield Fact(thing.name, 'labelled', thing.label)
        if thing.description:
            yield Fact(thing.name, 'is', thing.description)
    cells = [each for each in things if each.kind == 'cell']
    for thing in things:
        for cell in cells if thing.kind in PLACES else ():
            if math.dist(thing.at_m[:2], cell.at_m[:2]) < SAME_PLACE_M:
                yield Fact(thing.name, 'marks', cell.name)
    (back, left, low), (front, right, high) = map(to_scene_frame, (LOW_M, HIGH_M))
    reach = f'x {back:g} to {front:g}, y {right:g} to {left:g} and z {low:g} to {high:g}'
    yield Fact(HAND, 'reaches', reach)
    edge = (
        f'the front edge of the table at x {-TABLE_M[1] / 2:g}, y 0, and the hand hangs in the air'
    )
    yield Fact('base', 'is', edge)


def _scene_object(thing: Thing) -> SceneObject:
    x, y, z = thing.at_m
    wide, deep, tall = thing.size_m
    kind = KINDS.get(thing.kind, Kind.FIXTURE)
    yaw_rad = thing.yaw_rad
    if thing.kind in KINDS:
        # Lengths along the axes of the object, which the turn of the frame leaves as they are.
        pose = yaw_pose(to_scene_frame((x, y, z)), yaw_rad - math.pi / 2)
        return SceneObject(
            name=thing.name, kind=kind, pose=pose, size_m=thing.size_m, color=thing.color
        )
    if thing.kind in PLACES or thing.kind == 'cell':
        kind, middle, size = Kind.LOCATION, z, (deep, wide, 0.0)
    elif thing.kind in CONTAINERS:
        kind = Kind.CONTAINER
        size = (deep + 2 * WALL_M, wide + 2 * WALL_M, tall + 0.006)
        middle = z - 0.006 + size[2] / 2
    else:
        size, middle = (deep, wide, tall), z + tall / 2
    pose = yaw_pose(to_scene_frame((x, y, middle)), 0.0)
    return SceneObject(name=thing.name, kind=kind, pose=pose, size_m=size, color=thing.color)


def _in_reach(item: SceneObject) -> bool:
    x, y, _ = from_scene_frame(item.pose.position_m)
    return LOW_M[0] <= x <= HIGH_M[0] and LOW_M[1] <= y <= HIGH_M[1]
