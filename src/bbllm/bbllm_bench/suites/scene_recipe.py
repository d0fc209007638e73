"""
The fields `generate` and `puzzle` of a suite file: what the scenes of a task have in common.

Objects and locations come in groups; a group defines how many, where and within reach or not. What
a group leaves open is drawn anew for every trial, by `scene_sampling.generator`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bbllm.files.yaml_files import FileRecord
from bbllm.scene.object_models import OBJECT_MODELS
from bbllm.scene.scene_file import (
    DEFAULT_SIZE_M,
    Color,
    Coordinate,
    ForceNoise,
    GripOffset,
    TableSpec,
)
from bbllm_bench.suites.goals import Ordered

CUBE_COLORS = (
    'red', 'orange', 'yellow', 'green', 'blue', 'purple', 'aqua', 'white', 'pink', 'navy', 'lime',
    'teal', 'brown', 'violet',
)  # fmt: skip
CYLINDER_COLORS = ('white', 'black', 'grey', 'silver', 'beige', 'olive', 'gold', 'navy')

PATTERNS: dict[str, tuple[tuple[int, int], ...]] = {
    'plus': ((0, 0), (1, 0), (0, 1), (0, -1), (-1, 0)),
    'letter_l': ((2, 0), (1, 0), (0, 0), (0, -1), (0, -2)),
    'letter_l_mirrored': ((2, 0), (1, 0), (0, 0), (0, 1), (0, 2)),
    'triangle': ((1, 0), (0, 1), (0, -1)),
}
"""Places as multiples (forward, left) of the pitch; `row` has as many as its count."""
MOST_LOCATIONS = 26
"""They are named by letters."""
Number = Annotated[int, Field(ge=0, le=26)]
Count = Number | Annotated[tuple[Number, Number], Ordered]
"""A number, or the least and the greatest."""
Length = Annotated[float, Field(gt=0, le=5, allow_inf_nan=False)]
Span = Annotated[tuple[Length, Length], Ordered]
Mass = Annotated[float, Field(ge=0.001, le=20, allow_inf_nan=False)]
Area = Literal['left', 'right', 'anywhere'] | tuple[Coordinate, Coordinate, Coordinate, Coordinate]
"""A half of the table, or [least x, greatest x, least y, greatest y] [m]."""


class Group(FileRecord):
    """What groups of objects and of locations share."""

    area: Area = 'anywhere'
    reach: bool = True
    """Whether the hand can come down on them; checked by inverse kinematics."""
    listed: Literal['first', 'anywhere', 'last'] = 'anywhere'
    """Where they stand in the scene's list, since many planners take objects in that order."""

    @model_validator(mode='after')
    def _area_is_not_upside_down(self) -> Group:
        if isinstance(self.area, tuple) and not (
            self.area[0] < self.area[1] and self.area[2] < self.area[3]
        ):
            raise ValueError('an area is [least x, greatest x, least y, greatest y]')
        return self


class ObjectGroup(Group):
    """Cubes or cylinders of different colours, called `red_cube` and the like."""

    kind: Literal['cube', 'cylinder']
    count: Count
    colors: tuple[Color, ...] = ()
    """What colours are drawn from, each at most once for a kind; many plain ones by default."""
    mass: Annotated[tuple[Mass, Mass], Ordered] | None = None
    """Least and greatest mass; all of 0.1 kg where not given [kg]."""
    mass_ratio: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = 1.0
    """How many times as heavy the heavier of any two is, at least."""
    mass_step: Annotated[tuple[Mass, Mass], Ordered] | None = None
    """By how much each is heavier than the next lighter one, least and greatest; `mass` is then
    that of the lightest [kg]."""
    mass_odd: Mass | None = None
    """All weigh the same but one, which is heavier or lighter by this [kg]."""
    fixed: Annotated[int, Field(ge=0, le=14)] = 0
    """How many of them are fixed to the table; which ones is drawn."""

    @model_validator(mode='after')
    def _no_more_are_fixed_than_there_are(self) -> ObjectGroup:
        if self.mass is None and self.mass_ratio != 1.0:
            raise ValueError('mass_ratio is of masses that are drawn; give mass as well')
        chosen = [self.mass_ratio != 1.0, self.mass_step is not None, self.mass_odd is not None]
        if any(chosen[1:]) and (self.mass is None or sum(chosen) > 1):
            raise ValueError('give mass, and one of mass_ratio, mass_step and mass_odd')
        if self.mass_odd is not None and self.mass is not None and self.mass_odd >= self.mass[0]:
            raise ValueError('mass_odd must be less than the least mass')
        if self.fixed > least(self.count):
            raise ValueError(
                f'{self.fixed} are to be fixed, but there may be only {least(self.count)}'
            )
        return self

    def name_of(self, color: str) -> str:
        return f'{color.replace(" ", "_").replace("-", "_")}_{self.kind}'

    @property
    def palette(self) -> tuple[str, ...]:
        default = CUBE_COLORS if self.kind == 'cube' else CYLINDER_COLORS
        return tuple(dict.fromkeys(self.colors or default))


