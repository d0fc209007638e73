"""An imagined table: its places, and where objects will be after the steps so far."""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from bbllm.core.types import Scene
from bbllm_bench.oracle.lessons import Lessons
from bbllm_bench.oracle.table_goals import (
    Point,
    RefusalError,
    Select,
    Side,
    TableObject,
    beyond_middle,
    objects_of,
    stands,
)

NEAR_M, PLACED_M = 0.02, 0.006
"""Closer than this to a place is at it, and need not be put there again [m]."""
TIGHT_M, FREE_M = 0.05, 0.07
"""Objects are at least this far from a location, and from a pose, that is free [m]."""
PITCH_M = 0.07
"""Distance of neighbours in a pattern [m]."""
WORK_MIDDLE_M = (0.48, 0.0)
"""Assumed middle of the arm's work space [m]."""
POSES_X_M = (0.475, 0.50, 0.45, 0.525, 0.425, 0.55, 0.40, 0.575, 0.375, 0.35)
POSES_Y_M = tuple(0.03 * i for i in range(13))
POSE_RANGE_M = (0.30, 0.65)
"""Least and greatest distance of a chosen pose from the arm's axis [m]."""
FARTHEST_M = 0.68
"""The greatest distance of a pose from the arm's axis where the words leave no other [m]."""
BESIDE_ROOM_M, CLOSE_M = 0.07, 0.052
"""Objects are at least this far from a place beside another, and from one between two [m]."""
SIDE_M = 0.03
"""How far from the middle line a place on a side is [m]."""


@dataclass(frozen=True)
class TablePlace:
    """A place on the table."""

    key: str
    """A location's name, or `x y` where it has none."""
    x: float
    y: float
    pose: str = ''
    """The pose in numbers, where the task gives it."""

    def near(self, item: TableObject, within: float = NEAR_M) -> bool:
        """Whether an object stands there, or a location is there."""
        return item.at is not None and math.dist(item.at[:2], (self.x, self.y)) < within

    def on_side(self, side: Side | None) -> bool:
        """Whether it is on the side that is asked for, if any is."""
        return side is None or beyond_middle((self.x, self.y, 0.0), side) > SIDE_M


@dataclass(frozen=True)
class OnTop:
    """On top of an object, or in a container."""

    base: str


@dataclass(frozen=True)
class Region:
    """Any free place on a side, or on the whole table."""

    side: Side | None = None


@dataclass(frozen=True)
class Related:
    """Any free place so related to one or two objects, as they stand when it is filled."""

    relation: str
    refs: tuple[str, ...]


Where: TypeAlias = TablePlace | OnTop | Region | Related


def cell_of(location: TableObject) -> TablePlace:
    """Return a named location as a place."""
    assert location.at is not None  # scenes contain the pose of every location
    return TablePlace(location.name, *location.at[:2])


@lru_cache
def patterns(
    steps: tuple[tuple[int, int], ...], side: Side | None
) -> tuple[tuple[TablePlace, ...], ...]:
    """
    Return poses within reach that form a pattern, those in the middle of the table first.

    Args:
        steps: The pattern as grid cells (forward, left).
        side: Where all of it has to be.
    """
    rows, columns = zip(*steps, strict=True)
    i0, j0 = (max(rows) + min(rows)) / 2, (max(columns) + min(columns)) / 2
    near, far = POSE_RANGE_M
    found = []
    for y, x, sign in itertools.product(POSES_Y_M, POSES_X_M, (-1, 1)):
        at = [(x + (i - i0) * PITCH_M, sign * y + (j - j0) * PITCH_M) for i, j in steps]
        cells = tuple(TablePlace(f'{x:.3f} {y + 0.0:.3f}', x, y) for x, y in at)
        if all(c.on_side(side) and near <= math.hypot(c.x, c.y) <= far for c in cells):
            found.append(cells)
    return tuple(sorted(dict.fromkeys(found), key=off_middle))


def related_points(relation: str, refs: Sequence[Point]) -> Iterator[tuple[float, float]]:
    """Yield points with a relation to one or two others, the best first [m]."""
    x, y, _ = refs[0]
    if relation == 'between':
        dx, dy = refs[1][0] - x, refs[1][1] - y
        for step in range(10):
            for part in {0.5 - 0.04 * step, 0.5 + 0.04 * step}:
                yield x + part * dx, y + part * dy
        return
    ways = {'behind': [0], 'leftof': [90], 'infront': [180], 'rightof': [-90]}
    turns = (0, 15, -15, 30, -30, 40, -40)
    for far_m in (0.075,) if relation == 'beside' else (0.08, 0.10, 0.12, 0.15, 0.20):
        for turn in turns:
            for way in ways.get(relation, [90, -90, 180, 0]):
                angle = math.radians(way + turn)
                yield x + far_m * math.cos(angle), y + far_m * math.sin(angle)


