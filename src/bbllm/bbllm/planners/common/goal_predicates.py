"""
Goals as predicates with counts: `on_milk_kitchentable: 3, closed_microwave: 1`.

    goal      = predicate {"," predicate} [","]
    predicate = ("on" | "inside") "_" thing "_" place ":" count
              | ("closed" | "open" | "turnon" | "turnoff" | "holds" | "sit") "_" thing ":" count

Source: Zhang et al., FLTRNN, and the goals of VirtualHome that it plans for. `count` different
things of the class `thing` at least; any place of the class `place` will do. A class may have a
`_` of its own, so a scene's classes say where a thing ends and its place begins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import TypeVar

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import EpisodeContext
from bbllm.core.types import Kind, Scene, Task
from bbllm.planners.common.scene_graph import CHARACTER, HOUSEHOLD, classes

MAX_COUNT = 100
"""More things of a class than any house has."""
MAX_PREDICATES = 60
"""A longer goal is a slip of whoever wrote it."""


class GoalRelation(str, Enum):
    """What a predicate says of its things."""

    ON = 'on'
    INSIDE = 'inside'
    CLOSED = 'closed'
    OPEN = 'open'
    TURNON = 'turnon'
    TURNOFF = 'turnoff'
    HOLDS = 'holds'
    SIT = 'sit'
    """Who acts sits on such a thing."""


PLACING = frozenset({GoalRelation.ON, GoalRelation.INSIDE})
"""Relations that have a place."""
STATE_OF: Mapping[GoalRelation, str] = {
    GoalRelation.CLOSED: 'closed',
    GoalRelation.OPEN: 'open',
    GoalRelation.TURNON: 'on',
    GoalRelation.TURNOFF: 'off',
}
"""The state, as scenes say it, that a predicate of states asks for."""
OPPOSED = frozenset(
    {
        frozenset({GoalRelation.CLOSED, GoalRelation.OPEN}),
        frozenset({GoalRelation.TURNON, GoalRelation.TURNOFF}),
    }
)
"""Relations that nothing can have at once."""
AT_ONCE: Mapping[GoalRelation, int] = {GoalRelation.HOLDS: 2, GoalRelation.SIT: 1}
"""Of how many things a person can have a relation at once, whatever there is."""
FORM = '`on_milk_kitchentable: 3` or `closed_microwave: 1`, with commas between them'

_PREDICATE = re.compile(
    rf'({"|".join(r.value for r in GoalRelation)})_(\w+)\s*:\s*([+-]?\d[\d.]*)'
)
_COUNT = re.compile(r'\d{1,6}')
_NUMBERS = ('no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten')


@dataclass(frozen=True, slots=True)
class GoalPredicate:
    """One thing that must be so of at least so many things of a class."""

    relation: GoalRelation
    thing: str
    """Class, as scenes write it."""
    place: str = ''
    """Class of what it is on or inside; '' for the others."""
    count: int = 1

    def __str__(self) -> str:
        place = f'_{self.place}' if self.place else ''
        return f'{self.relation.value}_{self.thing}{place}: {self.count}'

    @property
    def things(self) -> int:
        """How many of its class there have to be; for milk on milk one more than `count`."""
        return self.count + (self.thing == self.place)

    @property
    def sentence(self) -> str:
        """The same in words, for example `put three milk on kitchentable`."""
        what = f'{in_words(self.count)} {self.thing}'
        if self.relation in PLACING:
            return f'put {what} {"on" if self.relation is GoalRelation.ON else "in"} {self.place}'
        words = {
            GoalRelation.CLOSED: f'close {what}',
            GoalRelation.OPEN: f'open {what}',
            GoalRelation.TURNON: f'switch on {what}',
            GoalRelation.TURNOFF: f'switch off {what}',
            GoalRelation.HOLDS: f'hold {what}',
            GoalRelation.SIT: f'sit on {what}',
        }
        return words[self.relation]


def in_words(count: int) -> str:
    """Return a count as people say it, in figures where it is more than ten."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def parse_goal(text: str, classes: Iterable[str]) -> tuple[GoalPredicate, ...] | None:
    """
    Read a goal; None where the text is no predicates but a plain sentence.

    Args:
        text: The goal.
        classes: What things of the scene are. A class that is not among them is taken as it is
            written, because it may only be out of sight.

    Raises:
        ParseError: Some of it is predicates and some is not, or it cannot be told where a thing
            ends and its place begins; says what would do.
    """
    parts = [part.strip() for part in text.strip().strip(',').split(',')]
    found = [_PREDICATE.fullmatch(part) for part in parts]
    if not any(found):
        return None
    if len(parts) > MAX_PREDICATES:
        raise ParseError(f'The goal has {len(parts)} predicates, of at most {MAX_PREDICATES}.')
    known = set(classes)
    goal = []
    for part, match in zip(parts, found, strict=True):
        if match is None:
            raise ParseError(
                f'{part[:80]!r} is no predicate, but other parts of the goal are. A goal is '
                f'{FORM}, or a plain sentence.'
            )
        count = int(match[3]) if _COUNT.fullmatch(match[3]) else 0
        if not 1 <= count <= MAX_COUNT:
            raise ParseError(f'{part[:80]!r} has a count that is not in 1..{MAX_COUNT}.')
        relation = GoalRelation(match[1])
        thing, place = _classes_in(relation, match[2], known, part)
        goal.append(GoalPredicate(relation, thing, place, count))
    return tuple(dict.fromkeys(goal))


