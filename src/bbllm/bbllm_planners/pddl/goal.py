"""
The goal that a model writes: conditions in the grammar of goals, and what always has to be so.

    reply  = line {newline line}
    line   = condition | always | "not checked:" words | "cannot:" words
           | "goal: withdraw" condition ":" words    a condition that the task does not ask for
    always = "always tallest(" number ")"            no tower of more objects, at any moment
           | "always only_on(" name {"|" name} ")"   things are put down on these alone

Conditions are those of `core.goals`, which the checks at the end of an episode read as well.
`compiled` makes them a formula of PDDL: it imagines the objects of a condition at each position
that the planner considers, asks the check of goals, and states the positions where that is met.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from bbllm import Kind, Scene, SceneObject, errors
from bbllm.planning import MOVABLE, refuse_if_impossible, withdrawals
from bbllm.tables import (
    ConditionKind,
    GoalCondition,
    Selection,
    TaskGoal,
    check_goal,
    parse_goal_reply,
)
from bbllm_planners.pddl.formulas import (
    FALSE,
    TRUE,
    Atom,
    Formula,
    Or,
    all_of,
    any_of,
    conjuncts,
    negation,
)
from bbllm_planners.pddl.grounding import EMPTY, Grounding, Wishes

K = ConditionKind
PAIRS = frozenset(
    {
        *(K.ON, K.IN, K.BESIDE, K.LEFT_OF, K.RIGHT_OF, K.NEARER, K.FARTHER),
        *(K.DISTANCE, K.GAP, K.AT_PLACE_OF),
    }
)
SINGLE = frozenset({K.AT, K.SIDE, K.HELD, K.MOVED, K.UNCHANGED, K.SHIFTED})
"""Kinds of one object; those of `PAIRS` relate it to another one."""
PLANNED = tuple(kind for kind in K if kind in (*PAIRS, *SINGLE, K.TOWER))
"""Kinds of conditions that the planner can plan for."""
MOST_COMBINATIONS = 300
"""In so many ways objects may be chosen from a condition such as `2 of a|b|c|d`."""
MAX_CHARACTERS = 8000
TALLEST = (1, 20)
FORMS = '`always tallest(4)` and `always only_on(location_A|location_B|cubes)`'

_ALWAYS = re.compile(r'[\s>*`-]*always\b\s*(.*)', re.IGNORECASE)
_FORM = re.compile(r'(tallest|only_on)\s*\(([^()]*)\)[\s.;`]*', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a model wrote."""

    goal: TaskGoal
    tallest: int | None = None
    only_on: frozenset[str] | None = None
    withdrawn: tuple[tuple[str, str], ...] = ()
    """Conditions that were read into the task and that it does not ask for, and why."""

    @property
    def wishes(self) -> Wishes:
        at = tuple(
            (name, condition.at_m)
            for condition in self.goal.conditions
            if condition.kind is K.AT and not condition.negated
            for name in condition.subjects[0].names
        )
        return Wishes(tuple(dict.fromkeys(at)), self.tallest, self.only_on)

    def __str__(self) -> str:
        always = [] if self.tallest is None else [f'always tallest({self.tallest})']
        if self.only_on is not None:
            always.append(f'always only_on({"|".join(sorted(self.only_on))})')
        return '\n'.join([*map(str, self.goal.conditions), *always])


def parse_reply(text: str, scene: Scene) -> Wanted:
    """
    Return what a model wants.

    Raises:
        ParseError: It cannot be read, or the planner has no plans for such conditions.
        GaveUpError: The reply has a line `cannot: `.
    """
    lines = text[:MAX_CHARACTERS].split('\n')
    refuse_if_impossible(lines)
    goals = [line for line in lines if any(withdrawals([line]))]
    lines = [line for line in lines if line not in goals]
    always = [found[1] for line in lines if (found := _ALWAYS.fullmatch(line))]
    goal = parse_goal_reply('\n'.join(x for x in lines if not _ALWAYS.fullmatch(x)), scene)
    if goal is None or not goal.conditions:
        raise errors.ParseError(
            'The reply has no condition that can be planned for. Write one a line, or the line '
            '`cannot: ` with the reason.'
        )
    for condition in goal.conditions:
        _check_kind(condition)
    wanted = Wanted(goal, withdrawn=tuple(withdrawals(goals)))
    for part in always:
        wanted = _with_always(wanted, part, scene)
    return wanted


def _check_kind(condition: GoalCondition) -> None:
    if condition.kind in PLANNED and not condition.once:
        return
    what = 'once' if condition.once else condition.kind.value
    kinds = ', '.join(kind.value for kind in PLANNED)
    raise errors.ParseError(
        f'`{condition}` cannot be planned for, since the planner has no positions for `{what}`. '
        f'It plans for {kinds}; state with at(a, x y) or on(a, b) where each object has to be.'
    )


