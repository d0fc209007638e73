"""
Scene files: the tables, objects and named locations that a simulation starts with.

A scene is `config/scenes/<name>.yaml`:

    description: One line for people.
    tables:                       # optional; one table around the robot by default
      - {name: table, xy: [0.3, 0.0], size: [1.0, 1.2]}
    objects:
      - {name: red_cube, kind: cube, color: red, xy: [0.5, 0.1], yaw_deg: 20}
      - {name: can, kind: cylinder, color: grey, xyz: [0.4, 0.0, 0.03], size: [0.04, 0.06]}
      - {name: post, kind: cube, xy: [0.6, 0.0], fixed: true}   # bolted to its table
      - {name: banana, kind: banana, xy: [0.5, -0.2]}   # or another word of sim.object_models
    locations:
      - {name: location_A, xy: [0.45, 0.2]}
    force_noise_n: {sd: 0.2, bias: 0.2}   # optional; these are the defaults
    grip_offset_m: 0.01           # optional; how far off the middle objects are gripped
    robot: panda                  # optional; a name of `robots.registry`, fr3 by default
    friction: 0.4                 # optional; of objects on tables, 1 without it
    skills: [push]                # optional; of `skills.catalog`, beside those of every table

Lengths in metres, in the robot's base frame: x forward, y left, z up, table top at z = 0. A scene
is checked to be stable as described: all objects are upright, so their outlines seen from above
and their height intervals decide.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from bbllm.core.errors import SceneFileError, UnknownNameError
from bbllm.core.naming import color_fault, name_fault, quoted
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.files.yaml_files import MOST_FAULTS, FileRecord, YamlFiles, explain
from bbllm.robots.registry import DEFAULT_ROBOT, robot_names
from bbllm.scene.object_models import OBJECT_MODELS
from bbllm.skills.catalog import known_skills
from bbllm.skills.shapes import Point, bottom_z, outline, polygon_gap, top_z, yaw_pose

TOUCH_M = 1e-4
"""Objects that overlap by less than this just touch [m]."""
GAP_M = 1e-3
CIRCLE_POINTS = 32
"""Of a cylinder seen from above; at 4 cm it is 0.1 mm wider between two of them."""
BASE_RADIUS_M = 0.16
"""Around the z axis stands the robot's base [m]."""
BASE_HEIGHT_M = 0.40
MOST_OBJECTS = 500
"""Tables, objects and locations of a scene, of each kind."""
RESERVED = frozenset({'robot', 'hand', 'gripper', 'base', 'world'})


def complaints(
    tables: Sequence[SceneObject],
    objects: Sequence[SceneObject],
    locations: Sequence[SceneObject],
    fixed: Collection[str] = (),
    robot: str = DEFAULT_ROBOT,
) -> Iterator[str]:
    """Yield one sentence part per fault of a scene; none where it can stand."""
    reserved = (f'{DEFAULT_ROBOT}_', f'{robot}_')  # the first of cameras, too
    for name, count in Counter(item.name for item in (*tables, *objects, *locations)).items():
        if count > 1:
            yield f'the name {name} is given {count} times; names must be unique'
        if name.lower() in RESERVED or name.startswith(reserved):
            yield f'the name {name} belongs to the robot; choose another'
    for item in objects:
        yield from _support_faults(item, tables, objects)
    for item in locations:
        z = item.pose.position_m[2]
        under = [table for table in tables if _contains(table, item.pose.position_m)]
        if not under:
            yield _off_table(item, tables)
        elif all(abs(z - top_z(table)) > GAP_M for table in under):
            yield f'{item.name} floats at z = {z:.3f}; its table is at {top_z(under[0]):.3f}'
    for item in objects:
        if item.name in fixed and not any(_stands_on(item, table) for table in tables):
            where = 'stands on no table; only to a table can objects be fixed'
            yield f'{item.name} is fixed but {where}'
    for first, second in itertools.combinations((*tables, *objects), 2):
        if Kind.FIXTURE in (first.kind, second.kind) and first.kind is not second.kind:
            continue  # an object that is sunk into a table is found_faults so above
        if overlap(first, second):
            apart = math.dist(first.pose.position_m[:2], second.pose.position_m[:2])
            yield (
                f'{first.name} at {_at(first)} and {second.name} at {_at(second)} overlap: '
                f'their centres are {apart:.3f} m apart'
            )
    for item in objects:
        near = min(math.hypot(*point) for point in (*_outline(item), item.pose.position_m[:2]))
        if near < BASE_RADIUS_M and bottom_z(item) < BASE_HEIGHT_M:
            yield (
                f'{item.name} stands in the base of the robot; keep it {BASE_RADIUS_M} m or more '
                'from x = y = 0'
            )