def goal_text(predicates: Iterable[GoalPredicate]) -> str:
    """Write predicates so that `parse_goal` reads them again."""
    return ', '.join(map(str, predicates))


def goal_sentence(predicates: Iterable[GoalPredicate]) -> str:
    """Say predicates in words, with `and` between them."""
    return ' and '.join(predicate.sentence for predicate in predicates)


def contradiction(
    predicates: Iterable[GoalPredicate],
    counts: Mapping[str, int] | None = None,
    portable: Collection[str] = (),
    nested: Collection[frozenset[str]] = (),
) -> tuple[GoalPredicate, ...] | None:
    """
    Return the first two or more predicates that can never hold at once; None without such.

    What is returned is a contradiction. None is no proof that there is none: of more than two,
    only groups are looked at in which no thing can do for two.

    Args:
        predicates: The goal.
        counts: How many things there are of each class. With more things than both predicates
            want, each can have its own. None: one would have to do for both.
        portable: Classes of what can itself be carried. What lies on a plate can also be inside a
            fridge, so two places exclude each other only where neither is portable.
        nested: Classes of places of which one is in or on the other, see `nested_places`. What
            is in a toaster on the counter is on the counter, too.
    """
    goal = tuple(predicates)

    def exclusive(first: GoalPredicate, second: GoalPredicate) -> bool:
        places = frozenset({first.place, second.place})
        may_be = bool(places & frozenset(portable)) or places in nested
        return _exclusive(first, second, may_be, counts is not None)

    for first, second in combinations(goal, 2):
        if _each_in_the_other(first, second):
            if counts is None or counts.get(first.thing, 0) <= 1 >= counts.get(first.place, 0):
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


def too_much_for_a_body(predicates: Iterable[GoalPredicate]) -> tuple[GoalPredicate, ...]:
    """Return predicates that want more held or sat on than a person can; () without such."""
    goal = tuple(predicates)
    for relation, most in AT_ONCE.items():
        group = tuple(item for item in goal if item.relation is relation)
        if sum(item.count for item in group) > most:
            return group
    return ()


Thing = TypeVar('Thing', bound=Hashable)


def nested_places(
    lies_in: Mapping[Thing, Collection[Thing]], class_of: Callable[[Thing], str]
) -> frozenset[frozenset[str]]:
    """
    Return pairs of classes that one thing can be in or on at once, since one of them is in, on.

    Args:
        lies_in: What each thing is in or on.
        class_of: Tells the class of a thing.
    """
    pairs: set[frozenset[str]] = set()
    for thing in lies_in:
        waiting, seen = [thing], {thing}
        while waiting:
            around = set(lies_in.get(waiting.pop(), ())) - seen
            waiting.extend(around)
            seen |= around
        pairs.update(map(frozenset, combinations(sorted({class_of(each) for each in seen}), 2)))
    return frozenset(pairs)


def _too_many(group: Collection[GoalPredicate], counts: Mapping[str, int] | None) -> bool:
    """Return whether predicates on one class want more things than there are."""
    return counts is None or any(
        sum(item.count for item in group) > counts.get(item.thing, 0) for item in group
    )


def _each_in_the_other(first: GoalPredicate, second: GoalPredicate) -> bool:
    places = {first.relation, second.relation} <= PLACING
    return places and (first.thing, first.place) == (second.place, second.thing)


