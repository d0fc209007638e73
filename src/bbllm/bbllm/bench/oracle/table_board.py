"""An imagined table: where objects will be after the steps so far."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from bbllm.bench.oracle.lessons import Lessons
from bbllm.bench.oracle.table_goals import RefusalError, Select, Side, TableObject, objects_of
from bbllm.bench.oracle.table_layout import (
    TIGHT_M,
    OnTop,
    Rectangle,
    Region,
    TablePlace,
    Where,
    cell_of,
    pose_patterns,
)
from bbllm.core.types import Scene

FREE_M = 0.07
"""How far a free pose is from everything else [m]."""
SLACK_M = 0.005
"""How much more room than needed is kept where something is put aside [m]."""


class Board:
    """Objects, the hand, and the steps so far."""

    def __init__(self, scene: Scene, lessons: Lessons):
        self.things = objects_of(scene)
        self.held = scene.held
        self.lessons = lessons
        self.steps: list[str] = []
        self.moved = {*lessons.moved}
        """Objects that the robot has placed."""
        self.away: list[Rectangle] = []
        """Where nothing is put aside, with some room around."""
        self.locations = [thing for thing in self.things.values() if thing.kind == 'location']
        """The named places, in the scene's order."""
        self._on = {f.subject: f.object for f in scene.facts if f.predicate in ('on', 'in')}
        if self.held is not None:
            self._lift(self.held)

    # --- what is there ----------------------------------------------------------------------

    def is_at(self, name: str, where: Where) -> bool:
        """Whether an object is where a goal wants it."""
        match where:
            case _ if name == self.held:
                return False
            case TablePlace():
                return where.holds(self.things[name])
            case OnTop():
                return self.below(name) == where.base
            case Region(side=None):
                return name in self.moved
        return self.things[name].side == where.side

    def standing_at(self, cell: TablePlace) -> TableObject | None:
        """Return the lowest object at a place."""
        there = [
            thing
            for name, thing in self.things.items()
            if thing.movable
            and name != self.held
            and (cell.near(thing) or self._on.get(name) == cell.key)
        ]
        return min(there, key=lambda thing: thing.at[2] if thing.at else 0.0, default=None)

    def pile(self, name: str | None) -> Iterator[str]:
        """Yield an object and what stands on it, upwards."""
        while name is not None:
            yield name
            above = (n for n, below in self._on.items() if below == name and n != self.held)
            name = next(above, None)

    def below(self, name: str) -> str | None:
        """Return the object, container or location that an object stands on."""
        below = self.things.get(self._on.get(name, ''))
        return below.name if below is not None and below.kind != 'fixture' else None

    def in_the_way(self, where: Where, but: Collection[str]) -> str | None:
        """Return an object that leaves no room for another there, the highest of its pile."""
        found: list[str] = []
        if isinstance(where, OnTop) and self.things[where.base].kind != 'container':
            found = [*self.pile(where.base)][1:]
        elif isinstance(where, TablePlace):
            things = self.things.items()
            found = [n for n, thing in things if thing.movable and where.near(thing, TIGHT_M)]
        blocking = next((name for name in found if name not in but), None)
        return [*self.pile(blocking)][-1] if blocking else None

    def has_room(
        self, cell: TablePlace, *, locations: bool = True, within: float = FREE_M
    ) -> bool:
        """Whether a pose has room around it; what stands exactly there does not count."""
        return not any(
            cell.near(thing, within) and not (thing.movable and cell.near(thing))
            for thing in self.things.values()
            if thing.movable or (locations and thing.kind == 'location')
        )

    def free_cells(self, side: Side | None = None) -> list[TablePlace]:
        """
        Return free places: named ones first, then poses with room around them, near ones first.

        On a side, named places are in the scene's order.
        """
        named = [
            cell
            for cell in map(cell_of, self.locations)
            if cell.on_side(side) and self.has_room(cell, locations=False, within=TIGHT_M)
        ]
        if side is None:
            named.sort(key=lambda cell: Rectangle.around([cell]).off_middle)
        poses = [cell for (cell,) in pose_patterns([(0, 0)], side)]
        poses.sort(key=lambda cell: Rectangle.around([cell]).off_middle)
        crowded = [cell for cell in poses if self.has_room(cell, locations=False)]
        cells = [*named, *filter(self.has_room, poses), *crowded]
        ruled_out = {*self.lessons.bad, *self.lessons.taken}
        return [
            cell
            for cell in dict.fromkeys(cells)
            if cell.key not in ruled_out
            and self.standing_at(cell) is None
            and (side or all(box.gap(cell.x, cell.y) >= box.room + SLACK_M for box in self.away))
        ]

    # --- which objects ----------------------------------------------------------------------

    def choose(
        self, selects: Sequence[Select], settled: Sequence[str] = (), used: Collection[str] = ()
    ) -> list[str]:
        """
        Return the objects that are meant: those in place first, none that feedback ruled out.

        Raises:
            RefusalError: Too few are left, with the reason.
        """
        chosen: dict[Select, list[str]] = {}
        ruled_out = {*self.lessons.bad} - {*settled, self.held}
        for select in sorted(selects, key=lambda one: len(one.names)):
            taken = {*used, *(name for names in chosen.values() for name in names)}
            usable = self.ranked([n for n in select.names if n not in ruled_out], settled)
            if select.count is not None:
                fresh = [name for name in usable if name not in taken]
                usable = fresh if len(fresh) >= select.count else usable
            needed = select.count or 1
            if len(usable) < needed and select.names:
                raise RefusalError(
                    f"of '{select.said}', {len(usable)} can be used, but {needed} must be. "
                    f'{self.lessons.reasons([*select.names])}'
                )
            chosen[select] = usable[: select.count]
        return list(dict.fromkeys(name for select in selects for name in chosen[select]))

    def ranked(self, names: Sequence[str], settled: Sequence[str] = ()) -> list[str]:
        """Sort objects: held, in place, asked for, within reach for certain, the others."""
        groups = ([self.held], settled, self.lessons.preferred, self.moved)

        def rank(name: str) -> int:
            return next((i for i, group in enumerate(groups) if name in group), len(groups))

        return sorted(dict.fromkeys(names), key=rank)

    # --- steps ------------------------------------------------------------------------------

    def pick(self, name: str) -> None:
        """Take an object, after putting aside what is in the hand or on top of it."""
        if self.held == name:
            return
        if name in self.lessons.bad:
            raise RefusalError(f'{name} is in the way. {self.lessons.bad[name]}')
        if self.held is not None:
            self.put(Region(None))
        for above in reversed([*self.pile(name)][1:]):
            self.clear_away(above)
        self.steps.append(f'pick {name}')
        self.held = name
        self._lift(name)

    def clear_away(self, name: str) -> None:
        """Take an object, and put it where it is least in the way."""
        self.pick(name)
        self.put(Region(None))

    def put(self, where: Where) -> None:
        """Put what is held somewhere."""
        assert self.held is not None  # steps that place come after steps that pick
        thing, half = self.things[self.held], self.things[self.held].height / 2
        if isinstance(where, Region):
            cells = self.free_cells(where.side)
            if not cells:
                raise RefusalError(f'There is no free place for {self.held}.')
            asked_for = (cell for cell in cells if cell.key in self.lessons.preferred)
            where = next(asked_for, cells[0])
        key = where.base if isinstance(where, OnTop) else where.key
        if (below := self.things.get(key)) is not None and below.at is not None:
            rise = 0.0 if below.kind == 'location' else below.height / 2
            at = (*below.at[:2], below.at[2] + rise + half)
            step = f'on {key}'
            self._on[thing.name] = key
        else:
            assert isinstance(where, TablePlace)
            at = (where.x, where.y, half)
            step = f'at {where.pose or f"{key} {half:.3f}"}'
        self.steps.append(f'place {thing.name} {step}')
        self.things[thing.name] = replace(thing, at=at)
        self.moved.add(thing.name)
        self.held = None

    def _lift(self, name: str) -> None:
        self._on.pop(name, None)
        self.things[name] = replace(self.things[name], at=None)