def overlap(first: SceneObject, second: SceneObject) -> bool:
    apart_in_height = (
        bottom_z(first) > top_z(second) - TOUCH_M or bottom_z(second) > top_z(first) - TOUCH_M
    )
    return not apart_in_height and polygon_gap(_outline(first), _outline(second)) < -TOUCH_M


def _support_faults(
    item: SceneObject, tables: Sequence[SceneObject], objects: Sequence[SceneObject]
) -> Iterator[str]:
    """Find what an object stands on; nothing, or too little of it, is a fault."""
    if any(_stands_on(item, other) for other in objects if other is not item):
        return
    under = [table for table in tables if _contains(table, item.pose.position_m)]
    if not under:
        yield _off_table(item, tables)
        return
    for table in under:
        if _stands_on(item, table):
            if not all(_contains(table, corner) for corner in _outline(item)):
                yield f'{item.name} at {_at(item)} hangs over the edge of {table.name}'
            return
    below, top = bottom_z(item), max(top_z(table) for table in under)
    side = 'floats' if below > top else 'is sunk'
    yield (
        f'{item.name} {side}: its bottom is at z = {below:.3f} and there is nothing right below '
        f'it to stand on; on the table its centre would be at '
        f'z = {top + (item.pose.position_m[2] - below):.3f}'
    )


def _stands_on(item: SceneObject, other: SceneObject) -> bool:
    level = abs(bottom_z(item) - top_z(other)) <= GAP_M
    return level and _contains(other, item.pose.position_m)


def _off_table(item: SceneObject, tables: Sequence[SceneObject]) -> str:
    spans = []
    for table in tables:
        (x, y, _), (a, b, _) = table.pose.position_m, table.size_m
        along_y = f'y {y - b / 2:.2f} to {y + b / 2:.2f}'
        spans.append(f'x {x - a / 2:.2f} to {x + a / 2:.2f}, {along_y} ({table.name})')
    return f'{item.name} at {_at(item)} is off the table; on it is {" or ".join(spans)}'


def _outline(item: SceneObject) -> tuple[Point, ...]:
    """Return the corners seen from above; of a cylinder, points of its circle."""
    if item.kind is not Kind.CYLINDER:
        return outline(item)
    (x, y, _), r = item.pose.position_m, item.size_m[0] / 2
    turns = [2 * math.pi * i / CIRCLE_POINTS for i in range(CIRCLE_POINTS)]
    return tuple((x + r * math.cos(turn), y + r * math.sin(turn)) for turn in turns)


def _contains(item: SceneObject, point: Sequence[float]) -> bool:
    return polygon_gap(_outline(item), ((point[0], point[1]),)) <= TOUCH_M


def _at(item: SceneObject) -> str:
    return '(' + ', '.join(f'{value:.3f}' for value in item.pose.position_m) + ')'


DEFAULT_SIZE_M = 0.04
DEFAULT_MASS_KG = 0.1
TABLE_THICKNESS_M = 0.04
FILES = YamlFiles(
    'scene',
    fields=(
        'objects, locations, tables, robot, force_noise_n, grip_offset_m, friction, skills, '
        'description'
    ),
    error=SceneFileError,
)


def _named(name: str) -> str:
    if fault := name_fault(name):
        raise ValueError(fault)
    return name


def _colored(color: str) -> str:
    if fault := color_fault(color) or ('' if color else 'the color is empty'):
        raise ValueError(fault)
    return color


Name = Annotated[str, AfterValidator(_named)]
Coordinate = Annotated[float, Field(ge=-5, le=5, allow_inf_nan=False)]
Length = Annotated[float, Field(ge=0.005, le=4, allow_inf_nan=False)]
Color = Annotated[str, AfterValidator(_colored)]


def _of_a_kind(kind: str) -> str:
    kinds = ('cube', 'cylinder', *OBJECT_MODELS)
    if kind not in kinds:
        raise ValueError(f'the kind {quoted(kind)} is unknown. Known: {", ".join(kinds)}')
    return kind


FORCE_NOISE_N = 0.2
"""Standard deviation of one reading of the wrench's force, and of its bias [N]."""
TORQUE_NOISE_NM = 0.02
"""The same of its torque; it grows with that of the force [Nm]."""
NOISIEST_N = 5.0
"""More than this, and a lift would often be taken for a block that does not rise (10 N) [N]."""

Noise = Annotated[float, Field(ge=0, le=NOISIEST_N, allow_inf_nan=False)]


def _of_a_robot(name: str) -> str:
    if name not in robot_names():
        raise ValueError(f'the robot {quoted(name)} is unknown. Known: {", ".join(robot_names())}')
    return name


