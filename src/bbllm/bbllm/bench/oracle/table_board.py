"""An imagined table: where objects will be after the steps so far, and what feedback ruled out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bbllm.bench.oracle.instruction import names_in, read_instruction
from bbllm.bench.oracle.table_goals import (
    RefusalError,
    Select,
    Side,
    TableGoal,
    TableObject,
    things_of,
)
from bbllm.bench.oracle.table_layout import (
    FREE_M,
    Place,
    Rectangle,
    cell_of,
    on_side,
    pose_cell,
    pose_patterns,
)
from bbllm.core.protocols import PromptRequest
from bbllm.core.types import Scene

TIGHT_M = 0.05
"""Nearer than this to a place, an object leaves no room for another there [m]."""
BESIDE_M = 0.12
"""Up to here an object can keep the hand from another [m]."""
SLACK_M = 0.005
"""How much more room than needed is kept where something is put aside [m]."""
_TRIES = 2
"""How often a step may fail for a reason that might pass."""
_FINAL = re.compile(
    r'out of (?:the )?(?:workspace|reach)|unreachable|not reachable|cannot (?:be )?reach|no path|'
    r'no way|not graspable|cannot be (?:grasped|picked)|no room|no clearance|too wide|no object|'
    r'is no pose|pose .{1,80} is too far away|the yaw in',
    re.IGNORECASE,
)
"""What a world says of failures that trying again would repeat."""
_TAKEN = re.compile(r'occupied|taken|not free', re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(not|don['’]?t|never|avoid|skip|without|except|leave|keep off)\b")
_HOPELESS = frozenset({'would_not_rise', 'fixed_or_heavy', 'failed_grasp_twice'})
_FAR = 'out_of_workspace'


@dataclass
class Lessons:
    """What an episode has shown so far."""

    bad_things: dict[str, str] = field(default_factory=dict)
    """Objects that cannot be picked, and the sentence that said so."""
    bad_places: dict[str, str] = field(default_factory=dict)
    """Places, names or `x y` of a pose, where nothing can be put, and why."""
    taken: set[str] = field(default_factory=set)
    """Places that were found occupied."""
    cramped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Objects that could not be picked for what is beside them, and what that is."""
    done: Counter[str] = field(default_factory=Counter)
    """Texts of the steps that were carried out."""
    moved: set[str] = field(default_factory=set)
    """Objects that the robot has placed, so that they are within reach."""
    preferred: list[str] = field(default_factory=list)
    """Objects and places that a person asked for."""
    wishes: list[TableGoal] = field(default_factory=list)
    """What a person asked for beyond the task."""
    notes: list[str] = field(default_factory=list)
    """What was not understood."""

    def reasons(self, names: Sequence[str]) -> str:
        """Return what ruled out some of these objects or places."""
        bad = {**self.bad_places, **self.bad_things}
        return ' '.join(dict.fromkeys(bad[name] for name in names if name in bad))


def learn(request: PromptRequest, scene: Scene) -> Lessons:
    """Return what failures, people and beliefs have shown."""
    lessons = Lessons()
    for fact in scene.facts:
        if fact.estimated and fact.predicate == 'is':
            why = f'It is believed that {fact}.'
            if fact.object in _HOPELESS or fact.object == _FAR:
                lessons.bad_things.setdefault(fact.subject, why)
            if fact.object == _FAR:
                lessons.bad_places.setdefault(fact.subject, why)
    for text in request.plan[: request.start]:
        lessons.done[text] += 1
        if text.startswith('place '):
            lessons.moved.add(text.split()[1])
    tries: Counter[str] = Counter()
    things = things_of(scene)
    for failure in request.failures:
        if failure.tried:
            _learn_failure(failure.step, failure.cause, things, lessons, tries)
        for said in failure.human:
            _learn_wish(said, things, scene.held, lessons)
    return lessons


def _learn_failure(
    step: str, cause: str, things: Mapping[str, TableObject], lessons: Lessons, tries: Counter[str]
) -> None:
    tries[step] += 1
    verb, _, rest = step.partition(' ')
    final = _FINAL.search(cause) is not None or tries[step] >= _TRIES
    beside = tuple(
        name
        for name, thing in things.items()
        if thing.movable and name != rest and re.search(rf'\b{name}\b', cause)
    )
    if verb == 'pick' and beside and tries[step] < _TRIES:
        lessons.cramped[rest] = beside
    elif verb == 'pick' and final:
        lessons.bad_things.setdefault(rest, cause)
    elif verb == 'place':
        found = re.match(r'place \S+ (?:on|at) (.*)$', step)
        place = ' '.join((found[1] if found else step.split()[-1]).split()[:2])
        if _TAKEN.search(cause):
            lessons.taken.add(place)
        if final and (not _TAKEN.search(cause) or tries[step] >= _TRIES):
            lessons.bad_places.setdefault(place, cause)


