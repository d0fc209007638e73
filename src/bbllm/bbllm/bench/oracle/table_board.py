"""An imagined table: where objects will be after the steps so far, and what feedback ruled out."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from bbllm.bench.oracle.instruction import names_in, read_instruction
from bbllm.bench.oracle.table_goals import (
    RefusalError,
    Select,
    Side,
    TableGoal,
    TableObject,
    objects_of,
)
from bbllm.bench.oracle.table_layout import Place, Rectangle, cell_of, pose_patterns
from bbllm.core.protocols import PromptRequest, StepFailure
from bbllm.core.types import Scene

FREE_M = 0.07
"""How far a free pose is from everything else [m]."""
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
_FAR = 'out_of_workspace'
_HOPELESS = {_FAR, 'would_not_rise', 'fixed_or_heavy', 'failed_grasp_twice'}


class Lessons:
    """What an episode has shown so far: failures, human feedback, and beliefs."""

    def __init__(self, request: PromptRequest, scene: Scene):
        self.bad_things: dict[str, str] = {}
        """Objects that cannot be picked, and the sentence that said so."""
        self.bad_places: dict[str, str] = {}
        """Places, names or `x y` of a pose, where nothing can be put, and why."""
        self.taken: set[str] = set()
        """Places that were found occupied."""
        self.cramped: dict[str, tuple[str, ...]] = {}
        """Objects that could not be picked for what is beside them, and what that is."""
        self.done = Counter(request.plan[: request.start])
        """Texts of the steps that were carried out."""
        self.moved = {text.split()[1] for text in self.done if text.startswith('place ')}
        """Objects that the robot has placed, so that they are within reach."""
        self.preferred: list[str] = []
        """Objects and places that a person asked for."""
        self.wishes: list[TableGoal] = []
        """What a person asked for beyond the task."""
        self.notes: list[str] = []
        """What was not understood."""
        self._things = objects_of(scene)
        self._tries: Counter[str] = Counter()
        for fact in scene.facts:
            if fact.estimated and fact.predicate == 'is' and fact.object in _HOPELESS:
                why = f'It is believed that {fact}.'
                self.bad_things.setdefault(fact.subject, why)
                if fact.object == _FAR:
                    self.bad_places.setdefault(fact.subject, why)
        for failure in request.failures:
            if failure.tried:
                self._learn_failure(failure)
            for said in failure.human:
                self._learn_wish(said, scene.held)

    def reasons(self, names: Sequence[str]) -> str:
        """Return what ruled out some of these objects or places."""
        bad = {**self.bad_places, **self.bad_things}
        return ' '.join(dict.fromkeys(bad[name] for name in names if name in bad))

    def _learn_failure(self, failure: StepFailure) -> None:
        step, cause = failure.step, failure.cause
        self._tries[step] += 1
        again = self._tries[step] >= _TRIES
        final = again or _FINAL.search(cause) is not None
        verb, _, rest = step.partition(' ')
        beside = tuple(
            name
            for name, thing in self._things.items()
            if thing.movable and name != rest and re.search(rf'\b{name}\b', cause)
        )
        if verb == 'pick' and beside and not again:
            self.cramped[rest] = beside
        elif verb == 'pick' and final:
            self.bad_things.setdefault(rest, cause)
        elif verb == 'place':
            found = re.match(r'place \S+ (?:on|at) (.*)$', step)
            place = ' '.join((found[1] if found else step.split()[-1]).split()[:2])
            taken = _TAKEN.search(cause) is not None
            if taken:
                self.taken.add(place)
            if again or (final and not taken):
                self.bad_places.setdefault(place, cause)

    def _learn_wish(self, text: str, held: str | None) -> None:
        """Take in `not location_B`, `use aqua_cube instead of the red one` or a new task."""
        understood = said_no = False
        for clause in re.split(
            r'[,.;!]|\bbut\b|\band (?=not|never|do not|avoid|use)', text.lower()
        ):
            wanted, instead, unwanted = clause.partition('instead of')
            negative = _NEGATIVE.search(clause)
            goes_on = said_no and re.match(r'\s*(?:or|nor|and)\b', clause)
            said_no = not instead and bool(negative or goes_on)
            bad: list[str] = []
            good: list[str] = []
            if instead:
                bad, good = names_in(unwanted, self._things), names_in(wanted, self._things)
            elif said_no:
                bad = names_in(clause[negative.end() if negative else 0 :], self._things)
            elif re.match(r'\s*(please\s+)?(use|take|prefer|try)\b', clause):
                good = names_in(clause, self._things)
            understood = understood or bool(bad or good)
            for name in bad:
                self.bad_things.setdefault(name, f'a person said: {text}')
                self.bad_places.setdefault(name, f'a person said: {text}')
            self.preferred += good
        if not understood:
            try:
                self.wishes += read_instruction(text, self._things, held)
            except RefusalError:
                self.notes.append(text)


class Board:
    """Objects, the hand, and the steps so far."""

    def __init__(self, scene: Scene, lessons: Lessons):
        self.things = objects_of(scene)
        self.held = scene.held
        self.lessons = lessons
        self.steps: list[str] = []
        self.used: set[str] = set()
        """Objects that an earlier goal has given a place."""
        self.away: list[Rectangle] = []
        """Where nothing is put aside, with some room around."""
        self.locations = [thing for thing in self.things.values() if thing.kind == 'location']
        """The named places, in the scene's order."""
        self._on = {f.subject: f.object for f in scene.facts if f.predicate in ('on', 'in')}
        if self.held is not None:
            self._lift(self.held)

    # --- what is there ----------------------------------------------------------------------

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
        """
        named = [
            cell
            for cell in map(cell_of, self.locations)
            if self.has_room(cell, locations=False, within=TIGHT_M)
        ]
        poses = [cell for (cell,) in pose_patterns([(0, 0)], side)]
        roomy = [cell for cell in poses if self.has_room(cell)]
        crowded = [cell for cell in poses if self.has_room(cell, locations=False)]
        found: list[Place] = []
        for cells in (named, roomy, crowded):
            fit = [
                cell
                for cell in cells
                if cell.on_side(side)
                and self.free(cell)
                and all(box.gap(cell.x, cell.y) >= box.room + SLACK_M for box in away)
            ]
            if cells is not named or side is None:
                fit.sort(key=lambda cell: Rectangle.around([cell]).off_middle)
            found += fit
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

    def choose(self, selects: Sequence[Select], settled: Sequence[str] = ()) -> list[str]:
        """
        Return the objects that are meant: those in place first, none that feedback ruled out.

        Raises:
            RefusalError: Too few are left, with the reason.
        """
        chosen: list[str] = []
        ruled_out = {*self.lessons.bad_things} - {*settled, self.held}
        for select in selects:
            usable = [name for name in select.names if name not in ruled_out]
            if select.count is None and (usable or not select.names):
                chosen += self.ranked(usable, settled)
                continue
            needed = select.count or 1
            fresh = [name for name in usable if name not in self.used]
            usable = self.ranked(fresh if len(fresh) >= needed else usable, settled)
            if len(usable) < needed:
                raise RefusalError(
                    f"of '{select.said}', {len(usable)} can be used, but {needed} must be. "
                    f'{self.lessons.reasons(select.names)}'
                )
            chosen += usable[:needed]
        return list(dict.fromkeys(chosen))

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
        if top is not None:
            self.clear_away(top, away)
        for other in self.lessons.cramped.get(name, ()):
            a, b = self.things[name].at, self.things[other].at
            beside = a and b and math.dist(a[:2], b[:2]) < BESIDE_M
            if beside and other not in self.lessons.bad_things:
                self.clear_away(other, away)
        self.steps.append(f'pick {name}')
        self.held = name
        self._lift(name)

    def clear_away(self, name: str, away: Sequence[Rectangle] = ()) -> None:
        """Take an object, and put it aside."""
        self.pick(name, away)
        self.put_aside(away)

    def put_aside(self, away: Sequence[Rectangle] = ()) -> None:
        """Put what is held where it is least in the way."""
        cells = self.free_cells(away=[*away, *self.away])
        if not cells:
            raise RefusalError(f'There is no free place to put {self.held} aside.')
        self.place(cells[0])

    def place(self, cell: Place) -> None:
        """Put what is held at a place on the table."""
        location, half = self.things.get(cell.key), self._held().height / 2
        if location is not None:
            base = location.at[2] if location.at else 0.0
            self._put(f'on {cell.key}', (cell.x, cell.y, base + half), cell.key)
        else:
            self._put(f'at {cell.pose or f"{cell.key} {half:.3f}"}', (cell.x, cell.y, half))

    def place_on(self, base: str) -> None:
        """Put what is held on top of an object."""
        thing, below = self._held(), self.things[base]
        at = below.at and (*below.at[:2], below.at[2] + (below.height + thing.height) / 2)
        self._put(f'on {base}', at, base)

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

    def _lift(self, name: str) -> None:
        self._on.pop(name, None)
        self.things[name] = replace(self.things[name], at=None)
