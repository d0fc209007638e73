"""A final state as scorers query it: what there is, what can be reached, what stands."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cached_property

from bbllm.bench.suites.scores import FinalState, at_least, at_most, cm
from bbllm.core.types import MOVABLE, Kind, SceneObject
from bbllm.skills.containers import lies_in
from bbllm.skills.shapes import (
    bottom_z,
    contains,
    outline,
    polygon_gap,
    rotation_of,
    top_z,
)


class Table:
    """
    A settled table.

    An object stands on the table when its centre is over a table top and its lowest point near
    that top; a cube must also stand on a face, and a cylinder upright. What stands on another
    object, is in the hand or has fallen off does not stand on the table, and no goal counts it
    but `resting`, `contained`, `tower` and `hold`.

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

    @cached_property
    def tilt_cosine(self) -> float:
        """Least share of an axis that still counts as upright."""
        return math.cos(math.radians(self.tilt_deg))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everything that there was or is, in the order of the start."""
        return tuple(dict.fromkeys((*self.start, *self.now)))

    @cached_property
    def movables(self) -> tuple[str, ...]:
        """Names of all objects that can be moved."""
        return tuple(name for name in self.names if self.known(name).kind in MOVABLE)

    def known(self, name: str) -> SceneObject:
        """Return an object as it is, or as it was if it has gone."""
        return self.now[name] if name in self.now else self.start[name]

    def every(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of all objects of a kind."""
        return tuple(name for name in self.names if self.known(name).kind is kind)

    def reachable(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the objects of a kind that the hand could come down on."""
        return tuple(name for name in self.every(kind) if name not in self.out_of_reach)

    def cubes_but(self, members: Collection[str]) -> tuple[str, ...]:
        """Return the names of all cubes that are still there, but for some."""
        cubes = self.every(Kind.CUBE)
        return tuple(name for name in cubes if name in self.now and name not in members)

    def standing_cubes(self) -> dict[str, complex]:
        """Return the cubes within reach that stand on the table, with their points."""
        cubes = self.reachable(Kind.CUBE)
        return {name: self.point(name) for name in cubes if self.stands(name)}

    def xy(self, name: str) -> tuple[float, float]:
        """Return where the centre of an object is, seen from above [m]."""
        x, y, _ = self.known(name).pose.position_m
        return x, y

    def point(self, name: str) -> complex:
        """Return the same as a complex number: 1 is away from the robot, 1j to its left [m]."""
        return complex(*self.xy(name))

    def stands(self, name: str) -> bool:
        """Whether an object stands on the table."""
        return not self.fall(name)

    def fall(self, name: str) -> str:
        """Return why an object does not stand on the table, '' if it does."""
        return self._falls[name]

    @cached_property
    def _falls(self) -> dict[str, str]:
        return {name: self._fall(name) for name in self.movables}

    def _fall(self, name: str) -> str:
        if name not in self.now:
            return f'{name} is gone.'
        item = self.now[name]
        tops = self._tops_under(name)
        if not tops:
            return f'{name} is not over the table.'
        above = min((bottom_z(item) - top for top in tops), key=abs)
        if not at_most(abs(above), self.level_m):
            return f'{name} is {cm(abs(above))} {"above" if above > 0 else "below"} the table.'
        return self.tipped(name)

    def tipped(self, name: str) -> str:
        """Return that a cube is on no face, or a cylinder not upright; '' if it stands."""
        item = self.now[name]
        ups = [abs(share) for share in rotation_of(item.pose)[2]]
        least = self.tilt_cosine
        if item.kind is Kind.CUBE and not at_least(max(ups), least):
            return f'{name} is tipped onto an edge.'
        if item.kind is Kind.CYLINDER and not at_least(ups[2], least):
            return f'{name} has toppled.'
        return ''

    def _tops_under(self, name: str) -> list[float]:
        """Return the heights of the table tops under the centre of an object [m]."""
        if not self.tables:
            return [0.0]  # by the frame's definition
        return [top_z(table) for table in self.tables if contains(outline(table), self.xy(name))]

    @cached_property
    def tables(self) -> tuple[SceneObject, ...]:
        """The furniture."""
        return tuple(item for item in self.now.values() if item.kind is Kind.FIXTURE)

    def unrest(self, held: str) -> str:
        """Return why an object, but for the held one, is not at rest; '' if all are."""
        for name in self.movables:
            if name not in self.now or (name != held and not self.rests(name)):
                return self.fall(name)
        return ''

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

    def rests(self, name: str) -> bool:
        """Whether an object that is there rests on the table or on another, leaning or not."""
        low = bottom_z(self.now[name])
        on_table = any(at_most(abs(low - top), self.level_m) for top in self._tops_under(name))
        return on_table or self._is_carried(name)

    def _is_carried(self, name: str) -> bool:
        item = self.now[name]
        return any(
            at_most(bottom_z(item) - top_z(self.now[other]), self.level_m)
            and polygon_gap(outline(item), outline(self.now[other])) < 0
            for other in self.movables
            if other != name and other in self.now
        ) or any(lies_in(item, other) for other in self.now.values())
