"""Formulas and problems of PDDL, and their text."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate of some names, such as `at red_cube location_A`."""

    predicate: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ' '.join((self.predicate, *self.args))


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    part: 'Formula'


@dataclass(frozen=True, slots=True)
class And:
    """All of some parts; true without any."""

    parts: tuple['Formula', ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One or more of some parts; false without any."""

    parts: tuple['Formula', ...]


Formula = Atom | Not | And | Or
TRUE, FALSE = And(()), Or(())


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return a conjunction without what is true, FALSE where a part is."""
    kept = tuple(dict.fromkeys(part for part in parts if part != TRUE))
    if FALSE in kept:
        return FALSE
    return kept[0] if len(kept) == 1 else And(kept)


def any_of(parts: Iterable[Formula]) -> Formula:
    """Return a disjunction without what is false, TRUE where a part is."""
    kept = tuple(dict.fromkeys(part for part in parts if part != FALSE))
    if TRUE in kept:
        return TRUE
    return kept[0] if len(kept) == 1 else Or(kept)


def negation(part: Formula) -> Formula:
    if isinstance(part, Not):
        return part.part
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    return Not(part)


def is_so(formula: Formula, so: Container[Atom]) -> bool:
    """Return whether a formula is true where some atoms are."""
    match formula:
        case Not(part):
            return not is_so(part, so)
        case And(parts):
            return all(is_so(part, so) for part in parts)
        case Or(parts):
            return any(is_so(part, so) for part in parts)
        case _:
            return formula in so


def atoms_of(formula: Formula) -> Iterator[Atom]:
    """Yield the atoms of a formula."""
    match formula:
        case Not(part):
            yield from atoms_of(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms_of(part)
        case _:
            yield formula


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """Yield the parts of a formula that all have to be so."""
    if not isinstance(formula, And):
        yield formula
        return
    for part in formula.parts:
        yield from conjuncts(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One call in one situation, without parameters."""

    call: tuple[str, ...]
    """Skill and arguments."""
    needs: frozenset[Atom]
    never: frozenset[Atom] = frozenset()
    """What must not be so."""
    adds: frozenset[Atom]
    removes: frozenset[Atom]
    cost: int = 0

    def after(self, so: frozenset[Atom]) -> frozenset[Atom]:
        """Return what is so after it."""
        return (so - self.removes) | self.adds


@dataclass(frozen=True)
class Problem:
    """What a planner is given: actions, what is so, and what has to be."""

    actions: Sequence[Action]
    so: frozenset[Atom]
    goal: Formula
    learned: Mapping[Action, Formula] = field(default_factory=dict)
    """What else an action needs, as a plan that was checked has shown."""

    def is_solved_by(self, plan: Iterable[Action]) -> bool:
        """Return whether each action has what it needs at its turn, and the goal is met then."""
        so = self.so
        for action in plan:
            more = self.learned.get(action, TRUE)
            if not action.needs <= so or action.never & so or not is_so(more, so):
                return False
            so = action.after(so)
        return is_so(self.goal, so)

    def texts(self) -> tuple[str, str]:
        """Return domain and problem; action `aN` is number N."""
        words = _Words()
        actions = [self._action(i, words) for i in range(len(self.actions))]
        begins = ' '.join(words.of(atom) for atom in sorted(self.so, key=str))
        goal = words.of(self.goal)
        predicates = ' '.join(
            f'({name}{"".join(f" ?x{i}" for i in range(n))})'
            for name, n in sorted(words.predicates.items())
        )
        domain = [
            '(define (domain table)',
            '(:requirements :strips :negative-preconditions :disjunctive-preconditions '
            ':action-costs)',
            f'(:constants {" ".join(words.names.values())})',
            f'(:predicates {predicates})',
            '(:functions (total-cost) - number)',
            *actions,
            ')',
        ]
        problem = [
            '(define (problem task) (:domain table)',
            f'(:init (= (total-cost) 0) {begins})',
            f'(:goal {goal})',
            '(:metric minimize (total-cost)))',
        ]
        return '\n'.join(domain) + '\n', '\n'.join(problem) + '\n'

    def _action(self, i: int, words: '_Words') -> str:
        action = self.actions[i]
        needs = all_of([*_sorted(action.needs), *map(Not, _sorted(action.never))])
        if (more := self.learned.get(action)) is not None:
            needs = all_of([needs, more])
        effects = [words.of(Not(atom)) for atom in _sorted(action.removes - action.adds)]
        effects += [words.of(atom) for atom in _sorted(action.adds)]
        effects += [f'(increase (total-cost) {action.cost})'] if action.cost else []
        return (
            f'; {" ".join(action.call)}\n(:action a{i} :parameters ()\n :precondition '
            f'{words.of(needs)}\n :effect (and {" ".join(effects)}))'
        )


def _sorted(atoms: Iterable[Atom]) -> list[Atom]:
    return sorted(atoms, key=str)


class _Words:
    """Names as PDDL takes them: it has no capitals, and words of its own."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.predicates: dict[str, int] = {}

    def of(self, formula: Formula) -> str:
        return ' '.join(self._parts(formula))

    def _parts(self, formula: Formula) -> Iterator[str]:
        match formula:
            case Atom(predicate, args):
                self.predicates[predicate] = len(args)
                yield f'({" ".join([predicate, *map(self._name, args)])})'
            case Not(part):
                yield f'(not {self.of(part)})'
            case And(parts):
                yield f'(and {" ".join(map(self.of, parts))})'
            case Or(parts):
                yield f'(or {" ".join(map(self.of, parts))})'

    def _name(self, name: str) -> str:
        plain = ''.join(char if char.isascii() and char.isalnum() else '_' for char in name)
        return self.names.setdefault(name, f'x{len(self.names)}_{plain.lower()}')