def _exclusive(
    first: GoalPredicate, second: GoalPredicate, both_places: bool, counted: bool
) -> bool:
    """Return whether no single thing can have both; `both_places`: it can be in both places."""
    relations = frozenset({first.relation, second.relation})
    if first.thing != second.thing:
        return False
    if relations in OPPOSED:
        return True
    if not counted:
        return False  # of things that are moved there may be enough
    if GoalRelation.HOLDS in relations:
        return bool(relations & PLACING)
    return relations <= PLACING and first.place != second.place and not both_places


def _classes_in(
    relation: GoalRelation, words: str, known: Collection[str], part: str
) -> tuple[str, str]:
    """Split what stands behind a relation into a thing and its place."""
    if relation not in PLACING:
        return words, ''
    places = [i for i, letter in enumerate(words) if letter == '_' and 0 < i < len(words) - 1]
    splits = [(words[:i], words[i + 1 :]) for i in places]
    best = max((_n_known(split, known) for split in splits), default=0)
    likely = [split for split in splits if _n_known(split, known) == best]
    if len(likely) == 1:
        return likely[0]
    if not splits:
        raise ParseError(
            f'{part[:80]!r} names no place. What is put {relation.value} something is written '
            f'`{relation.value}_milk_fridge: 1`.'
        )
    choices = ', or '.join(f'{thing} {relation.value} {place}' for thing, place in likely)
    raise ParseError(
        f'{part[:80]!r} can mean {choices}. Name classes of the scene: {", ".join(sorted(known))}.'
    )


def _n_known(split: tuple[str, str], known: Collection[str]) -> int:
    return sum(word in known for word in split)


_BODILY = {GoalRelation.HOLDS: 'hold', GoalRelation.SIT: 'sit on'}


def refuse_empty(scene: Scene) -> None:
    """
    Refuse a scene with nothing but rooms, or with nothing at all.

    Raises:
        GaveUpError: It is such a scene.
    """
    things = [item for item in scene.objects if class_of(item.name) != CHARACTER]
    if all(item.kind is Kind.LOCATION for item in things):
        what = 'house' if scene.domain == HOUSEHOLD else 'table'
        raise GaveUpError(
            f'The {what} is empty: there is nothing that could be worked with. A {what} with at '
            'least one thing in it would do.'
        )


def refuse_impossible(task: Task, scene: Scene, context: EpisodeContext) -> None:
    """
    Refuse a task whose words are predicates that can never all be so; other tasks pass.

    Args:
        task: What is asked for.
        scene: What is seen at the start.
        context: Warned of what can only be so if there is more than is in sight.

    Raises:
        GaveUpError: It is such a task; the predicates are named.
    """
    if scene.domain != HOUSEHOLD:
        return
    try:
        predicates = parse_goal(task.instruction, classes(scene))
    except ParseError:
        return  # whoever reads sentences may make something of it
    if predicates is not None:
        refuse_contradiction(predicates, scene, context)


def refuse_contradiction(
    predicates: Sequence[GoalPredicate], scene: Scene, context: EpisodeContext
) -> None:
    """
    Refuse predicates that can never all be so.

    How many things there are of a class is known only where all of the house is in sight. Where
    it is not, a second one may stand in another room, so that what one cannot be is warned of;
    what nobody can hold or sit on at once is refused all the same.

    Raises:
        GaveUpError: They contradict each other.
    """
    if greedy := too_much_for_a_body(predicates):
        relation = greedy[0].relation
        raise GaveUpError(
            f'The goal contradicts itself: {_listed(greedy)} want more at once than the '
            f'{AT_ONCE[relation]} that a person can {_BODILY[relation]}. Fewer could be done.'
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
    told = f'{_listed(found)} cannot {both} be so'
    things = f'{counts[found[0].thing]} of {found[0].thing}'
    if all_in_sight(scene):
        raise GaveUpError(
            f'The goal contradicts itself: {told}, as the house has {things}. {which} of them '
            'could be done.'
        )
    context.warn(
        f'The goal may contradict itself: {told} with what is in sight, which is {things}. More '
        'may be in rooms, or in closed things, that nobody has looked into yet.'
    )


def all_in_sight(scene: Scene) -> bool:
    """
    Return whether a scene shows all of its house, by what the world says of it.

    What is seen does not tell: who has been in all rooms and looked into one cupboard sees as
    well as who is shown all that some things are shut in, and others are empty.
    """
    return scene.whole


def _listed(predicates: Sequence[GoalPredicate]) -> str:
    return ' and '.join(f'`{item}`' for item in predicates)