RobotName = Annotated[str, AfterValidator(_of_a_robot)]
GripOffset = Annotated[float, Field(ge=-0.012, le=0.012, allow_inf_nan=False)]
"""Of fingers 17.5 mm wide on a block of 40 mm: with more they would reach over its edge [m]."""


def _of_the_arm(names: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return known_skills(names)
    except UnknownNameError as error:
        raise ValueError(str(error)) from error


class ForceNoise(FileRecord):
    """Standard deviations, of each axis by itself [N]."""

    sd: Noise = FORCE_NOISE_N
    """Of one reading, around what is true and the bias."""
    bias: Noise = FORCE_NOISE_N
    """Of the bias, which is drawn anew for every episode and stays through it."""


class TableSpec(FileRecord):
    """A flat top that objects can stand on."""

    name: Name = 'table'
    xy: tuple[Coordinate, Coordinate] = (0.35, 0.0)
    """Middle of its top [m]."""
    size: tuple[Length, Length] = (1.2, 1.6)
    """Extent along x and y [m]."""
    z: Coordinate = 0.0
    """Height of its top [m]."""
    color: Color = 'burlywood'

    @property
    def scene_object(self) -> SceneObject:
        return SceneObject(
            name=self.name,
            kind=Kind.FIXTURE,
            pose=Pose(position_m=(*self.xy, self.z - TABLE_THICKNESS_M / 2)),
            size_m=(*self.size, TABLE_THICKNESS_M),
            color=self.color,
        )


class ObjectSpec(FileRecord):
    """A box, an upright cylinder, or one of `scene.object_models`; movable unless fixed."""

    name: Name
    kind: Annotated[str, AfterValidator(_of_a_kind)]
    color: Color = 'grey'
    xy: tuple[Coordinate, Coordinate] | None = None
    """Where it stands on its table [m]; give this or xyz."""
    xyz: tuple[Coordinate, Coordinate, Coordinate] | None = None
    """Its centre, for objects that stand on other objects [m]."""
    size: Length | tuple[Length, Length] | tuple[Length, Length, Length] = DEFAULT_SIZE_M
    """Edge of a cube or [x, y, z]; diameter = height of a cylinder or [diameter, height] [m]."""
    mass: Annotated[float, Field(ge=0.001, le=20, allow_inf_nan=False)] = DEFAULT_MASS_KG
    """[kg]."""
    yaw_deg: Annotated[float, Field(ge=-360, le=360, allow_inf_nan=False)] = 0.0
    fixed: bool = False
    """Whether it is bolted to its table; worlds do not show it."""

    @model_validator(mode='before')
    @classmethod
    def _goods_are_as_they_are(cls, data: Any) -> Any:
        good = OBJECT_MODELS.get(str(data.get('kind'))) if isinstance(data, Mapping) else None
        if good is None:
            return data
        size = data.get('size', good.size_m)
        if not isinstance(size, list | tuple) or tuple(size) != good.size_m:
            raise ValueError(f'leave size out: a {data["kind"]} has a size of its own')
        own = {'color': good.color, 'mass': good.mass_kg, 'size': good.size_m}
        return {**own, **data}

    @model_validator(mode='after')
    def _one_position_and_a_size_that_fits_the_kind(self) -> ObjectSpec:
        if (self.xy is None) == (self.xyz is None):
            raise ValueError('give either xy (on a table) or xyz (its centre), and not both')
        wanted = 2 if self.kind == 'cylinder' else 3
        if isinstance(self.size, tuple) and len(self.size) != wanted:
            form = '[diameter, height]' if self.kind == 'cylinder' else '[x, y, z]'
            raise ValueError(f'the size of a {self.kind} is one length or {form}')
        return self

    @property
    def size_m(self) -> tuple[float, float, float]:
        if not isinstance(self.size, tuple):
            return (self.size, self.size, self.size)
        if len(self.size) == 2:
            return (self.size[0], self.size[0], self.size[1])
        return self.size


class LocationSpec(FileRecord):
    """A named place on a table."""

    name: Name
    xy: tuple[Coordinate, Coordinate]
    z: Coordinate | None = None
    """Height of its surface; that of the table under it where not given [m]."""


class SceneFile(FileRecord):
    """A scene that can stand as it is described; checked when it is made."""

    name: str = 'scene'
    description: str = ''
    tables: tuple[TableSpec, ...] = (TableSpec(),)
    objects: tuple[ObjectSpec, ...] = ()
    locations: tuple[LocationSpec, ...] = ()
    robot: RobotName = Field(default=DEFAULT_ROBOT, exclude_if=lambda name: name == DEFAULT_ROBOT)
    """Name of the robot at the table; the default one is not written, and changes no hash."""
    force_noise_n: ForceNoise = ForceNoise()
    """How noisy the force on the hand is read where sensors are noisy: with a seed [N]."""
    grip_offset_m: GripOffset = 0.0
    """How far from the middle of an object the hand takes it, along its fingers' faces, in the
    world `tabletop` [m]."""
    friction: Annotated[float, Field(ge=0.05, le=2, allow_inf_nan=False)] | None = None
    """Of objects on tables; with the 1 of other scenes, a push can jam: the fingers hold an object
    down as strongly as they push it."""
    skills: Annotated[tuple[str, ...], AfterValidator(_of_the_arm)] = ()
    """Names of skills that it offers beside those of every table."""

    @field_validator('tables', 'objects', 'locations', mode='before')
    @classmethod
    def _not_too_many(cls, items: Any) -> Any:
        if isinstance(items, list | tuple) and len(items) > MOST_OBJECTS:
            raise ValueError(
                f'there are {len(items):,}, and a scene takes at most {MOST_OBJECTS} of a kind'
            )
        return items

    @field_validator('tables')
    @classmethod
    def _a_table_there_is(cls, tables: tuple[TableSpec, ...]) -> tuple[TableSpec, ...]:
        if not tables:
            raise ValueError('a scene needs a table; leave `tables` out for the default one')
        return tables

    @model_validator(mode='after')
    def _could_stand(self) -> SceneFile:
        found = complaints(self.fixtures, self.movables, self.places, self.fixed, self.robot)
        if found_faults := list(itertools.islice(found, MOST_FAULTS + 1)):
            more = ' (and more)' if len(found_faults) > MOST_FAULTS else ''
            # no ValueError: pydantic lets this one through as it is
            raise SceneFileError(f'{"; ".join(found_faults[:MOST_FAULTS])}{more}.')
        return self

    @cached_property
    def fixtures(self) -> tuple[SceneObject, ...]:
        return tuple(table.scene_object for table in self.tables)

    @cached_property
    def movables(self) -> tuple[SceneObject, ...]:
        return tuple(self._movable(spec) for spec in self.objects)

    @cached_property
    def fixed(self) -> frozenset[str]:
        return frozenset(spec.name for spec in self.objects if spec.fixed)

    @cached_property
    def places(self) -> tuple[SceneObject, ...]:
        return tuple(
            SceneObject(
                name=spec.name,
                kind=Kind.LOCATION,
                pose=Pose(
                    position_m=(*spec.xy, self._top_at(spec.xy) if spec.z is None else spec.z)
                ),
                size_m=(DEFAULT_SIZE_M, DEFAULT_SIZE_M, 0.0),
            )
            for spec in self.locations
        )

    @property
    def shown(self) -> tuple[SceneObject, ...]:
        """What worlds show: furniture, objects and locations."""
        loose = (item for item in self.movables if item.name not in self.fixed)
        return (*self.fixtures, *loose, *self.places)

    def _movable(self, spec: ObjectSpec) -> SceneObject:
        if spec.xyz is not None:
            centre = spec.xyz
        else:
            assert spec.xy is not None  # one of the two, says the validator
            centre = (*spec.xy, self._top_at(spec.xy) + spec.size_m[2] / 2)
        return SceneObject(
            name=spec.name,
            kind=OBJECT_MODELS[spec.kind].kind if spec.kind in OBJECT_MODELS else Kind(spec.kind),
            pose=yaw_pose(centre, math.radians(spec.yaw_deg)),
            size_m=spec.size_m,
            color=spec.color,
        )

    def _top_at(self, xy: tuple[float, float]) -> float:
        """Return the height of the table under a point, of the first one where there is none."""
        for table in self.tables:
            if all(abs(xy[i] - table.xy[i]) <= table.size[i] / 2 for i in range(2)):
                return table.z
        return self.tables[0].z


def list_scenes() -> tuple[str, ...]:
    return FILES.names()


def load_scene(name_or_path: str | Path) -> SceneFile:
    """Read a scene by its name or path; raises UnknownNameError or SceneFileError."""
    content, path = FILES.read(name_or_path)
    return parse_scene(content, path.stem, str(path))


def parse_scene(content: str, name: str, where: str = 'the scene') -> SceneFile:
    """Make a scene from the YAML text of a file, which errors call *where*; see `make_scene`."""
    return make_scene({'name': name, **FILES.parse(content, where)}, where)


def make_scene(data: Mapping[str, object], where: str = 'the scene') -> SceneFile:
    """Make a scene from plain dictionaries and lists; raises SceneFileError."""
    try:
        return SceneFile.model_validate(data)
    except ValidationError as error:
        raise SceneFileError(f'{where}: {explain(error, data)}') from error
    except SceneFileError as error:
        raise SceneFileError(f'{where}: {error}') from error
