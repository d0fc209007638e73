"""
Of which things FLTRNN's prompts tell.

A goal in predicates names the classes, and all of them is told. A sentence may only mean them, and
a house has hundreds of things: told is of each class that the sentence names as many as it speaks
of, and then what is nearest to the sentence, up to a length; each thing with all that it is in or
on. It is said of which classes there are more, and of which nothing is told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Embedder
from bbllm.planners.common.goal_predicates import GoalPredicate
from bbllm.planners.common.named_classes import mentions
from bbllm.planners.common.similarity import Similarity
from bbllm.planners.fltrnn.grammar import shown
from bbllm.planners.fltrnn.memory_graph import MemoryGraph

TOLD_STATES = ('closed', 'open', 'opened', 'off', 'on')
"""States that matter to the actions; `opened` is a slip of the program, see PaperMemoryGraph."""
HAND = 'hand'
ROBOT = 'robot'


def memory_text(
    things: Iterable[tuple[str, str, str]], states: Mapping[str, Sequence[str]]
) -> str:
    """
    Write things and states on one line, what is in or on the same place together.

    For example `[('milk(id:21), egg(id:22)', 'INSIDE', 'fridge(id:5)')]; fridge(id:5) is closed`.
    """
    how = [f'{shown(name)} is {" and ".join(words)}' for name, words in states.items() if words]
    return _placed_text(things) + (f'; {", ".join(how)}' if how else '')


def terse_text(things: Iterable[tuple[str, str, str]], states: Mapping[str, Sequence[str]]) -> str:
    """Write the same, and things with the same states together: `a, b are closed; c is open`."""
    alike: dict[str, list[str]] = {}
    for name, words in states.items():
        if words:
            alike.setdefault(' and '.join(words), []).append(shown(name))
    how = [
        f'{", ".join(names)} {"is" if len(names) == 1 else "are"} {words}'
        for words, names in alike.items()
    ]
    return '; '.join([_placed_text(things), *how])


def _placed_text(things: Iterable[tuple[str, str, str]]) -> str:
    by_place: dict[tuple[str, str], list[str]] = {}
    for thing, relation, place in things:
        by_place.setdefault((relation, place), []).append(shown(thing))
    placed = [
        f"('{', '.join(names)}', '{relation.upper()}', '{shown(place)}')"
        for (relation, place), names in by_place.items()
    ]
    return f'[{", ".join(placed)}]'


def remembered(graph: MemoryGraph, predicates: Sequence[GoalPredicate]) -> str:
    """Write what a memory graph knows of the things of a goal's classes, and of their places."""
    words = dict.fromkeys(w for item in predicates for w in (item.thing, item.place) if w)
    chosen = [name for name in graph.names if class_of(name) in words]
    return remembered_of(graph, chosen) + _unseen(graph, words)


def remembered_of(graph: MemoryGraph, chosen: Iterable[str], *, terse: bool = False) -> str:
    """
    Write what a memory graph knows of some things, and of their places.

    Args:
        graph: What is known.
        chosen: The things.
        terse: Whether it is to be short; then it is left out which books and bottles are closed.
    """
    names = with_places(graph, chosen)
    things = [(name, *place) for name in names for place in _where(graph, name)]
    if graph.seat:
        things.insert(0, (ROBOT, 'on', graph.seat))
    states = {name: _states(graph, name, terse) for name in names}
    return terse_text(things, states) if terse else memory_text(things, states)


def _states(graph: MemoryGraph, name: str, terse: bool) -> list[str]:
    states = [word for word in TOLD_STATES if word in graph.states(name)]
    carried = graph.affords(name, 'grabbable') and not graph.affords(name, 'has_switch')
    return [] if terse and carried and not graph.affords(name, 'containers') else states


def with_places(graph: MemoryGraph, chosen: Iterable[str]) -> list[str]:
    """Return what is held, some things, and what all these are in or on, however deep."""
    found: dict[str, None] = {}
    waiting = [*graph.held, *chosen]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = None
            waiting += [place for _, place in graph.places(name)]
    return [*found]