def _learn_wish(
    text: str, things: Mapping[str, TableObject], held: str | None, lessons: Lessons
) -> None:
    """Take in `not location_B`, `use aqua_cube instead of the red one` or a new task."""
    understood = said_no = False
    for clause in re.split(r'[,.;!]|\bbut\b|\band (?=not|never|do not|avoid|use)', text.lower()):
        wanted, instead, unwanted = re.sub('rather than', 'instead of', clause).partition(
            'instead of'
        )
        negative = _NEGATIVE.search(clause)
        said_no = not instead and bool(
            negative or (said_no and re.match(r'\s*(?:or|nor|and)\b', clause))
        )
        bad: list[str] = []
        good: list[str] = []
        if instead:
            bad, good = names_in(unwanted, things), names_in(wanted, things)
        elif said_no:
            bad = names_in(clause[negative.end() if negative else 0 :], things)
        elif re.match(r'\s*(please\s+)?(use|take|prefer|try)\b', clause):
            good = names_in(clause, things)
        understood = understood or bool(bad or good)
        for name in bad:
            lessons.bad_things.setdefault(name, f'a person said: {text}')
            lessons.bad_places.setdefault(name, f'a person said: {text}')
        lessons.preferred += good
    if not understood:
        try:
            lessons.wishes += read_instruction(text, things, held)
        except RefusalError:
            lessons.notes.append(text)