class LocationGroup(Group):
    """Named places, scattered or in a pattern."""

    count: Count | Literal['cubes'] | None = None
    """How many; `cubes`: as many as the scene has cubes. Most patterns define it."""
    pattern: Literal['scattered', 'row', 'plus', 'letter_l', 'letter_l_mirrored', 'triangle'] = (
        'scattered'
    )
    pitch: Span = (0.065, 0.08)
    """Distance of neighbours in the pattern, least and greatest [m]."""
    centre: tuple[Coordinate, Coordinate] | None = None
    """Where the middle of the pattern shall be; anywhere in the area by default [m]."""
    centre_m: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.02
    """How far the middle may be from there along x and along y [m]."""

    @model_validator(mode='after')
    def _count_and_pattern_agree(self) -> LocationGroup:
        places = PATTERNS.get(self.pattern)
        if places and self.count is not None:
            raise ValueError(f'leave count out: {self.pattern} has {len(places)} places')
        if not places and self.count is None:
            raise ValueError(f'the field count is missing; a {self.pattern} group needs one')
        if self.pattern == 'scattered' and self.centre is not None:
            raise ValueError('only a pattern has a centre; for scattered places give an area')
        return self


class GoodsGroup(Group):
    """Containers, fruit and other objects of `scene.object_models`, each called by its kind."""

    kinds: Annotated[tuple[str, ...], Field(min_length=1)]
    count: Count | None = None
    """How many of the kinds are drawn, each at most once; all of them by default."""

    @model_validator(mode='after')
    def _kinds_are_known_and_enough(self) -> GoodsGroup:
        for kind in self.kinds:
            if kind not in OBJECT_MODELS:
                known = ', '.join(OBJECT_MODELS)
                raise ValueError(f'{kind!r} is no kind of object; there are {known}')
        if self.count is not None and greatest(self.count) > len(self.kinds):
            raise ValueError(f'a count of {self.count} does not fit {len(self.kinds)} kinds')
        return self


class Recipe(FileRecord):
    """All that the scenes of one task have in common."""

    things: tuple[GoodsGroup, ...] = ()
    """Where there are any, there is nothing else: `objects: []` and no locations."""
    objects: tuple[ObjectGroup, ...]
    locations: tuple[LocationGroup, ...] = ()
    reach_m: Span = (0.32, 0.68)
    """How near to and far from the robot's axis objects within reach may be [m]."""
    beyond_m: Span = (0.92, 1.25)
    """The same of objects out of reach; on the table they are in any case [m]."""
    spacing_m: Annotated[float, Field(ge=0.06, le=0.3, allow_inf_nan=False)] = 0.085
    """Least distance between centres, so that the fingers fit in [m]."""
    middle_m: Annotated[float, Field(ge=0, le=0.3, allow_inf_nan=False)] = 0.045
    """How far objects are from the middle line, so that their side is beyond doubt [m]."""
    table: TableSpec = TableSpec(xy=(0.45, 0.0), size=(1.4, 1.6))
    force_noise_n: ForceNoise = ForceNoise()
    """How noisy the force on the hand is read [N]."""
    grip_offset_m: GripOffset = 0.0
    """How far from the middle of an object the hand takes it, along its fingers' faces [m]."""

    @model_validator(mode='after')
    def _objects_or_groups(self) -> Recipe:
        if bool(self.objects) is bool(self.things):
            raise ValueError('a table needs a group of objects; with things, `objects: []`')
        return self


def location_name(index: int) -> str:
    """Return the name of the location that is listed there, counted from 0."""
    return f'location_{chr(ord("A") + index)}'


def greatest(count: Count) -> int:
    return count if isinstance(count, int) else count[1]


def least(count: Count) -> int:
    return count if isinstance(count, int) else count[0]


EDGE_M = DEFAULT_SIZE_M
"""Edge of generated cubes, diameter and height of generated cylinders [m]."""


PuzzleKind = Literal['towers', 'partly', 'retrieve', 'insert']


class PuzzleRecipe(FileRecord):
    """
    Draws table, sentence and goal together (scene_sampling.puzzles).

    The task's instruction has a word in braces, such as `{moves}`, wherever a trial fills
    something in, and its goal has the tolerances.
    """

    kind: PuzzleKind
    n: Annotated[int, Field(ge=2, le=16)]
    """How many objects it is about."""
    places: Annotated[int, Field(ge=0, le=12)] = 0
    """How many locations it has, where that is a choice."""
    least: Annotated[int, Field(ge=0, le=60)] = 0
    """No trial can be done in fewer moves."""
    bound: Annotated[int, Field(ge=0, le=60)] = 0
    """A lower bound that each trial shows before it is searched, which saves searches."""
    tallest: Annotated[int, Field(ge=1, le=9)] = 4
    """How many objects may stand on each other, where that is a rule."""
    far: Annotated[int, Field(ge=0, le=10)] = 5
    """How many objects are out of reach."""
