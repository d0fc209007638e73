"""A final state as scorers query it: what there is, what can be reached, what stands."""

import math
from collections.abc import Collection
from functools import cached_property

from bbllm.core.types import MOVABLE, Kind, SceneObject
from bbllm.skills.containers import lies_in
from bbllm.skills.shapes import bottom_z, contains, outline, polygon_gap, top_z
from bbllm.worlds.scene.table_shapes import leaning
from bbllm_bench.suites.scores import FinalState, at_most, cm


class Table:
    """
    A settled table.

    An object stands on the table when its centre is over a table top and its lowest point near
    that top; a cube must also stand on a face, and a cylinder upright. What stands on another
    object does not stand on the table: patterns, lines and places of their own do not count it,
    while the goals of sides count all that rests on something.

    Args:
        state: What there is and was.
        level_m: How near to the top is near [m].
        tilt_deg: How far what stands may lean [deg].
    """

    def __init__(self, state: FinalState, *, level_m: float, tilt_deg: float) -> None:
        self.level_m = level_m
        self.tilt_deg = tilt_deg
        self.now = state.objects
        self.start = state.start
        self.out_of_reach = state.out_of_reach
        self.mass_kg = state.mass_kg
        self.fixed = state.fixed
        self.held = state.held
        self.moves = state.moves
        self.answer = state.answer
        self.names = tuple(dict.fromkeys((*self.start, *self.now)))
        """Everything that there was or is, in the order of the start."""
        self.movables = tuple(name for name in self.names if self.known(name).kind in MOVABLE)
        self.tables = tuple(item for item in self.now.values() if item.kind is Kind.FIXTURE)

    def known(self, name: str) -> SceneObject:
        """Return an object as it is, or as it was if it has gone."""
        return self.now[name] if name in self.now else self.start[name]

    def every(self, kind: Kind) -> tuple[str, ...]:
        return tuple(name for name in self.names if self.known(name).kind is kind)

    def reachable(self, *kinds: Kind) -> tuple[str, ...]:
        """Return the names of the objects of each kind that the hand could come down on."""
        return tuple(
            name for kind in kinds for name in self.every(kind) if name not in self.out_of_reach
        )

    def cubes_but(self, members: Collection[str]) -> dict[str, complex]:
        """Return all cubes that are still there, but for some, with their points."""
        cubes = self.every(Kind.CUBE)
        return {n: self.point(n) for n in cubes if n in self.now and n not in members}

    def standing_cubes(self) -> dict[str, complex]:
        """Return the cubes within reach that stand on the table, with their points."""
        return {n: self.point(n) for n in self.reachable(Kind.CUBE) if not self.fall(n)}

    def xy(self, name: str) -> tuple[float, float]:
        """Return where the centre of an object is, seen from above [m]."""
        x, y, _ = self.known(name).pose.position_m
        return x, y

    def point(self, name: str) -> complex:
        """Return `xy` as a complex number: 1 is away from the robot, 1j to its left [m]."""
        return complex(*self.xy(name))

    def apart(self, one: str, other: str) -> float:
        """Return how far apart two centres are, seen from above [m]."""
        return math.dist(self.xy(one), self.xy(other))

    def fall(self, name: str) -> str:
        """Return why an object does not stand on the table, '' if it does."""
        return self._falls[name]

    @cached_property
    def _falls(self) -> dict[str, str]:
        return {name: self._fall(name) for name in self.movables}

    def _fall(self, name: str) -> str:
        if name not in self.now:
            return f'{name} is gone.'
        tops = self.tops_under(name)
        if not tops:
            return f'{name} is not over the table.'
        above = min((bottom_z(self.now[name]) - top for top in tops), key=abs)
        if not at_most(abs(above), self.level_m):
            return f'{name} is {cm(abs(above))} {"above" if above > 0 else "below"} the table.'
        return self.tipped(name)

    def loose(self, name: str) -> str:
        """Return why an object rests neither on the table nor on another, '' if it does."""
        if name in self.now and name == self.held:
            return f'{name} is still in the hand.'
        return '' if name in self.now and self.rests(name) else self.fall(name)

    def tipped(self, name: str) -> str:
        """Return that a cube is on no face, or a cylinder not upright; '' if it stands."""
        leans = leaning(self.now[name], self.tilt_deg)
        return leans and f'{leans}.'

    def tops_under(self, name: str) -> list[float]:
        """Return the heights of the table tops under the centre of an object [m]."""
        if not self.tables:
            return [0.0]  # by the frame's definition
        return [top_z(table) for table in self.tables if contains(outline(table), self.xy(name))]

    def unrest(self, held: str) -> str:
        """Return why an object, but for the held one, is not at rest; '' if all are."""
        return next(filter(None, (self.loose(n) for n in self.movables if n != held)), '')

    def rests(self, name: str) -> bool:
        """Whether an object that is there rests on the table or on another, leaning or not."""
        item = self.now[name]
        low = bottom_z(item)
        return (
            any(at_most(abs(low - top), self.level_m) for top in self.tops_under(name))
            or any(
                at_most(low - top_z(self.now[other]), self.level_m)
                and polygon_gap(outline(item), outline(self.now[other])) < 0
                for other in self.movables
                if other != name and other in self.now
            )
            or any(lies_in(item, other) for other in self.now.values())
        )

    def moved(self, name: str, still_m: float, though: str = '') -> str:
        """Return why an object is not where it was, '' if it is."""
        if name not in self.now:
            return f'{name} is gone.'
        if name not in self.start:
            return f'{name} was not there before.'
        way = math.dist(self.now[name].pose.position_m, self.start[name].pose.position_m)
        if at_most(way, still_m):
            return ''
        return f'{name} has moved by {cm(way)}{though}; {cm(still_m)} are allowed.'
