"""A try at a puzzle: its table, the words of its sentence, its goal, and moves that solve it."""

import math
from dataclasses import dataclass, field

from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile, TableSpec
from bbllm_bench.scene_sampling.placement import Dice, Point
from bbllm_bench.suites.scene_recipe import (
    CUBE_COLORS,
    CYLINDER_COLORS,
    PuzzleRecipe,
    location_name,
)

TABLE = TableSpec(xy=(0.45, 0.0), size=(1.4, 1.6))
NEAR_M, FAR_M = (0.34, 0.66), (0.93, 1.2)
"""Distance from the robot's axis of what is within reach, and of what is not [m]."""
APART_M = 0.09
"""Least distance between the centres of two piles, so that the fingers fit in [m]."""
EDGE_M = 0.06
LEAST_X_M = 0.14
DRAWS = 200
KINDS = ('cube', 'cylinder')


@dataclass
class PuzzleTable:
    """What stands where so far; draws where more may stand."""

    name: str
    dice: Dice
    specs: list[ObjectSpec] = field(default_factory=list)
    far: list[str] = field(default_factory=list)
    """Names of what is out of reach."""
    points: list[Point] = field(default_factory=list)
    """Middles of all piles and locations, and of places that are to stay free."""
    places: list[Point] = field(default_factory=list)
    """Locations, in the order of their letters."""

    def spot(
        self,
        *,
        far: bool = False,
        apart_m: float = APART_M,
        box: tuple[float, float, float, float] | None = None,
    ) -> Point:
        """Return and take a free point; raises NoRoomError where none was found."""
        x, y = TABLE.xy
        a, b = TABLE.size[0] / 2 - EDGE_M, TABLE.size[1] / 2 - EDGE_M
        least, most = FAR_M if far else NEAR_M
        free = self.dice.point(
            box or (max(x - a, LEAST_X_M), x + a, y - b, y + b),
            DRAWS,
            lambda at: least <= math.hypot(*at) <= most and self.is_free(at, apart_m),
            'a point of a puzzle',
        )
        self.points.append(free)
        return free

    def is_free(self, at: Point, apart_m: float = APART_M) -> bool:
        return all(math.dist(at, other) >= apart_m for other in self.points)

    def location(self, at: Point) -> str:
        self.places.append(at)
        return location_name(len(self.places) - 1)

    def add(
        self, kind: str, color: str, at: Point, *, size: tuple[float, ...] | float = 0.04,
        z: float = 0.0, yaw: float | None = None, far: bool = False
    ) -> str:  # fmt: skip
        """Put an object with its underside at a height; return its name."""
        spec = ObjectSpec(
            name=f'{color}_{kind}',
            kind=kind,
            color=color,
            xyz=(*at, z + (size if isinstance(size, float) else size[-1]) / 2),
            size=size,
            yaw_deg=self.turn() if yaw is None and kind == 'cube' else yaw or 0.0,
        )
        self.specs.append(spec)
        if far:
            self.far.append(spec.name)
        return spec.name

    def turn(self) -> float:
        return float(self.dice.number((0, 89)) - 45)

    def colors(self, kind: str) -> list[str]:
        """Return colours that no object of the kind has yet."""
        used = {spec.color for spec in self.specs if spec.kind == kind}
        palette = CUBE_COLORS if kind == 'cube' else CYLINDER_COLORS
        return [color for color in self.dice.shuffled(palette) if color not in used]

    def scatter(self, n: int, *, far: bool) -> None:
        """Add so many objects of 4 cm anywhere."""
        for _ in range(n):
            kind = self.dice.one_of([kind for kind in KINDS if self.colors(kind)])
            self.add(kind, self.colors(kind)[0], self.spot(far=far), far=far)

    def size(self, name: str) -> tuple[float, float, float]:
        return self.spec(name).size_m

    def spec(self, name: str) -> ObjectSpec:
        return next(spec for spec in self.specs if spec.name == name)

    def xy(self, name: str) -> Point:
        x, y, _ = self.spec(name).xyz or (0.0, 0.0, 0.0)
        return x, y

    def scene(self) -> SceneFile:
        """Return the table, with its objects in any order."""
        return SceneFile(
            name=self.name,
            tables=(TABLE,),
            objects=tuple(self.dice.shuffled(self.specs)),
            locations=tuple(
                LocationSpec(name=location_name(i), xy=xy) for i, xy in enumerate(self.places)
            ),
        )

    def near(self) -> frozenset[str]:
        """Return the names of what is within reach, locations included."""
        names = {spec.name for spec in self.specs} - {*self.far}
        return frozenset(names | {location_name(i) for i in range(len(self.places))})


Moves = tuple[tuple[str, str], ...]
"""What is picked, and the target of the call that puts it down."""


@dataclass
class Draft:
    """A try: the table, and what becomes of it."""

    recipe: PuzzleRecipe
    table: PuzzleTable
    words: dict[str, str] = field(default_factory=dict)
    goal: dict[str, object] = field(default_factory=dict)
    moves: list[tuple[str, str]] = field(default_factory=list)

    @property
    def dice(self) -> Dice:
        return self.table.dice


def pose_text(at: Point, z: float, yaw: float | None = None) -> str:
    numbers = f'{at[0]:.4f} {at[1]:.4f} {z:.4f}'
    return numbers if yaw is None else f'{numbers} {yaw:g}'


def put_aside(draft: Draft, name: str, apart_m: float = APART_M) -> None:
    """Move what is in the way to a free point."""
    at = draft.table.spot(apart_m=apart_m)
    draft.moves.append((name, pose_text(at, draft.table.size(name)[2] / 2)))