class Board:
    """Objects, the hand, and the steps so far."""

    def __init__(self, scene: Scene, lessons: Lessons):
        self.things = things_of(scene)
        self.held = scene.held
        self.lessons = lessons
        self.steps: list[str] = []
        self.used: set[str] = set()
        """Objects that an earlier goal has given a place."""
        self._on = {f.subject: f.object for f in scene.facts if f.predicate in ('on', 'in')}
        if self.held is not None:
            self._lift(self.held)

    # --- what is there ----------------------------------------------------------------------

    @property
    def locations(self) -> list[TableObject]:
        """The named places, in the scene's order."""
        return [thing for thing in self.things.values() if thing.kind == 'location']

    def cell(self, location: str) -> Place:
        """Return a named location as a place."""
        return cell_of(self.things[location])

    def standing_at(self, cell: Place) -> TableObject | None:
        """Return the lowest object at a place."""
        there = [
            thing
            for name, thing in self.things.items()
            if thing.movable
            and name != self.held
            and (cell.near(thing) or self._on.get(name) == cell.key)
        ]
        return min(there, key=lambda thing: thing.at[2] if thing.at else 0.0, default=None)

    def on_top_of(self, name: str) -> str | None:
        """Return what stands on an object."""
        found = (n for n, below in self._on.items() if below == name and n != self.held)
        return next(found, None)

    def below(self, name: str) -> str | None:
        """Return the object or location that an object stands on."""
        below = self.things.get(self._on.get(name, ''))
        solid = below is not None and (below.movable or below.kind in ('location', 'container'))
        return below.name if below is not None and solid else None

    def free(self, cell: Place) -> bool:
        """Whether a place is free and not ruled out."""
        ruled_out = cell.key in self.lessons.bad_places or cell.key in self.lessons.taken
        return not ruled_out and self.standing_at(cell) is None

    def has_room(self, cell: Place, *, locations: bool = True, within: float = FREE_M) -> bool:
        """Whether a pose has room around it; what stands exactly there does not count."""
        return not any(
            cell.near(thing, within) and not (thing.movable and cell.near(thing))
            for thing in self.things.values()
            if thing.movable or (locations and thing.kind == 'location')
        )

    def free_cells(self, side: Side | None = None, away: Sequence[Rectangle] = ()) -> list[Place]:
        """
        Return free places: named ones first, then poses with room around them, near ones first.

        On a side, named places are in the scene's order.

        Args:
            side: Only there.
            away: What is to stay free, with some room around it.
        """
        named = map(cell_of, self.locations)
        poses = [cell for (cell,) in pose_patterns([(0, 0)], side)]
        found: list[Place] = []
        for cells, in_order in (
            ([c for c in named if self.has_room(c, locations=False, within=TIGHT_M)], bool(side)),
            ([cell for cell in poses if self.has_room(cell)], False),
            ([cell for cell in poses if self.has_room(cell, locations=False)], False),
        ):
            near = [
                cell
                for cell in cells
                if on_side(cell, side)
                and self.free(cell)
                and all(box.gap(cell.x, cell.y) >= box.room + SLACK_M for box in away)
            ]
            if not in_order:
                near.sort(key=lambda cell: Rectangle.around([cell]).off_middle)
            found += near
        return list(dict.fromkeys(found))

    def in_the_way(self, cell: Place, but: Collection[str]) -> str | None:
        """Return an object that leaves too little room for another at a place."""
        for name, thing in self.things.items():
            if thing.movable and name not in but and cell.near(thing, TIGHT_M):
                while (above := self.on_top_of(name)) is not None:
                    name = above
                return name
        return None

    # --- which objects ----------------------------------------------------------------------

    def choose(self, select: Select, settled: Sequence[str] = ()) -> list[str]:
        """
        Return the objects that are meant: those in place first, none that feedback ruled out.

        Raises:
            RefusalError: Too few are left, with the reason.
        """
        ruled_out = {*self.lessons.bad_things} - {*settled, self.held}
        usable = [name for name in select.names if name not in ruled_out]
        if select.count is None and (usable or not select.names):
            return self.ranked(usable, settled)
        fresh = [name for name in usable if name not in self.used]
        needed = select.count or 1
        usable = self.ranked(fresh if len(fresh) >= needed else usable, settled)
        if len(usable) < needed:
            raise RefusalError(
                f"of '{select.said}', {len(usable)} can be used, but {needed} must be. "
                f'{self.lessons.reasons(select.names)}'
            )
        return usable[:needed]

    def ranked(self, names: Sequence[str], settled: Sequence[str] = ()) -> list[str]:
        """Sort objects: held, in place, asked for, within reach for certain, the others."""
        groups = ([self.held], settled, self.lessons.preferred, self.lessons.moved)

        def rank(name: str) -> int:
            return next((i for i, group in enumerate(groups) if name in group), len(groups))

        return sorted(dict.fromkeys(names), key=rank)

    # --- steps ------------------------------------------------------------------------------

    def pick(self, name: str, away: Sequence[Rectangle] = ()) -> None:
        """Take an object, after putting aside what is in the hand or on top of it."""
        if self.held == name:
            return
        if name in self.lessons.bad_things:
            raise RefusalError(f'{name} is in the way. {self.lessons.bad_things[name]}')
        if self.held is not None:
            self.put_aside(away)
        top = self.on_top_of(name)
        for other in (*([top] if top else ()), *self.lessons.cramped.get(name, ())):
            may_leave = other not in self.lessons.bad_things
            if other == top or (may_leave and self._gap(name, other) < BESIDE_M):
                self.pick(other, away)
                self.put_aside(away)
        self.steps.append(f'pick {name}')
        self.held = name
        self._lift(name)

    def put_aside(self, away: Sequence[Rectangle] = ()) -> None:
        """Put what is held where it is least in the way."""
        cells = self.free_cells(away=away)
        if not cells:
            raise RefusalError(f'There is no free place to put {self.held} aside.')
        self.place(cells[0])

    def place(self, cell: Place) -> None:
        """Put what is held at a place on the table."""
        location = self.things.get(cell.key)
        height = self._held().height / 2
        if location is None:
            self._put(f'at {cell.key} {height:.3f}', (cell.x, cell.y, height))
        else:
            base = location.at[2] if location.at else 0.0
            self._put(f'on {cell.key}', (cell.x, cell.y, base + height), cell.key)

    def place_on(self, base: str) -> None:
        """Put what is held on top of an object."""
        thing, below = self._held(), self.things[base]
        at = below.at and (*below.at[:2], below.at[2] + (below.height + thing.height) / 2)
        self._put(f'on {base}', at, base)

    def place_at_pose(self, pose: str) -> None:
        """Put what is held at a pose that the task gives in numbers."""
        x, y, z = map(float, pose.split()[:3])
        self._put(f'at {pose}', (x, y, z))

    def _held(self) -> TableObject:
        assert self.held is not None  # steps that place come after steps that pick
        return self.things[self.held]

    def _put(
        self, where: str, at: tuple[float, float, float] | None, below: str | None = None
    ) -> None:
        thing = self._held()
        self.steps.append(f'place {thing.name} {where}')
        self.things[thing.name] = replace(thing, at=at)
        if below is not None:
            self._on[thing.name] = below
        self.held = None

    def _gap(self, one: str, other: str) -> float:
        a, b = self.things[one].at, self.things[other].at
        return math.dist(a[:2], b[:2]) if a and b else math.inf

    def _lift(self, name: str) -> None:
        self._on.pop(name, None)
        self.things[name] = replace(self.things[name], at=None)


def pose_of(pose: str) -> Place:
    """Return a pose of numbers as a place."""
    x, y = map(float, pose.split()[:2])
    return pose_cell(x, y)
