"""
Shortest plans: A* over the states of a problem, and shorter parts for a plan that is given.

A state is a whole number with a bit for each atom. How many picks are left at least is counted by
object. An object has to be picked where no way to the goal does without that, even if nothing were
ever undone: causal landmarks, by labels that are passed from preconditions to effects (Zhu and
Givan, ICAPS 2003 doctoral consortium; Keyder, Richter and Helmert, ECAI 2010). It has to be picked
twice where it is picked before another object and has to stand on that one, or higher, at the end:
it leaves before the other one is picked, and comes back after. No plan has fewer picks, so that
what A* finds is a shortest plan of the problem. It gives up after a number of states, which does
not depend on the machine.
"""

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bbllm_planners.pddl.formulas import (
    TRUE,
    Action,
    And,
    Atom,
    Formula,
    Not,
    Or,
    Problem,
    all_of,
    atoms_of,
    conjuncts,
    is_so,
    negation,
)

MOST_STATES = 300_000
"""So many states are looked at before a search gives up."""
MOST_STATES_OF_PART = 10_000
TOGETHER = 200
"""So many states are looked at together: bounds of many are found in about the time of one."""
PARTS = (12, 6)
"""So many moves at a time are shortened where the whole is too large."""

_UNREACHED = np.uint64(2**64 - 1)
_MOST_OBJECTS = 63
"""Objects beyond that are not counted: the highest bit marks what cannot be reached."""
_MOST_COLUMNS = 60
"""Lists are reduced together up to this length, longer ones each by itself: that is faster."""

Labels = NDArray[np.uint64]


class TooLargeError(Exception):
    """The search gave up."""


def shortest(problem: Problem, most_states: int | None = None) -> Sequence[Action] | None:
    """Return a plan of the least cost, None if there is no plan; may raise TooLargeError."""
    return _Search(problem, MOST_STATES if most_states is None else most_states).run()


def unstacked(problem: Problem) -> Problem:
    """Return a problem without actions that put an object on another one on the way."""
    wanted = {*atoms_of(problem.goal)}
    names = {action.call[1] for action in problem.actions if action.cost}

    def stacks(action: Action) -> bool:
        made = (atom for atom in action.adds - wanted if atom.predicate == 'on')
        return any(atom.args[1] in names for atom in made)

    return replace(problem, actions=[a for a in problem.actions if not stacks(a)])


def fewest_picks(problem: Problem) -> int:
    """Return a number of picks that no plan can do without."""
    bound = _Search(problem, 0).bound()
    return 0 if bound is None else bound.picks


def shortened(problem: Problem, plan: Sequence[Action]) -> Sequence[Action]:
    """Return a plan with parts replaced by shortest ones between the states at their ends."""
    for size in PARTS:
        moves, i = _moves(plan), 0
        while i < len(moves):
            part = _part(problem, moves, i, i + size)
            try:
                found = shortest(part, MOST_STATES_OF_PART)
            except TooLargeError:
                found = None
            if found is not None and _cost(found) < sum(map(_cost, moves[i : i + size])):
                moves[i : i + size] = _moves(found)
            else:
                i += size // 2
        changed = [*itertools.chain(*moves)]
        plan = changed if problem.is_solved_by(changed) else plan
    return plan


def _moves(plan: Sequence[Action]) -> list[list[Action]]:
    """Return a plan in moves: each begins with an action that costs something."""
    moves: list[list[Action]] = []
    for action in plan:
        if action.cost or not moves:
            moves.append([])
        moves[-1].append(action)
    return moves


def _part(problem: Problem, moves: Sequence[Sequence[Action]], first: int, end: int) -> Problem:
    so = problem.so
    for action in itertools.chain(*moves[:first]):
        so = action.after(so)
    if end >= len(moves):
        return replace(problem, so=so)
    then = so
    for action in itertools.chain(*moves[first:end]):
        then = action.after(then)
    return replace(problem, so=so, goal=all_of(sorted(then, key=str)))


def _cost(plan: Sequence[Action]) -> int:
    return sum(action.cost for action in plan)


# --- the search ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """An action as masks of bits."""

    action: Action
    needs: int
    never: int
    adds: int
    removes: int
    more: Formula

    def after(self, state: int) -> int:
        return (state & ~self.removes) | self.adds


@dataclass(frozen=True, slots=True)
class _Bound:
    """Objects that have to be picked, and to be picked twice, as masks."""

    once: int = 0
    twice: int = 0

    @property
    def picks(self) -> int:
        return self.once.bit_count() + self.twice.bit_count()

    def without(self, mask: int) -> int:
        """Return how many picks are left after one of the objects of a mask."""
        return self.picks - (self.once & mask > 0)


@dataclass(frozen=True, slots=True)
class _Atoms:
    """A state as a container of atoms."""

    state: int
    bits: Mapping[Atom, int]

    def __contains__(self, atom: object) -> bool:
        return bool(self.state & self.bits[atom])  # type: ignore[index]