def _with_always(wanted: Wanted, part: str, scene: Scene) -> Wanted:
    found = _FORM.fullmatch(part)
    if found is None:
        raise errors.ParseError(f'`always {part[:80]}` cannot be read; there are {FORMS}.')
    if found[1].lower() == 'tallest':
        number = found[2].strip()
        if not number.isdigit() or not TALLEST[0] <= int(number[:3]) <= TALLEST[1]:
            raise errors.ParseError(
                f'tallest takes a number from {TALLEST[0]} to {TALLEST[1]}, not {number[:40]!r}.'
            )
        return replace(wanted, tallest=int(number))
    names: set[str] = set()
    for word in filter(None, map(str.strip, found[2].split('|'))):
        names |= _meant(word, scene)
    if not names:
        raise errors.ParseError(f'only_on needs a name; there are {FORMS}.')
    return replace(wanted, only_on=frozenset(names))


def _meant(word: str, scene: Scene) -> set[str]:
    """Return the objects of a name, or of a kind such as `cubes`."""
    kinds = {item.kind.value for item in scene.objects}
    if word.lower().removesuffix('s') in kinds:
        kind = word.lower().removesuffix('s')
        return {item.name for item in scene.objects if item.kind.value == kind}
    if word not in scene.names:
        raise errors.ParseError(str(errors.UnknownNameError('object', word, scene.names)))
    return {word}


# --- as a formula -------------------------------------------------------------------------------


class NoPositionError(Exception):
    """A condition that no position which the planner considers meets; the text is a sentence."""


def compiled(wanted: Wanted, table: Grounding, scene: Scene, start: Scene) -> Formula:
    """
    Return the goal as a formula; raises NoPositionError where a condition cannot be met.

    Conditions whose objects are to be chosen (`x=a|b`) are a disjunction over all choices.
    """
    compiler = _Compiler(table, scene, start)
    ways: list[Formula] = []
    fault = ''
    for _, conditions in itertools.islice(wanted.goal.choices(), MOST_COMBINATIONS):
        parts = [(condition, compiler.condition(condition)) for condition in conditions]
        if bad := next((str(c) for c, formula in parts if formula == FALSE), ''):
            fault = fault or bad
            continue
        ways.append(all_of(formula for _, formula in parts))
    if not ways:
        raise NoPositionError(
            f'no position that the planner considers meets `{fault}`: objects where they are, at '
            'locations, in containers, on each other, or at a few free spots; at(a, x y) names '
            'another one'
        )
    hands = [] if wanted.goal.to_hold else [EMPTY]
    return settled(all_of([any_of(ways), *hands]), table.so)


def settled(goal: Formula, so: Set[Atom]) -> Formula:
    """Leave out the ways that have an object elsewhere than it has to be at any rate."""
    while True:
        certain = _with_what_is_below(conjuncts(goal), so)
        left = all_of(
            any_of(
                way
                for way in part.parts
                if not any(
                    _elsewhere(a, b, so)
                    for a in _with_what_is_below(conjuncts(way), so)
                    for b in certain
                )
            )
            if isinstance(part, Or)
            else part
            for part in conjuncts(goal)
        )
        if left == goal:
            return goal
        goal = left


def _with_what_is_below(parts: Iterable[Formula], so: Set[Atom]) -> Sequence[Formula]:
    """Add to objects that are where they are now what they stand on, which is then there too."""
    found = [*parts]
    for part in found:
        if isinstance(part, Atom) and part.predicate == 'at' and part in so:
            below = {atom.args[1] for atom in so if atom.predicate == 'on' and _same(atom, part)}
            found += (a for a in so if a.predicate == 'at' and a.args[0] in below)
    return found


def _elsewhere(a: Formula, b: Formula, so: Set[Atom]) -> bool:
    """Return whether two atoms have one object at two positions, other than those it has now."""
    if not isinstance(a, Atom) or not isinstance(b, Atom) or a == b or {a, b} <= so:
        return False
    return {a.predicate, b.predicate} <= {'at', 'on'} and _same(a, b)


def _same(a: Atom, b: Atom) -> bool:
    return a.args[0] == b.args[0]


