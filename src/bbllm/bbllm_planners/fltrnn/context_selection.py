"""
The objects in FLTRNN's prompts, and the classes that a sentence names.

A goal in predicates names classes, and the prompt has all objects of these. For a sentence it has
as many objects of each named class as the sentence mentions, and then those nearest to it, up to a
length; each with its places. Further lines list the other classes.

Classes are written in one word (`cutleryfork`): one to three words in a row name a class with the
same spelling, or else each class that ends with them, as English compounds do.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bbllm.planning import Embedder, class_of, reached
from bbllm_planners.fltrnn.grammar import shown
from bbllm_planners.fltrnn.memory_graph import MemoryGraph
from bbllm_planners.goal_predicates import GoalPredicate, in_words
from bbllm_planners.similarity import Similarity

SOME = 3
"""Number of objects of a plural without a number."""
MOST = 12
"""Number of objects of `all plates`, and maximum number."""
LONGEST_NAME = 3
"""Maximum number of words of a name: `kitchen counter drawer`."""
TAIL = 4
"""Minimum length of a word that matches the end of a class, not by chance [letters]."""
STEM = 3
"""Minimum length of the part before it [letters]."""
AHEAD = 2
"""How many unknown words may come between a number and its noun: `two clean mugs`."""
NUMBERS = {
    **{in_words(n): n for n in range(1, 11)},
    **{'any': 1, 'both': 2, 'couple': 2, 'pair': 2, 'all': MOST, 'every': MOST, 'each': MOST},
}
BETWEEN = frozenset({'of', 'the', 'my', 'our', 'your', 'these', 'those', 'other', 'more'})
"""Words between a number and its noun: `all of the plates`."""
ENDINGS = (('ves', 'fe'), ('ves', 'f'), ('ies', 'y'), ('es', ''), ('s', ''))
"""Endings of plurals and singulars."""
_PART = re.compile(r'[^\W\d_]+|\d+|[^\w\s]')


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun of a sentence."""

    noun: str
    """Its words in one."""
    count: int
    """Number of objects, at most `MOST`."""
    classes: tuple[str, ...]
    """The named classes; () for a noun with a number that names none."""


def mentions(sentence: str, classes: Collection[str]) -> Iterator[Mention]:
    """Yield the nouns of a sentence that name classes, and others that have a number."""
    known = {name.replace('_', ''): name for name in classes}
    words = _PART.findall(re.sub("[-_]|'s", ' ', sentence.lower()))
    count, unknown = 0, list[str]()
    i = 0
    while i < len(words):
        word = words[i]
        n, names = _name_at(words[i:], known)
        if names:
            last = words[i + n - 1]
            wanted = count or (SOME if last.endswith('s') and not last.endswith('ss') else 1)
            yield Mention(''.join(words[i : i + n]), wanted, names)
            i += n
            unknown = []
            # Of `two boxes of cereal` both are two.
            count = count if words[i : i + 1] == ['of'] else 0
            continue
        i += 1
        if word in BETWEEN and count:
            continue
        number = _number(word)
        if count and not number and word.isalpha():
            unknown.append(word)
        if number or not word.isalpha() or len(unknown) == AHEAD:
            if count and unknown:
                yield Mention(unknown[0], count, ())
            count, unknown = number, []
    if count and unknown:
        yield Mention(unknown[0], count, ())


def _name_at(words: Sequence[str], known: dict[str, str]) -> tuple[int, tuple[str, ...]]:
    """Return how many words at the start are a name, and its classes."""
    for n in range(min(LONGEST_NAME, len(words)), 0, -1):
        noun = ''.join(words[:n])
        forms = _forms(noun)
        found = [known[name] for name in known if forms & _forms(name)]
        if not found and len(noun) >= TAIL:
            tails = tuple(forms)
            found = [known[name] for name in known if name[STEM:].endswith(tails)]
        if found:
            return n, tuple(found)
    return 0, ()


def _forms(noun: str) -> set[str]:
    """Return a noun and its possible singulars; of `knives`: `knive`, `knif`, `knife`."""
    ends = ((one, noun.removesuffix(many)) for many, one in ENDINGS if noun.endswith(many))
    return {noun, *(stem + one for one, stem in ends if len(stem) > 1)}


def _number(word: str) -> int:
    """Return the value of a number word, 0 for other words."""
    return min(int(word) if word.isdecimal() else NUMBERS.get(word, 0), MOST)


SHOWN_STATES = ('closed', 'open', 'off', 'on')
"""States that actions depend on."""
HAND = 'hand'
ROBOT = 'robot'


