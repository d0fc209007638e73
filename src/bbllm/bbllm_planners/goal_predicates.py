"""
Goals as predicates with counts: `on_milk_kitchentable: 3, closed_microwave: 1`.

    goal      = predicate {"," predicate} [","]
    predicate = ("on" | "inside") "_" thing "_" place ":" count
              | ("closed" | "open" | "turnon" | "turnoff" | "holds" | "sit") "_" thing ":" count

Source: Zhang et al., FLTRNN, and the goals of VirtualHome that it plans for. At least `count`
objects of the class `thing` must satisfy a predicate, with any place of the class `place`. A class
may contain `_`, so the classes of the scene decide where a thing ends and its place begins.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TypeVar

from bbllm import EpisodeContext, Kind, Scene, Task, errors
from bbllm.planning import CHARACTER, class_of, classes, language_of, reached

Item = TypeVar('Item')

MAX_COUNT = 100
"""More objects of a class than any house has."""
MAX_PREDICATES = 60
"""Longer goals are mistakes."""


class GoalRelation(StrEnum):
    """The relation of a predicate."""

    ON = 'on'
    INSIDE = 'inside'
    CLOSED = 'closed'
    OPEN = 'open'
    TURNON = 'turnon'
    TURNOFF = 'turnoff'
    HOLDS = 'holds'
    SIT = 'sit'
    """The character sits on such an object."""


PLACING = frozenset({GoalRelation.ON, GoalRelation.INSIDE})
"""Relations that have a place."""
STATE_OF: Mapping[GoalRelation, str] = {
    GoalRelation.CLOSED: 'closed',
    GoalRelation.OPEN: 'open',
    GoalRelation.TURNON: 'on',
    GoalRelation.TURNOFF: 'off',
}
"""The state in scenes that a predicate requires."""
OPPOSED = ({GoalRelation.CLOSED, GoalRelation.OPEN}, {GoalRelation.TURNON, GoalRelation.TURNOFF})
"""Relations that exclude each other."""
AT_ONCE = ((GoalRelation.HOLDS, 'hold', 2), (GoalRelation.SIT, 'sit on', 1))
"""Relations that a person can have with some objects at once, and with how many."""
FORM = '`on_milk_kitchentable: 3` or `closed_microwave: 1`, with commas between them'

_PREDICATE = re.compile(
    rf'({"|".join(r.value for r in GoalRelation)})_(\w+)\s*:\s*([+-]?\d[\d.]*)'
)
_COUNT = re.compile(r'\d{1,6}')
_NUMBERS = ('no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten')


@dataclass(frozen=True, slots=True)
class GoalPredicate:
    """A requirement on a number of objects of a class."""

    relation: GoalRelation
    noun: str
    """Class of the objects."""
    place: str = ''
    """Class of their places; '' for relations without a place."""
    count: int = 1

    def __str__(self) -> str:
        place = f'_{self.place}' if self.place else ''
        return f'{self.relation.value}_{self.noun}{place}: {self.count}'

    @property
    def n_needed(self) -> int:
        """How many objects of its class are needed; for milk on milk one more than `count`."""
        return self.count + (self.noun == self.place)

    @property
    def sentence(self) -> str:
        """The predicate in words, for example `put three milk on kitchentable`."""
        form = _PHRASES[self.relation]
        return form.format(f'{in_words(self.count)} {self.noun}', self.place)


_PHRASES: Mapping[GoalRelation, str] = {
    GoalRelation.ON: 'put {} on {}',
    GoalRelation.INSIDE: 'put {} in {}',
    GoalRelation.CLOSED: 'close {}',
    GoalRelation.OPEN: 'open {}',
    GoalRelation.TURNON: 'switch on {}',
    GoalRelation.TURNOFF: 'switch off {}',
    GoalRelation.HOLDS: 'hold {}',
    GoalRelation.SIT: 'sit on {}',
}


def in_words(count: int) -> str:
    """Return a count in words, in figures if it is more than ten."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def parse_goal(text: str, classes: Iterable[str]) -> tuple[GoalPredicate, ...] | None:
    """
    Parse a goal; return None for a plain sentence. Other classes may be out of sight.

    Raises:
        ParseError: Only some of it is predicates, or a thing and its place cannot be separated.
    """
    parts = [part.strip() for part in text.strip().strip(',').split(',')]
    found = [_PREDICATE.fullmatch(part) for part in parts]
    if not any(found):
        return None
    if len(parts) > MAX_PREDICATES:
        raise errors.ParseError(
            f'The goal has {len(parts)} predicates, of at most {MAX_PREDICATES}.'
        )
    known = set(classes)
    goal = []
    for part, match in zip(parts, found, strict=True):
        if match is None:
            raise errors.ParseError(
                f'{part[:80]!r} is no predicate, but other parts of the goal are. A goal is '
                f'{FORM}, or a plain sentence.'
            )
        count = int(match[3]) if _COUNT.fullmatch(match[3]) else 0
        if not 1 <= count <= MAX_COUNT:
            raise errors.ParseError(f'{part[:80]!r} has a count that is not in 1..{MAX_COUNT}.')
        relation = GoalRelation(match[1])
        noun, place = _classes_in(relation, match[2], known, part)
        goal.append(GoalPredicate(relation, noun, place, count))
    return tuple(dict.fromkeys(goal))