class _Compiler:
    """Conditions as formulas, by the check of goals."""

    def __init__(self, table: Grounding, scene: Scene, start: Scene):
        self._table, self._scene, self._start = table, scene, start
        self._static = [item for item in scene.objects if item.kind not in (*MOVABLE, Kind.HAND)]

    def condition(self, condition: GoalCondition) -> Formula:
        if condition.kind is K.TOWER:
            formula = any_of(self._towers(condition))
            return negation(formula) if condition.negated else formula
        subject = condition.subjects[0]
        each = [self._single(condition, name) for name in subject.names]
        if condition.negated:
            return all_of(map(negation, each))
        if subject.count == len(subject.names):
            return all_of(each)
        if subject.count == 1 and not subject.exact:
            return any_of(each)
        chosen = itertools.combinations(range(len(each)), subject.count)
        ways: list[Formula] = []
        for some in itertools.islice(chosen, MOST_COMBINATIONS):
            others = [i for i in range(len(each)) if i not in some] if subject.exact else []
            ways.append(all_of([*(each[i] for i in some), *(negation(each[i]) for i in others)]))
        return any_of(ways)

    def _towers(self, condition: GoalCondition) -> Iterator[Formula]:
        """Yield a chain for each order of a tower; in one part, its objects may be in any."""
        pools = [itertools.permutations(item.names, item.count) for item in condition.subjects]
        orders = itertools.product(*pools)
        for parts in itertools.islice(orders, MOST_COMBINATIONS):
            names = [name for part in parts for name in part]
            chain: list[Formula] = [
                Atom('on', (above, below)) for below, above in itertools.pairwise(names)
            ]
            stands = any_of(Atom('at', (names[0], spot)) for spot in self._spots_of(names[0]))
            yield all_of([stands, *chain, Atom('clear', (names[-1],))])

    def _spots_of(self, name: str) -> list[str]:
        home = self._table.home[name]
        spots = [s.name for s in self._table.spots if (name, s.name) in self._table.resting]
        on_object = any(
            atom.predicate == 'on' and atom.args[0] == name and atom.args[1] in self._table.home
            for atom in self._table.so
        )
        return spots if on_object else list(dict.fromkeys([home, *spots]))

    def _single(self, condition: GoalCondition, name: str) -> Formula:
        """Return where one object has to be, as the check of goals has it."""
        alone = replace(condition, subjects=(Selection((name,), 1, name),), negated=False)
        if condition.kind is K.HELD:
            return Atom('holding', (name,))
        places = () if condition.place is None else condition.place.names
        if condition.kind not in PAIRS or not places:
            return self._where(alone, name)
        others = [other for other in places if other != name]
        each = [
            self._related(replace(alone, place=Selection((o,), 1, o)), name, o) for o in others
        ]
        assert condition.place is not None  # it has places
        count = condition.place.count
        if count <= 1:
            return any_of(each)
        if count >= len(each):
            return all_of(each)
        return any_of(map(all_of, itertools.combinations(each, count)))

    def _where(self, condition: GoalCondition, name: str) -> Formula:
        """Return the positions of an object at which a condition on it alone is met."""
        return any_of(
            formula
            for formula, item in self._positions(name, stacked=True)
            if self._meets(condition, item)
        )

    def _related(self, condition: GoalCondition, name: str, other: str) -> Formula:
        movable = other in self._table.home
        if not movable or condition.kind is K.AT_PLACE_OF:
            return self._where(condition, name)
        ways: list[Formula] = []
        for formula, item in self._positions(name):
            for there, second in self._positions(other):
                if self._meets(condition, item, second):
                    ways.append(all_of([formula, there]))
        lies, below = self._table.stacked.get((name, other)), None
        if lies is not None:
            below = self._table.lying(self._scene.object(other))
        if lies is not None and below is not None and self._meets(condition, lies, below):
            ways.append(Atom('on', (name, other)))
        on = Atom('on', (name, other))
        if on in self._table.so and self._meets(
            condition, self._scene.object(name), self._scene.object(other)
        ):
            ways.append(on)
        return any_of(ways)

    def _positions(
        self, name: str, *, stacked: bool = False
    ) -> Iterator[tuple[Formula, SceneObject]]:
        """Yield where an object may be, as a formula and as it stands there."""
        table = self._table
        if name not in table.home:
            yield TRUE, self._scene.object(name)
            return
        home = table.home[name]
        if name != self._scene.held:
            yield Atom('at', (name, home)), self._scene.object(name)
        for spot in table.spots:
            found = table.resting.get((name, spot.name))
            if found is not None and spot.name != home:
                yield Atom('at', (name, spot.name)), found[0]
        for other in table.movable if stacked else ():
            lies = table.stacked.get((name, other.name))
            if lies is not None:
                there = Atom('at', (other.name, table.home[other.name]))
                yield all_of([Atom('on', (name, other.name)), there]), lies

    def _meets(self, condition: GoalCondition, *items: SceneObject) -> bool:
        names = {item.name for item in items}
        others = [item for item in self._static if item.name not in names]
        scene = replace(self._scene, objects=(*others, *items), facts=())
        try:
            return check_goal(TaskGoal((condition,)), scene, self._start).met
        except errors.NoGoalError:
            return False
