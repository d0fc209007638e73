"""The table as `offline` imagines it while it writes a plan: where things will be."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from bbllm.llm.offline.lessons import Lessons
from bbllm.llm.offline.phrases import RefusalError, Side, side_of
from bbllm.llm.offline.shapes import FREE_M, Box, Cell, on_side, pose_cell, pose_patterns
from bbllm.llm.offline.sight import Sight, Thing

TIGHT_M = 0.05
"""Nearer than this to a place, a thing leaves no room for another there [m]."""
BESIDE_M = 0.12
"""Up to here a thing can keep the hand from another [m]."""
SLACK_M = 0.005
"""How much more room than needed is kept where something is put aside [m]."""


class Board:
    """Things, the hand, and the plan so far."""

    def __init__(self, sight: Sight, lessons: Lessons):
        self.things = {item.name: item for item in sight.things}
        self.held = sight.held
        self.lessons = lessons
        self.steps: list[str] = []
        self.fixed: set[str] = set()
        """Things that are to stay where they are."""
        self._on = {s: o for s, predicate, o in sight.facts if predicate in ('on', 'in')}
        if self.held is not None:
            self._lift(self.held)

    @property
    def locations(self) -> list[Thing]:
        """The named places, in the scene's order."""
        return [item for item in self.things.values() if item.kind == 'location']

    def cell(self, location: str) -> Cell:
        """Return a named location as a place."""
        at = self.things[location].at
        if at is None:
            raise RefusalError(f'The environment does not say where {location} is.')
        return Cell(location, at[0], at[1])

    def standing_at(self, cell: Cell) -> Thing | None:
        """Return the lowest thing at a place."""
        there = [
            item
            for item in self.things.values()
            if item.movable
            and item.name != self.held
            and (cell.near(item) or (self._on.get(item.name) == cell.key))
        ]
        return min(there, key=lambda item: item.at[2] if item.at else 0.0, default=None)

    def on_top_of(self, name: str) -> str | None:
        """Return what stands on a thing."""
        for other, below in self._on.items():
            if below == name and other != self.held:
                return other
        return None

    def below(self, name: str) -> str | None:
        """Return the movable thing or location that a thing stands on."""
        below = self.things.get(self._on.get(name, ''))
        return below.name if below and (below.movable or below.kind == 'location') else None

    def free(self, cell: Cell) -> bool:
        """Tell whether a place is free and not known to be out of reach."""
        if cell.key in self.lessons.bad_places or cell.key in self.lessons.taken:
            return False
        return self.standing_at(cell) is None

    def free_cells(self, side: Side | None = None, away: Sequence[Box] = ()) -> list[Cell]:
        """
        Return free places: named ones first, then poses with room around them.

        Near ones come first, but on a side it is the scene's order that named ones come in:
        there, one is as good as another.

        Args:
            side: Only there.
            away: What is to stay free, with some room around it.
        """
        named = [self.cell(item.name) for item in self.locations if item.at is not None]
        roomy = [cell for cell in named if self.has_room(cell, locations=False, within=TIGHT_M)]
        poses = [cell for (cell,) in pose_patterns([(0, 0)], side)]
        found: list[Cell] = []
        for cells in (
            roomy,
            [cell for cell in poses if self.has_room(cell)],
            [cell for cell in poses if self.has_room(cell, locations=False)],
        ):
            near = [
                cell
                for cell in cells
                if on_side(cell, side)
                and self.free(cell)
                and all(box.gap(cell.x, cell.y) >= box.room + SLACK_M for box in away)
            ]
            if side is None or cells is not roomy:
                near.sort(key=lambda cell: Box.around([cell]).off_middle)
            found += near
        return list(dict.fromkeys(found))

    def has_room(self, cell: Cell, *, locations: bool = True, within: float = FREE_M) -> bool:
        """Tell whether a pose has room around it; what stands exactly there does not count."""
        return not any(
            cell.near(item, within) and not (item.movable and cell.near(item))
            for item in self.things.values()
            if item.movable or (locations and item.kind == 'location')
        )

    def in_the_way(self, cell: Cell, but: Collection[str]) -> str | None:
        """Return a thing that leaves too little room for another at a place."""
        for item in self.things.values():
            if item.movable and item.name not in but and cell.near(item, TIGHT_M):
                return self._top(item.name)
        return None

    def _top(self, name: str) -> str:
        above = self.on_top_of(name)
        return name if above is None else self._top(above)

    def side_of(self, name: str) -> Side | None:
        """Tell on which side a thing is; None where it is held or in the middle."""
        return None if name == self.held else side_of(self.things[name])

    # --- steps ------------------------------------------------------------------------------

    def pick(self, name: str, away: Sequence[Box] = ()) -> None:
        """Take a thing, after putting aside what is in the hand or on top of it."""
        if self.held == name:
            return
        if name in self.lessons.bad_things:
            raise RefusalError(f'{name} is in the way. {self.lessons.bad_things[name]}')
        if name in self.fixed:
            raise RefusalError(f'{name} is in the way, but it is to stay where it is.')
        if self.held is not None:
            self.put_aside(away)
        if (top := self.on_top_of(name)) is not None:
            self.pick(top, away)
            self.put_aside(away)
        for other in self.lessons.cramped.get(name, ()):
            if self._may_leave(other) and self._gap(name, other) < BESIDE_M:
                self.pick(other, away)
                self.put_aside(away)
        self.steps.append(f'pick {name}')
        self.held = name
        self._lift(name)

    def put_aside(self, away: Sequence[Box] = ()) -> None:
        """Put what is held where it is least in the way."""
        cells = self.free_cells(away=away)
        if not cells:
            raise RefusalError(f'There is no free place to put {self.held} aside.')
        self.place(cells[0])

    def place(self, cell: Cell) -> None:
        """Put what is held at a place on the table."""
        assert self.held is not None
        thing = self.things[self.held]
        height = thing.height / 2
        if cell.key in self.things:
            self.steps.append(f'place {self.held} on {cell.key}')
            self._on[self.held] = cell.key
            height += (self.things[cell.key].at or (0.0, 0.0, 0.0))[2]
        else:
            self.steps.append(f'place {self.held} at {cell.key} {height:.3f}')
        self.things[self.held] = replace(thing, at=(cell.x, cell.y, height))
        self.held = None

    def place_on(self, base: str) -> None:
        """Put what is held on top of a thing."""
        assert self.held is not None
        thing, below = self.things[self.held], self.things[base]
        self.steps.append(f'place {self.held} on {base}')
        self._on[self.held] = base
        if below.at is not None:
            height = below.at[2] + (below.height + thing.height) / 2
            self.things[self.held] = replace(thing, at=(below.at[0], below.at[1], height))
        self.held = None

    def place_at_pose(self, pose: str) -> None:
        """Put what is held at a pose that the task gives in numbers."""
        assert self.held is not None
        cell = self.pose(pose)
        self.steps.append(f'place {self.held} at {pose}')
        self.things[self.held] = replace(
            self.things[self.held], at=(cell.x, cell.y, float(pose.split()[2]))
        )
        self.held = None

    def let_go(self) -> None:
        """Open the hand; what was in it is somewhere on the table."""
        self.held = None

    def pose(self, pose: str) -> Cell:
        """Return a pose as a place."""
        x, y = (float(number) for number in pose.split()[:2])
        return pose_cell(x, y)

    def _may_leave(self, name: str) -> bool:
        return name not in self.lessons.bad_things and name not in self.fixed

    def _gap(self, one: str, other: str) -> float:
        a, b = self.things[one].at, self.things[other].at
        return math.dist(a[:2], b[:2]) if a and b else math.inf

    def _lift(self, name: str) -> None:
        self._on.pop(name, None)
        self.things[name] = replace(self.things[name], at=None)