def _where(graph: MemoryGraph, name: str) -> list[tuple[str, str]]:
    if name in graph.held:
        return [('held', HAND)]
    if places := graph.places(name):
        return list(places)
    room = graph.room_of(name)
    return [('inside', room)] if room not in (None, name) else []


def _unseen(graph: MemoryGraph, words: Iterable[str]) -> str:
    """Say which classes of the goal are not in sight, and where one could look."""
    unseen = [word for word in words if not graph.of_class(word)]
    if not unseen:
        return ''
    rooms = ', '.join(map(shown, graph.rooms)) or 'none'
    shut = [name for name in graph.names if 'closed' in graph.states(name)]
    shut = [name for name in shut if not graph.affords(name, 'grabbable')]
    return (
        f'; not in sight: {", ".join(unseen)}; rooms: {rooms}; '
        f'closed: {", ".join(map(shown, shut)) or "nothing"}'
    )


LONGEST = 2200
"""
How much is told for a sentence, beyond what it names itself [characters].

A cell has up to 4650 beside it and the goal, 4520 in `household`: some 6700 in all, as
the line that names what is left out takes 1000: with less, `rinse a mug` tells of no faucet.
"""
LONGEST_IN_WORDS = 4500
"""
The same for planners that are never told which classes there are: one thing of each class that
can be carried, filled or switched finds room in it, in each of the houses [characters].

They have up to 3200 beside it and the goal: some 7700 in all.
"""
USEFUL = ('grabbable', 'can_open', 'has_switch', 'sittable', 'containers', 'surfaces')
"""What makes a thing worth telling of; floors are surfaces too, and nobody means them."""
DEVICE = ('has_switch', 'containers')
"""What things become warm, clean or put away by, though few goals name it."""
FIXED_WORTH = 0.005
"""How much nearer such a thing counts that cannot be carried about, and how much less near another
that cannot, such as a window; so little that it only decides between equals."""
CHANCE = 0.22
"""Up to here nearness says nothing: by spelling alone, words that have nothing in common come as
near."""
CONTENT = 0.5
"""What is in or on a thing is as near as this share of it: who clears a table means its things."""
AGAIN = 0.02
"""How much less near the second of a class counts than the first, and so on: one of each class
comes before many of one that the sentence does not mean."""
MORE = '# More of these stand elsewhere: '
LEFT_OUT = '# Not told of, as the goal seems not to mean them: '
"""How the lines begin that say what is told in part, and of what nothing is."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a sentence means among the classes of a house."""

    sentence: str
    classes: Sequence[str]
    near: Mapping[str, float]
    """How near each class is to it, or to one of its words, or to two of them."""
    wanted: Counter[str]
    """Of how many things of a class it speaks."""


