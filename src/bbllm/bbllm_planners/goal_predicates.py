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
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bbllm import Kind, Scene, errors
from bbllm.planning import CHARACTER, class_of, language_of

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