def memory_text(
    placed: Iterable[tuple[str, str, str]],
    states: Mapping[str, Sequence[str]],
    *,
    terse: bool = False,
) -> str:
    """
    Return places and states of objects on one line, grouped by place, if `terse` also by states.

    `[('milk(id:21), egg(id:22)', 'INSIDE', 'fridge(id:5)')]; fridge(id:5) is closed`
    """
    by_place: dict[tuple[str, str], list[str]] = {}
    for name, relation, place in placed:
        by_place.setdefault((relation, place), []).append(shown(name))
    groups = [
        f"('{', '.join(names)}', '{relation.upper()}', '{shown(place)}')"
        for (relation, place), names in by_place.items()
    ]
    alike: dict[str, list[str]] = {}
    how: list[str] = []
    for name, words in states.items():
        if words and terse:
            alike.setdefault(' and '.join(words), []).append(shown(name))
        elif words:
            how.append(f'{shown(name)} is {" and ".join(words)}')
    for same, names in alike.items():
        how.append(f'{", ".join(names)} {"is" if len(names) == 1 else "are"} {same}')
    described = ('; ' if terse else ', ').join(how)
    return '; '.join(filter(None, [f'[{", ".join(groups)}]', described]))


def remembered(graph: MemoryGraph, predicates: Sequence[GoalPredicate]) -> str:
    """Return the text of a memory graph on the objects of a goal's classes and their places."""
    wanted: Counter[str] = Counter()
    for item in predicates:
        wanted[item.noun] = max(wanted[item.noun], item.n_needed)
        if item.place:
            wanted[item.place] = max(wanted[item.place], 1)
    chosen = [name for name in graph.names if class_of(name) in wanted]
    few = [
        f'{count - n} {word}'
        for word, count in wanted.items()
        if (n := len(graph.of_class(word))) < count
    ]
    lines = [remembered_of(graph, chosen), *([f'{FEW}{", ".join(few)}'] if few else [])]
    return '\n'.join([*lines, *_surroundings(graph)])


def remembered_of(graph: MemoryGraph, chosen: Iterable[str], *, terse: bool = False) -> str:
    """Return the text on some objects; if `terse`, without which books and bottles are closed."""
    names = with_places(graph, chosen)
    placed = [(name, *place) for name in names for place in _where(graph, name)]
    if graph.seat:
        placed.insert(0, (ROBOT, 'on', graph.seat))
    states = {name: _states(graph, name, terse) for name in names}
    return memory_text(placed, states, terse=terse)


def _states(graph: MemoryGraph, name: str, terse: bool) -> list[str]:
    states = [word for word in SHOWN_STATES if word in graph.states(name)]
    carried = graph.affords(name, 'grabbable') and not graph.affords(name, 'has_switch')
    return [] if terse and carried and not graph.affords(name, 'containers') else states


def with_places(graph: MemoryGraph, chosen: Iterable[str]) -> list[str]:
    """Return some objects, those in a hand, and all their places, at any depth."""
    starts = [*graph.held, *chosen]
    return reached(starts, lambda name: [place for _, place in graph.places(name)])


def _where(graph: MemoryGraph, name: str) -> list[tuple[str, str]]:
    if name in graph.held:
        return [('held', HAND)]
    if places := graph.places(name):
        return list(places)
    room = graph.room_of(name)
    return [('inside', room)] if room not in (None, name) else []


def _surroundings(graph: MemoryGraph) -> Iterator[str]:
    """Yield lines on the robot's room and, of a house that is seen in part, where more may be."""
    if graph.here is not None:
        yield f'{HERE}{shown(graph.here)}'
    if graph.whole:
        return
    others = [name for name in graph.rooms if name != graph.here]
    seen = {graph.room_of(name) for name in graph.names if name not in graph.rooms}
    shut = [
        name
        for name in graph.names
        if 'closed' in graph.states(name) and graph.affords(name, 'containers')
    ]
    new = [name for name in others if name not in seen]
    known = [name for name in others if name in seen]
    for heading, names in ((NEW_ROOMS, new), (KNOWN_ROOMS, known), (CLOSED, shut)):
        if names:
            yield heading + ', '.join(map(shown, names))


LONGEST = 2200
"""Maximum length of the text for a sentence, beyond the objects that it names, and without the
rooms; with the rest of a cell some 6700. With less, `rinse a mug` has no faucet [characters]."""
LONGEST_IN_WORDS = 4500
"""The same for planners without a list of classes: enough in each of the houses for one object of
each class that can be carried, filled or switched; some 7700 in all [characters]."""
USEFUL = ('grabbable', 'can_open', 'has_switch', 'sittable', 'containers', 'surfaces')
"""Affordances of relevant objects; floors are surfaces too, and never meant."""
DEVICE = ('has_switch', 'containers')
"""Affordances of devices and containers, which few goals name."""
FIXED_WORTH = 0.005
"""Bonus for fixed devices, and malus for other fixed objects; it decides between equals."""
CHANCE = 0.22
"""Similarity up to which words may be unrelated, by spelling alone."""
CONTENT = 0.5
"""Share of the similarity of a place that its contents get: to clear a table means its objects."""
AGAIN = 0.02
"""Malus for each further object of a class."""
MORE = '# More of these stand elsewhere: '
LEFT_OUT = '# Not told of, as the goal seems not to mean them: '
FEW = '# Not in sight so far: '
"""Beginnings of the lines on classes that the prompt has in part, or not at all."""
NAMED = 12
"""How many of the classes left out are named, those nearest to the goal."""
HERE = '# The robot is in: '
NEW_ROOMS = '# Rooms that it has not seen yet: '
KNOWN_ROOMS = '# Other rooms: '
CLOSED = '# Closed, with what may be inside: '
"""Beginnings of the lines on where the robot is, and where it can search."""