class ContextSelector:
    """
    Chooses and words what is told.

    Args:
        embedder: What tells how near a class is to a sentence.
        longest: How much is told for a sentence [characters].
    """

    def __init__(self, embedder: Embedder, *, longest: int = LONGEST):
        self._nearness = Similarity(embedder)
        self._longest = longest
        self._found = _Meaning('', (), {}, Counter())
        """Of what was asked for last: a goal is asked for many times in turn."""

    def of(self, graph: MemoryGraph, goal: str, predicates: Sequence[GoalPredicate] | None) -> str:
        """
        Write what a memory graph knows of what matters to a goal.

        Args:
            graph: What is known.
            goal: As it is said.
            predicates: The same as predicates; none where it is a sentence.

        Raises:
            ModelError: The embedder could not be reached.
        """
        if predicates:
            return remembered(graph, predicates)
        names, n_wanted = self.first(graph, goal)
        n_told = bisect_right(
            range(len(names)), self._longest, key=lambda n: len(_told(graph, names, n + 1))
        )
        return _told(graph, names, max(n_told, n_wanted))

    def first(self, graph: MemoryGraph, sentence: str) -> tuple[list[str], int]:
        """
        Return all things that are of use, those that matter most to a sentence first.

        Returns:
            The things; and how many of them, from the first on, the sentence speaks of itself.
        """
        useful = [name for name in graph.names if is_useful(graph, name)]
        meaning = self._meaning(sentence, sorted({class_of(name) for name in useful}))

        def distance(name: str) -> tuple[bool, bool, bool]:
            # The room counts only where something is named: a prompt would change at each door.
            away = class_of(name) in meaning.wanted and graph.room_of(name) != graph.here
            return name not in graph.held, graph.closed_around(name) is not None, away

        useful.sort(key=distance)
        n_before: Counter[str] = Counter()
        worth: dict[str, tuple[bool, float]] = {}
        for name in useful:
            n = n_before[class_of(name)]
            wanted = n < meaning.wanted[class_of(name)]
            worth[name] = wanted, _worth(graph, name, meaning.near) - AGAIN * n
            n_before[class_of(name)] += 1
        names = sorted(worth, key=lambda name: worth[name], reverse=True)
        return names, sum(wanted for wanted, _ in worth.values())

    def _meaning(self, sentence: str, classes: Sequence[str]) -> _Meaning:
        if (self._found.sentence, self._found.classes) == (sentence, classes):
            return self._found
        words = [word for word in re.findall(r'\w+', sentence.lower()) if len(word) > 2]
        pairs = [first + second for first, second in zip(words, words[1:], strict=False)]
        texts = [*dict.fromkeys([sentence, *words, *pairs])]
        self._nearness.look_up([*texts, *classes])
        found = [self._nearness.of(text, classes) for text in texts]
        nearest = {name: max(near[name] for near in found) for name in classes}
        self._found = _Meaning(sentence, classes, nearest, self._wanted(sentence, classes))
        return self._found

    def _wanted(self, sentence: str, classes: Sequence[str]) -> Counter[str]:
        """Count of how many things of each class a sentence speaks."""
        wanted: Counter[str] = Counter()
        for mention in mentions(sentence, classes):
            for name in mention.classes or self._nearest(mention.noun, classes):
                wanted[name] += mention.count
        return wanted

    def _nearest(self, noun: str, classes: Sequence[str]) -> list[str]:
        """Return the class that a noun means which names none; none where nothing is near."""
        near = self._nearness.of(noun, classes)
        return [name for name in self._nearness.ranked(noun, classes)[:1] if near[name] > CHANCE]


def is_useful(graph: MemoryGraph, name: str) -> bool:
    """Return whether a thing is told of where a sentence leaves room for it."""
    return class_of(name) != 'floor' and any(graph.affords(name, word) for word in USEFUL)


def _worth(graph: MemoryGraph, name: str, near: Mapping[str, float]) -> float:
    """Return how much a thing matters, from how near classes are to a sentence."""
    places = [CONTENT * near.get(class_of(place), 0) for _, place in graph.places(name)]
    nearest = max([near[class_of(name)], *places])
    worth = nearest if nearest > CHANCE else 0.0
    if graph.affords(name, 'grabbable'):
        return worth
    device = any(graph.affords(name, word) for word in DEVICE)
    return worth + (FIXED_WORTH if device else -FIXED_WORTH)


def _told(graph: MemoryGraph, names: Sequence[str], n: int) -> str:
    """
    Write what is known of the first `n` things, and which classes the others are of.

    The order is that of first sight, which stays: so a server can keep more of a prompt.
    """
    first = {*names[:n]}
    chosen = [name for name in graph.names if name in first]
    told = with_places(graph, chosen)
    others = Counter(sorted(class_of(name) for name in {*names} - {*told}))
    known = {class_of(name) for name in told}
    more = [f'{count} {word}' for word, count in others.items() if word in known]
    left_out = [word for word in others if word not in known]
    lines = [
        remembered_of(graph, chosen, terse=True),
        *([f'{MORE}{", ".join(more)}'] if more else []),
        *([f'{LEFT_OUT}{", ".join(left_out)}'] if left_out else []),
    ]
    return '\n'.join(lines)