class _Search:
    def __init__(self, problem: Problem, most_states: int):
        self._problem, self._most = problem, most_states
        atoms = {*problem.so, *atoms_of(problem.goal)}
        for action in problem.actions:
            atoms |= action.needs | action.never | action.adds | action.removes
            atoms |= {*atoms_of(problem.learned.get(action, TRUE))}
        self._bits = {atom: 1 << i for i, atom in enumerate(sorted(atoms, key=str))}
        self._steps: dict[int, list[_Step]] = {}
        """By what the hand has to be, so that few are looked at."""
        for action in problem.actions:
            hand = {atom for atom in action.needs if atom.predicate in ('handempty', 'holding')}
            self._steps.setdefault(self._mask(hand), []).append(self._step(action))
        self._start = self._mask(problem.so)
        self._relaxed = _Relaxed(problem, self._bits)
        self._bounds: dict[int, _Bound | None] = {}
        self._cost = {self._start: 0}
        self._came: dict[int, tuple[int, _Step]] = {}
        self._order = itertools.count()
        self._queue = [(0, 0, 0, 0, self._start)]

    def bound(self) -> _Bound | None:
        """Return the bound of the start."""
        return self._relaxed.bounds([self._start])[self._start]

    def run(self) -> Sequence[Action] | None:
        """Return a shortest plan."""
        cost, came = self._cost, self._came
        while self._queue:
            if len(cost) > self._most:
                raise TooLargeError
            total = self._queue[0][0]
            states = [*self._next(total)]
            self._bounds |= self._relaxed.bounds([s for s in states if s not in self._bounds])
            fresh: list[int] = []
            for state in states:
                bound = self._bounds[state]
                if bound is None:
                    continue
                if cost[state] + bound.picks > total:  # it was not known when it was queued
                    self._enqueue(state, cost[state] + bound.picks)
                    continue
                if not bound.picks and is_so(self._problem.goal, _Atoms(state, self._bits)):
                    return self._way(state)
                for step in self._possible(state):
                    after, spent = step.after(state), cost[state] + step.action.cost
                    if spent >= cost.get(after, spent + 1):
                        continue
                    cost[after], came[after] = spent, (state, step)
                    picked = self._relaxed.object_of(step.action)
                    at_least = max(total, spent + bound.without(picked))
                    self._enqueue(after, at_least)
                    if at_least == total and after not in self._bounds:
                        fresh.append(after)
            self._bounds |= self._relaxed.bounds([*dict.fromkeys(fresh)])
        return None

    def _enqueue(self, state: int, at_least: int) -> None:
        spent = self._cost[state]
        entry = (at_least, -spent, next(self._order), spent, state)
        heapq.heappush(self._queue, entry)

    def _next(self, total: int) -> Iterator[int]:
        """Yield some of the states that a plan of a cost may pass, those nearest to its end."""
        for _ in range(TOGETHER):
            if not self._queue or self._queue[0][0] > total:
                return
            *_, spent, state = heapq.heappop(self._queue)
            if spent == self._cost[state]:  # no shorter way was found since
                yield state

    def _possible(self, state: int) -> Iterator[_Step]:
        for hand, steps in self._steps.items():
            if hand & ~state:
                continue
            for step in steps:
                if step.needs & ~state or step.never & state:
                    continue
                if step.more == TRUE or is_so(step.more, _Atoms(state, self._bits)):
                    yield step

    def _way(self, state: int) -> Sequence[Action]:
        steps = []
        while state != self._start:
            state, step = self._came[state]
            steps.append(step.action)
        return steps[::-1]

    def _step(self, action: Action) -> _Step:
        return _Step(
            action,
            needs=self._mask(action.needs),
            never=self._mask(action.never),
            adds=self._mask(action.adds),
            removes=self._mask(action.removes),
            more=self._problem.learned.get(action, TRUE),
        )

    def _mask(self, atoms: Set[Atom]) -> int:
        return sum(self._bits[atom] for atom in atoms)