class ContextSelector:
    """Chooses the objects for a prompt, and writes their text, of `longest` characters at most."""

    def __init__(self, embedder: Embedder, *, longest: int = LONGEST):
        self._similarity = Similarity(embedder)
        self._longest = longest
        # A goal is repeated many times.
        self._meaning = lru_cache(maxsize=1)(self._compared)

    def of(self, graph: MemoryGraph, goal: str, predicates: Sequence[GoalPredicate] | None) -> str:
        """Return the text of a memory graph on the objects that a goal needs."""
        if predicates:
            return remembered(graph, predicates)
        names, n_wanted = self.first(graph, goal)
        n_fitting = bisect_right(
            range(len(names)), self._longest, key=lambda n: len(_text(graph, names, n + 1))
        )
        text = _text(graph, names, max(n_fitting, n_wanted))
        return '\n'.join([text, *_surroundings(graph)])

    def first(self, graph: MemoryGraph, sentence: str) -> tuple[list[str], int]:
        """Return all relevant objects, best first, and how many of them the sentence mentions."""
        useful = [name for name in graph.names if is_useful(graph, name)]
        near, mentioned = self._meaning(sentence, tuple(sorted(set(map(class_of, useful)))))

        def distance(name: str) -> tuple[bool, bool, bool]:
            # The room counts for named classes only: else a prompt would change at each door.
            away = class_of(name) in mentioned and graph.room_of(name) != graph.here
            return name not in graph.held, graph.closed_around(name) is not None, away

        useful.sort(key=distance)
        n_before: Counter[str] = Counter()
        worth: dict[str, tuple[bool, float]] = {}
        for name in useful:
            n = n_before[class_of(name)]
            wanted = n < mentioned[class_of(name)]
            worth[name] = wanted, _worth(graph, name, near) - AGAIN * n
            n_before[class_of(name)] += 1
        names = sorted(worth, key=lambda name: worth[name], reverse=True)
        return names, sum(wanted for wanted, _ in worth.values())

    def _compared(
        self, sentence: str, classes: Sequence[str]
    ) -> tuple[Mapping[str, float], Counter[str]]:
        """
        Return how near each class is to a sentence or words of it, and how many it mentions.

        Its words are compared one by one, and two in a row.
        """
        words = [word for word in re.findall(r'\w+', sentence.lower()) if len(word) > 2]
        pairs = [first + second for first, second in zip(words, words[1:], strict=False)]
        texts = [*dict.fromkeys([sentence, *words, *pairs])]
        self._similarity.embed([*texts, *classes])
        found = [self._similarity.of(text, classes) for text in texts]
        nearest = {name: max(near[name] for near in found) for name in classes}
        wanted: Counter[str] = Counter()
        for mention in mentions(sentence, classes):
            for name in mention.classes or self._nearest(mention.noun, classes):
                wanted[name] += mention.count
        return nearest, wanted

    def _nearest(self, noun: str, classes: Sequence[str]) -> list[str]:
        near = self._similarity.of(noun, classes)
        return [name for name in self._similarity.ranked(noun, classes)[:1] if near[name] > CHANCE]


def is_useful(graph: MemoryGraph, name: str) -> bool:
    return class_of(name) != 'floor' and any(graph.affords(name, word) for word in USEFUL)


def _worth(graph: MemoryGraph, name: str, near: Mapping[str, float]) -> float:
    places = [CONTENT * near.get(class_of(place), 0) for _, place in graph.places(name)]
    nearest = max([near[class_of(name)], *places])
    worth = nearest if nearest > CHANCE else 0.0
    if graph.affords(name, 'grabbable'):
        return worth
    device = any(graph.affords(name, word) for word in DEVICE)
    return worth + (FIXED_WORTH if device else -FIXED_WORTH)


def _text(graph: MemoryGraph, names: Sequence[str], n: int) -> str:
    """Return the text on the first `n` objects, and the classes of the others."""
    first = {*names[:n]}  # in the order of first sight, so that a server can cache more of it
    chosen = [name for name in graph.names if name in first]
    included = {*with_places(graph, chosen)}
    others = Counter(class_of(name) for name in names if name not in included)
    known = {class_of(name) for name in included}
    more = [f'{count} {word}' for word, count in sorted(others.items()) if word in known]
    # The best ones, in the alphabet so that a prompt changes less.
    unknown = [word for word in others if word not in known]
    left_out = sorted(unknown[:NAMED])
    if n_more := len(unknown) - len(left_out):
        left_out.append(f'and {n_more} more classes')
    lines = [
        remembered_of(graph, chosen, terse=True),
        *([f'{MORE}{", ".join(more)}'] if more else []),
        *([f'{LEFT_OUT}{", ".join(left_out)}'] if left_out else []),
    ]
    return '\n'.join(lines)