def goal_text(predicates: Iterable[GoalPredicate]) -> str:
    return ', '.join(map(str, predicates))


def goal_sentence(predicates: Iterable[GoalPredicate]) -> str:
    return ' and '.join(predicate.sentence for predicate in predicates)


def contradiction(
    predicates: Iterable[GoalPredicate],
    counts: Mapping[str, int] | None = None,
    portable: Collection[str] = (),
    nested: Collection[frozenset[str]] = (),
) -> tuple[GoalPredicate, ...] | None:
    """
    Return predicates that contradict each other; None, which is no proof, if none are found.

    Args:
        predicates: The goal.
        counts: How many objects of each class exist. None: one would have to satisfy both.
        portable: Classes that can be carried: milk on a plate can also be inside a fridge, so two
            places exclude each other only if neither is portable.
        nested: Pairs of places that an object can be in at once, see `nested_places`.
    """
    goal = tuple(predicates)

    def exclusive(first: GoalPredicate, second: GoalPredicate) -> bool:
        relations = frozenset({first.relation, second.relation})
        if first.noun != second.noun or relations in OPPOSED:
            return first.noun == second.noun
        if counts is None:
            return False  # there may be enough movable objects
        if GoalRelation.HOLDS in relations:
            return bool(relations & PLACING)
        places = frozenset({first.place, second.place})
        both_places = len(places) == 1 or places & frozenset(portable) or places in nested
        return relations <= PLACING and not both_places

    for first, second in combinations(goal, 2):
        placing = {first.relation, second.relation} <= PLACING
        if placing and (first.noun, first.place) == (second.place, second.noun):
            if counts is None or counts.get(first.noun, 0) <= 1 >= counts.get(first.place, 0):
                return first, second
        elif exclusive(first, second) and _too_many((first, second), counts):
            return first, second
    for i, first in enumerate(goal):
        group = [first]
        for other in goal[i + 1 :]:
            if all(exclusive(member, other) for member in group):
                group.append(other)
            if len(group) > 1 and _too_many(group, counts):
                return tuple(group)
    return None


def nested_places(
    lies_in: Mapping[Item, Collection[Item]], class_of: Callable[[Item], str]
) -> frozenset[frozenset[str]]:
    """Return pairs of classes, one inside the other, given the places of each object."""
    pairs: set[frozenset[str]] = set()
    for noun in lies_in:
        classes = {class_of(each) for each in reached([noun], lambda x: lies_in.get(x, ()))}
        pairs.update(map(frozenset, combinations(sorted(classes), 2)))
    return frozenset(pairs)