class _Relaxed:
    """
    Lower bounds, from a problem in which nothing is ever undone.

    A row for each atom, then one for the opposite of each, then one for what is always so; a
    column for each state.
    """

    def __init__(self, problem: Problem, bits: Mapping[Atom, int]):
        self._goal = problem.goal
        self._row = {atom: i for i, atom in enumerate(bits)}
        self._size = (len(bits) + 7) // 8
        picks = [action for action in problem.actions if action.cost]
        names = sorted({action.call[1] for action in picks})[:_MOST_OBJECTS]
        self._mask = {name: 1 << i for i, name in enumerate(names)}
        held = {name: self._row.get(Atom('holding', (name,))) for name in names}
        self._picked = {self._mask[name]: row for name, row in held.items() if row is not None}
        self._above = dict(self._higher(problem.goal))
        n = len(bits)
        needs = [
            [*map(self._row.__getitem__, a.needs), *(n + self._row[b] for b in a.never), 2 * n]
            for a in problem.actions
        ]
        order = sorted(range(len(needs)), key=lambda i: -len(needs[i]))
        by: dict[int, list[int]] = {}
        for i, action in enumerate(problem.actions[i] for i in order):
            made = [self._row[atom] for atom in action.adds]
            for row in (*made, *(n + self._row[atom] for atom in action.removes - action.adds)):
                by.setdefault(row, []).append(i)
        self._made = np.array(sorted(by, key=lambda row: -len(by[row])), dtype=np.intp)
        self._needs = _Lists([needs[i] for i in order])
        self._by = _Lists([by[row] for row in self._made.tolist()])
        masks = [self.object_of(problem.actions[i]) for i in order]
        self._objects = np.array(masks, dtype=np.uint64)[:, None]

    def object_of(self, action: Action) -> int:
        """Return the mask of the object that an action picks, 0 where it picks none."""
        return self._mask.get(action.call[1], 0) if action.cost else 0

    def bounds(self, states: Sequence[int]) -> dict[int, _Bound | None]:
        """Return a bound for each state, None where the goal cannot be reached."""
        if not states:
            return {}
        labels = self._labels(states)
        once = self._label(self._goal, labels)
        twice = np.zeros_like(once)
        for mask, above in self._above.items():
            picked_before = labels[self._picked[mask]] & np.uint64(above)
            twice |= np.where(once & np.uint64(mask), picked_before, np.uint64(0))
        twice &= once
        return {
            state: None if a == int(_UNREACHED) else _Bound(a, b)
            for state, a, b in zip(states, once.tolist(), twice.tolist(), strict=True)
        }

    def _labels(self, states: Sequence[int]) -> Labels:
        """Return for each atom the objects without whose pick it cannot come true."""
        n = len(self._row)
        octets = b''.join(state.to_bytes(self._size, 'little') for state in states)
        rows = np.frombuffer(octets, np.uint8).reshape(len(states), self._size)
        so = np.unpackbits(rows, axis=1, bitorder='little')[:, :n].T.astype(bool)
        always = np.ones((1, len(states)), dtype=bool)
        labels = np.where(np.concatenate([so, ~so, always]), np.uint64(0), _UNREACHED)
        while self._made.size:
            reached = self._needs.reduced(np.bitwise_or, labels) | self._objects
            before = labels[self._made]
            now = before & self._by.reduced(np.bitwise_and, reached)
            if np.array_equal(now, before):
                break
            labels[self._made] = now
        return labels

    def _label(self, formula: Formula, labels: Labels) -> Labels:
        found: Labels
        match formula:
            case And(parts):
                found = np.zeros_like(labels[0])
                for part in parts:
                    found |= self._label(part, labels)
            case Or(parts):
                found = np.full_like(labels[0], _UNREACHED)
                for part in parts:
                    found &= self._label(part, labels)
            case Not(And(parts)):
                found = self._label(Or((*map(negation, parts),)), labels)
            case Not(Or(parts)):
                found = self._label(And((*map(negation, parts),)), labels)
            case Not(Atom() as atom):
                found = labels[len(self._row) + self._row[atom]]
            case Not(Not(part)):
                found = self._label(part, labels)
            case Atom():
                found = labels[self._row[formula]]
        return found

    def _higher(self, goal: Formula) -> Iterator[tuple[int, int]]:
        """Yield an object, and those that stand on it, or higher, at the end, as masks."""
        on = [part.args for part in conjuncts(goal) if isinstance(part, Atom)]
        pairs = [[self._mask.get(name, 0) for name in args] for args in on if len(args) == 2]
        higher = {below: above for above, below in pairs if above and below in self._picked}
        for below in higher:
            mask, above = 0, below
            while above in higher and not mask & higher[above]:
                above = higher[above]
                mask |= above
            yield below, mask


class _Lists:
    """Numbers of rows that are reduced together, the longest list first."""

    def __init__(self, lists: Sequence[Sequence[int]]):
        self._long = [np.array(rows) for rows in lists if len(rows) > _MOST_COLUMNS]
        short = lists[len(self._long) :]
        widths = range(max(map(len, short), default=0))
        self._columns = [np.array([rows[i] for rows in short if len(rows) > i]) for i in widths]

    def reduced(self, joined: np.ufunc, values: Labels) -> Labels:
        """Return a row for each list."""
        long = [joined.reduce(values[rows], axis=0) for rows in self._long]
        short: Labels = values[self._columns[0]] if self._columns else values[:0]
        for rows in self._columns[1:]:
            part = short[: len(rows)]
            joined(part, values[rows], out=part)
        found: Labels = np.vstack([*long, short]) if long else short
        return found