def gap(cells: Sequence[TablePlace], x: float, y: float) -> float:
    """Return how far a point is from the rectangle around some places [m]."""
    xs, ys = [cell.x for cell in cells], [cell.y for cell in cells]
    dx, dy = max(min(xs) - x, x - max(xs), 0.0), max(min(ys) - y, y - max(ys), 0.0)
    return math.hypot(dx, dy)


def off_middle(cells: Sequence[TablePlace]) -> float:
    """Return how far the middle of some places is from that of the work space [m]."""
    xs, ys = [cell.x for cell in cells], [cell.y for cell in cells]
    return math.dist(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2), WORK_MIDDLE_M)


@dataclass(frozen=True)
class TableStep:
    """One step."""

    verb: str
    text: str
    """The step in plain words."""
    name: str = ''
    """What is picked or placed."""
    at: tuple[float, float, float] | None = None
    """Where the centre of what is placed will be [m]."""


class Board:
    """
    Objects, the hand, and the steps so far.

    Args:
        scene: The table now.
        lessons: What is ruled out.
        room_m: How far objects are at least from a pose that is free [m].
    """

    def __init__(self, scene: Scene, lessons: Lessons, room_m: float = FREE_M):
        self.objects = objects_of(scene)
        self.held = scene.held
        self.lessons = lessons
        self._room_m = room_m
        self.steps: list[TableStep] = []
        self.moved = {*lessons.moved}
        """Objects that the robot has placed."""
        self.away: list[tuple[Sequence[TablePlace], float]] = []
        """Where nothing is put aside, and how far around [m]."""
        self.locations = [cell_of(t) for t in self.objects.values() if t.kind == 'location']
        """The named places, in the scene's order."""
        # Of several objects that something stands on, the nearest, which is the first.
        self.on = {f.subject: f.object for f in scene.facts[::-1] if f.predicate in ('on', 'in')}
        """What each object stands on."""
        if self.held is not None:
            self._lift(self.held)

    # --- what is there ----------------------------------------------------------------------

    def is_at(self, name: str, where: Where) -> bool:
        """Whether an object is where a goal wants it."""
        match where:
            case _ if name == self.held:
                return False
            case TablePlace():
                turned = len(where.pose.split()) > 3  # by how much is not known
                there = where.near(self.objects[name], PLACED_M)
                return there and (name in self.moved or not turned)
            case OnTop():
                return self.on.get(name) == where.base
            case Region(side=None):
                return name in self.moved
            case Related():
                at, refs = self.objects[name].at, self._points(where)
                there = at is not None and bool(refs) and stands(where.relation, at, refs)
                return there and name in self.moved
        return self.objects[name].is_on(where.side)

    def standing_at(self, cell: TablePlace, within: float = NEAR_M) -> list[str]:
        """Return the objects near a place, the lowest first."""
        items = [t for t in self.objects.values() if t.movable and cell.near(t, within)]
        return [t.name for t in sorted(items, key=lambda t: t.at[2] if t.at else 0.0)]

    def pile(self, name: str) -> list[str]:
        """Return an object and what stands on it, upwards."""
        found = [name]
        while above := [n for n, below in self.on.items() if below == found[-1]]:
            found.append(above[0])
        return found

    def in_the_way(self, where: Where, but: Collection[str]) -> str | None:
        """Return an object that leaves no room for another there, the highest of its pile."""
        found: list[str] = []
        if isinstance(where, OnTop) and self.objects[where.base].kind != 'container':
            found = self.pile(where.base)[1:]
        elif isinstance(where, TablePlace):
            found = self.standing_at(where, TIGHT_M)
        blocking = [name for name in found if name not in but]
        return self.pile(blocking[0])[-1] if blocking else None

    def free_cells(self, side: Side | None = None) -> list[TablePlace]:
        """Return free places: named ones, then poses, those that leave locations free first."""
        named = [c for c in self.locations if c.on_side(side)]
        if side is None:
            named.sort(key=lambda cell: off_middle([cell]))
        poses = [cell for (cell,) in patterns(((0, 0),), side)]
        poses.sort(key=lambda c: any(gap([c], at.x, at.y) < FREE_M for at in self.locations))
        far = {item.name for item in self.objects.values() if item.in_reach is False}
        ruled_out = {*self.lessons.bad, *self.lessons.taken, *far}
        return [
            cell
            for cells, room_m in ((named, TIGHT_M), (poses, self._room_m))
            for cell in cells
            if cell.key not in ruled_out
            and not self.lessons.failed_at(cell.x, cell.y)
            and not self.standing_at(cell, room_m)
            and (side or all(gap(box, cell.x, cell.y) >= least for box, least in self.away))
        ]

    def related_cells(self, where: Related) -> list[TablePlace]:
        """Return free places with a relation to other objects, the best first."""
        if not (refs := self._points(where)):
            return []
        room_m = CLOSE_M if where.relation == 'between' else BESIDE_ROOM_M
        return [
            cell
            for x, y in related_points(where.relation, refs)
            for cell in [TablePlace(f'{x + 0.0:.3f} {y + 0.0:.3f}', x, y)]
            if cell.key not in self.lessons.bad
            and POSE_RANGE_M[0] <= math.hypot(x, y) <= FARTHEST_M
            and not self.standing_at(cell, room_m)
        ]  # fmt: skip

    def _points(self, where: Related) -> list[Point]:
        """Return where the objects of a relation are; none while one is in the hand."""
        at = [self.objects[name].at for name in where.refs]
        return [point for point in at if point] if all(at) else []

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
            taken = {*used, *itertools.chain(*chosen.values())}
            usable = self.ranked([n for n in select.names if n not in ruled_out], settled)
            needed = select.count or 1
            fresh = [name for name in usable if name not in taken]
            if select.count is not None and len(fresh) >= needed:
                usable = fresh
            if len(usable) < needed and select.names:
                raise RefusalError(
                    f"of '{select.words}', {len(usable)} can be used, but {needed} must be. "
                    f'{self.lessons.reasons(select.names)}'
                )
            chosen[select] = usable[: select.count]
        return list(dict.fromkeys(name for select in selects for name in chosen[select]))

    def ranked(self, names: Sequence[str], settled: Sequence[str] = ()) -> list[str]:
        """Sort objects: held, in place, asked for, within reach for certain, the others."""
        groups = ([self.held], settled, self.lessons.preferred, self.moved)
        return sorted(dict.fromkeys(names), key=lambda n: [n not in group for group in groups])

    # --- steps ------------------------------------------------------------------------------

    def pick(self, name: str) -> None:
        """Take an object, after putting aside what is in the hand or on top of it."""
        if self.held == name:
            return
        if name in self.lessons.bad:
            raise RefusalError(f'{name} is in the way. {self.lessons.bad[name]}')
        if self.held is not None:
            self.put(Region())
        for above in self.pile(name)[:0:-1]:
            self.clear_away(above)
        self.steps.append(TableStep('pick', f'pick {name}', name))
        self.held = name
        self._lift(name)

    def clear_away(self, name: str) -> None:
        """Take an object, and put it where it is least in the way."""
        self.pick(name)
        self.put(Region())

    def put(self, where: Where) -> None:
        assert self.held is not None  # steps that place come after steps that pick
        item, half = self.objects[self.held], self.objects[self.held].height / 2
        if isinstance(where, Region | Related):
            cells = (
                self.free_cells(where.side)
                if isinstance(where, Region)
                else self.related_cells(where)
            )
            if not cells:
                raise RefusalError(f'There is no free place for {self.held}.')
            asked_for = (cell for cell in cells if cell.key in self.lessons.preferred)
            where = next(asked_for, cells[0])
        key = where.base if isinstance(where, OnTop) else where.key
        if (below := self.objects.get(key)) is not None and below.at is not None:
            rise = 0.0 if below.kind == 'location' else below.height / 2
            at = (*below.at[:2], below.at[2] + rise + half)
            step = f'on {key}'
            self.on[item.name] = key
        else:
            assert isinstance(where, TablePlace)
            at = (where.x, where.y, half)
            step = f'at {where.pose or f"{key} {half:.3f}"}'
        self.steps.append(TableStep('place', f'place {item.name} {step}', item.name, at))
        self.objects[item.name] = replace(item, at=at)
        self.moved.add(item.name)
        self.held = None

    def _lift(self, name: str) -> None:
        self.on.pop(name, None)
        self.objects[name] = replace(self.objects[name], at=None)