def _too_many(group: Collection[GoalPredicate], counts: Mapping[str, int] | None) -> bool:
    return counts is None or any(
        sum(item.count for item in group) > counts.get(item.noun, 0) for item in group
    )


def _classes_in(
    relation: GoalRelation, words: str, known: Collection[str], part: str
) -> tuple[str, str]:
    if relation not in PLACING:
        return words, ''
    places = [i for i, letter in enumerate(words) if letter == '_' and 0 < i < len(words) - 1]
    splits = [(words[:i], words[i + 1 :]) for i in places]
    n_known = [sum(word in known for word in split) for split in splits]
    likely = [split for split, n in zip(splits, n_known, strict=True) if n == max(n_known)]
    if len(likely) == 1:
        return likely[0]
    if not splits:
        raise errors.ParseError(
            f'{part[:80]!r} names no place. What is put {relation.value} something is written '
            f'`{relation.value}_milk_fridge: 1`.'
        )
    choices = ', or '.join(f'{noun} {relation.value} {place}' for noun, place in likely)
    raise errors.ParseError(
        f'{part[:80]!r} can mean {choices}. Name classes of the scene: {", ".join(sorted(known))}.'
    )


def refuse_empty(scene: Scene) -> None:
    """Raise GaveUpError for a scene without objects other than rooms or locations."""
    items = [item for item in scene.objects if class_of(item.name) != CHARACTER]
    if all(item.kind is Kind.LOCATION for item in items):
        what = language_of(scene).place
        raise errors.GaveUpError(
            f'The {what} is empty: it has no object to work with. A {what} with at least '
            'one object is required.'
        )


def refuse_impossible(task: Task, scene: Scene, context: EpisodeContext) -> None:
    """Refuse a task in predicates that contradict each other; see `refuse_contradiction`."""
    with suppress(errors.ParseError):  # it may make sense as a sentence
        if scene.is_symbolic and (goal := parse_goal(task.instruction, classes(scene))):
            refuse_contradiction(goal, scene, context)


def refuse_contradiction(
    predicates: Sequence[GoalPredicate], scene: Scene, context: EpisodeContext
) -> None:
    """
    Raise GaveUpError for predicates that contradict each other.

    If further objects may exist out of sight, a contradiction by numbers is a warning.
    """
    for relation, verb, most in AT_ONCE:
        greedy = [item for item in predicates if item.relation is relation]
        if sum(item.count for item in greedy) > most:
            raise errors.GaveUpError(
                f'The goal contradicts itself: {_listed(greedy)} want more at once than the '
                f'{most} that a person can {verb}. Fewer could be done.'
            )
    counts = Counter(map(class_of, scene.names))
    portable = {class_of(f.subject) for f in scene.facts if f.object == 'grabbable'}
    lies_in: dict[str, list[str]] = {}
    for fact in scene.facts:
        if fact.predicate in ('on', 'inside', 'in_room'):
            lies_in.setdefault(fact.subject, []).append(fact.object)
    found = contradiction(predicates, counts, portable, nested_places(lies_in, class_of))
    if not found:
        return
    both, which = ('both', 'Either') if len(found) == 2 else ('all', 'Some')
    problem = f'{_listed(found)} cannot {both} be so'
    number = f'{counts[found[0].noun]} of {found[0].noun}'
    if scene.whole:
        raise errors.GaveUpError(
            f'The goal contradicts itself: {problem}, as the house has {number}. {which} of them '
            'could be done.'
        )
    context.warn(
        f'The goal may contradict itself: {problem} with what is in sight, which is {number}. '
        'More may be in rooms, or in closed containers, that were not searched yet.'
    )


def _listed(predicates: Sequence[GoalPredicate]) -> str:
    return ' and '.join(f'`{item}`' for item in predicates)
