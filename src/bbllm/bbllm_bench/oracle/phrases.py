"""
Noun phrases of `offline`: which objects are meant, and where something is to be or is.

    selection   = piece {("and" | "," | "or") piece} ["except" selection]
    piece       = {quantity} {quality} [noun] {["that is"] restriction}
    quantity    = "all" | "a" | "the" | "both" | "other" | number
    quality     = ["not"] colour | "nearest" | "left"
    restriction = ["not"] (colour | place | "withinreach" | "nearest" ["to" piece])
    place       = on (side | area | selection | pose) | relation selection
                | length (way | relation selection) | "back" | "placeof" selection

A rule yields what the words from a position on can mean, with the position behind them, the
longest reading first. No word is passed over: a sentence is understood if a reading ends with it.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from bbllm.core.arguments import DISTANCES_M, lengths_m
from bbllm_bench.oracle.table_goals import (
    COLORS,
    RELATED,
    AskError,
    RefusalError,
    Select,
    Side,
    TableObject,
    stands,
)
from bbllm_bench.oracle.vocabulary import (
    ALL,
    ANY,
    AREA,
    ARTICLES,
    CONJUNCTIONS,
    ISH,
    KINDS,
    NUMBERS,
    ON,
    OTHER,
    PARTS,
    PLURALS,
    PRONOUNS,
    SIDES,
    SUPERLATIVES,
    WAYS,
    A,
    is_number,
    spoken,
)

T = TypeVar('T')
Reading = Iterator[tuple[T, int]]
Test = Callable[[TableObject], bool]
Rank = Callable[[TableObject], float]

A_BIT_M = 0.05
"""How far `a bit` is [m]."""
A_WAY_M = 0.1
"""How far a direction without a length goes [m]."""
ARM = ('you', 'arm', 'robot', 'base')
DETERMINERS = frozenset({'the', 'your', 'my'})
LINKS = frozenset({'is', 'are', 'stands', 'stand', 'lies', 'lie', 'was', 'were'})


@dataclass(frozen=True)
class Place:
    """Where something is to be, or is."""

    kind: str
    """
    `on`, `side`, `table`, `pose`, `way` (from where it is), `back` (where it was), `placeof` or
    `aside`; or a relation: `behind`, `infront`, `leftof`, `rightof`, `beside`, `between`.
    """
    refs: tuple[Select, ...] = ()
    """The objects or places that it is stated by."""
    word: str = ''
    """A side, a way, or a pose in numbers."""
    by_m: float | None = None
    """How far from there, or from where it is [m]."""
    going: bool = False
    """Whether something goes there, as in `to the left`, and is not there, as in `on the left`."""
    bare: bool = False
    """Whether a side was given by one word."""


@dataclass(frozen=True)
class Piece:
    """A description as it is read."""

    words: tuple[str, ...] = ()
    quantities: frozenset[str] = frozenset()
    number: int | None = None
    names: tuple[str, ...] = ()
    noun: str = ''
    tests: tuple[Test, ...] = ()
    rank: Rank | None = None
    pronoun: bool = False
    restricted: bool = False
    end: int = 0
    """The position behind it."""

    @property
    def has_content(self) -> bool:
        return bool(self.names or self.tests or self.rank or self.pronoun)


def rule(parse: Callable[['Phrases', int], Reading[T]]) -> Callable[['Phrases', int], Reading[T]]:
    """Keep one reading for each end, the first found, so that no sentence takes long."""

    @functools.wraps(parse)
    def read(self: 'Phrases', i: int) -> Reading[T]:
        key = parse.__name__, i
        if key not in self.known:
            self.known[key] = {}  # what begins with itself has no reading
            found: dict[int, object] = {}
            for value, j in parse(self, i):
                found.setdefault(j, value)
            self.known[key] = dict(sorted(found.items(), reverse=True))
        yield from ((value, j) for j, value in self.known[key].items())  # type: ignore[misc]

    return read


class Phrases:
    """
    Reads the words of one clause after the other.

    Args:
        objects: The table as it was when the task was given.
        held: What was in the hand.
    """

    def __init__(self, objects: Mapping[str, TableObject], held: str | None = None):
        self.objects = objects
        self.held = held
        self.words: Sequence[str] = ()
        self.known: dict[tuple[str, int], dict[int, object]] = {}
        self.faults: list[str] = []
        """Why readings were given up, in words."""
        self.last: tuple[Select, ...] = ()
        """What `it` or `them` means."""
        self.named: set[str] = set()
        """What `other` leaves out."""
        self.recent: tuple[Select, ...] = ()
        """What `them` means where `it` is one object."""
        self.spoken_of: set[str] = set()
        """What `other` leaves out where the sentence names nothing before: of the turn before."""
        if held is not None and held in objects:
            self.last = (Select(held, (held,)),)

    def begin(self, words: Sequence[str]) -> None:
        self.words, self.known, self.faults = words, {}, []

    def word(self, i: int) -> str:
        return self.words[i] if 0 <= i < len(self.words) else ''

    def skip(self, i: int, words: Iterable[str]) -> int:
        """Return the position behind any of some words."""
        words = frozenset(words)
        while self.word(i) in words:
            i += 1
        return i

    # --- which objects ------------------------------------------------------------------------

    @rule
    def selection(self, i: int) -> Reading[tuple[Select, ...]]:
        """Read one description or several."""
        for pieces, either, j in self._pieces(i):
            if (chosen := self._resolved(pieces, either)) is not None:
                yield chosen, j
            k = self.skip(j, ('except',))
            for without, end in self.selection(k) if k == j + 1 else ():
                names = {name for select in without for name in select.names}
                whole = self._resolved(pieces, either, names)
                if any(select.vague for select in without):
                    self.faults.append('It is not clear what to leave out.')
                elif whole is not None and all(one.count is None for one in whole):
                    yield whole, end

    def _pieces(self, i: int) -> Iterator[tuple[list[Piece], bool, int]]:
        for piece, j in self.piece(i):
            yield [piece], False, j
            k = self.skip(j, CONJUNCTIONS)
            either = 'or' in self.words[j:k]
            for more, other, end in self._pieces(k) if k > j else ():
                if len(more) == 1 or other == either:
                    yield [piece, *more], either, end

    @rule
    def piece(self, i: int) -> Reading[Piece]:
        """Read one description."""
        yield from self._described(Piece(), i)

    def _described(self, piece: Piece, i: int) -> Reading[Piece]:
        word = self.word(i)
        further = replace(piece, words=(*piece.words, word))
        if piece.quantities & (ALL | OTHER):  # `all but the red one`, `the others`
            yield from self._restricted(piece, i)
        if word in A | ALL | ARTICLES | OTHER | {'both'}:
            quantities = piece.quantities | {word}
            yield from self._described(replace(further, quantities=quantities), i + 1)
        if word in NUMBERS or word.isdecimal():
            number = NUMBERS[word] if word in NUMBERS else int(word[:9])
            yield from self._described(replace(further, number=number), i + 1)
        if quality := self._quality(i):
            tests, rank, j = quality
            further = replace(
                further,
                words=(*piece.words, *self.words[i:j]),
                tests=(*piece.tests, *tests),
                rank=rank or piece.rank,
            )
            yield from self._described(further, j)
            if not _is_noun(self.word(j), self.objects):
                yield from self._restricted(further, j)
        elif word in self.objects:
            yield from self._restricted(replace(further, names=(word,)), i + 1)
        elif _singular(word) in {*KINDS, *ANY} and (piece.words or word != 'one'):
            yield from self._restricted(replace(further, noun=word), i + 1)
        elif word in PRONOUNS:
            yield from self._restricted(replace(further, pronoun=True), i + 1)

    def _quality(self, i: int) -> tuple[tuple[Test, ...], Rank | None, int] | None:
        word, j = self.word(i), i + 1
        if negated := word in ('non', 'not'):
            word, j = self.word(j), j + 1
        if word in COLORS or word in ISH:
            return (_colored(word, negated),), None, j
        adjective = word in ('left', 'right') and _is_noun(self.word(j), self.objects)
        if not negated and (word in SUPERLATIVES or adjective):
            return (), _rank(SUPERLATIVES.get(word, word)), j
        return None

    def _restricted(self, piece: Piece, i: int) -> Reading[Piece]:
        """Yield the piece, and with what restricts it: `that is not red`, `on location_A`."""
        if piece.has_content or piece.noun or piece.quantities & (ALL | OTHER):
            yield replace(piece, end=i), i
        for (test, rank), j in self.restriction(i):
            words = (*piece.words, *self.words[i:j])
            tests = piece.tests if test is None else (*piece.tests, test)
            further = replace(piece, words=words, tests=tests, rank=rank or piece.rank)
            yield from self._restricted(replace(further, restricted=True), j)

    @rule
    def restriction(self, i: int) -> Reading[tuple[Test | None, Rank | None]]:
        """Read what a description adds behind its noun."""
        also = self.word(i) == 'and' and self.word(i + 1) == 'not'
        j = self.skip(i + also, ('that', 'which'))
        j = self.skip(j, LINKS)
        linked = j > i
        negated = self.word(j) == 'not'
        j += negated
        for test, end in self._tests(j, linked or negated):
            yield (functools.partial(_fails, test) if negated else test, None), end
        j = self.skip(j, DETERMINERS) if linked else j
        if self.word(j) in SUPERLATIVES and not negated:
            way = SUPERLATIVES[self.word(j)]
            end = self.skip(j + 1, ('away',))
            yield (None, _rank(way)), end
            k = self.skip(end, ('to', 'from', 'of'))
            for rank, m in self._ranked_by(way, k) if k > end or way == 'near' else ():
                yield (None, rank), m

    def _ranked_by(self, way: str, i: int) -> Reading[Rank]:
        j = self.skip(i, DETERMINERS)
        if self.word(j) in ARM:
            yield _rank(way), j + 1
        for piece, end in [*self.piece(i)][-1:]:
            one = self._resolved([piece], False)
            if one and len(one[0].names) == 1 and (at := self.objects[one[0].names[0]].at):
                yield _rank(way, at), end

    def _tests(self, i: int, linked: bool) -> Reading[Test]:
        colors: list[Test] = []
        j = i
        while linked and (self.word(j) in COLORS or self.word(j) in ISH):
            colors.append(_colored(self.word(j), False))
            yield functools.partial(_is_any, (*colors,)), j + 1
            j = self.skip(j + 1, CONJUNCTIONS)
        if self.word(i) in ('withinreach', 'outofreach'):
            yield functools.partial(_reached, self.word(i) == 'withinreach'), i + 1
        if linked and self.word(i) == 'free':
            taken = {name for item in self.objects.values() for name in item.below}
            yield functools.partial(_is_none_of, taken), i + 1
        for place, j in self.place(i):
            test = None if place.going or place.by_m else self._test_of(place)
            if test is not None:
                yield test, j

    def _test_of(self, place: Place) -> Test | None:
        """Return what is so of an object that is at a place; None where that is not known."""
        names = [name for select in place.refs for name in select.names]
        if place.kind == 'side':
            return lambda item: item.is_on(cast('Side', place.word))
        if place.kind == 'on':
            return lambda item: not {*names}.isdisjoint(item.below)
        refs = [self.objects[name] for name in names]
        if place.kind in RELATED and all(one.at for one in refs):
            if any(select.count != 1 or select.vague for select in place.refs):
                return None
            ends = [one.at for one in refs if one.at]
            return lambda item: (
                item.name not in names and bool(item.at and stands(place.kind, item.at, ends))
            )
        return None

    def _resolved(
        self, pieces: Sequence[Piece], either: bool, left_out: Iterable[str] = ()
    ) -> tuple[Select, ...] | None:
        """Return which objects are meant; None, and a fault in words, where none can be."""
        chosen: list[Select] = []
        noun = ''
        left_out = {*left_out}
        kinds = {self.objects[name].kind for name in left_out}
        if len(kinds) == 1 and 'all' in pieces[-1].quantities:  # `all but the red cube`
            noun = next((f'{word}s' for word, kind in KINDS.items() if {kind} == kinds), '')
        for piece in reversed(pieces):  # `red and blue cubes`: the noun comes last
            noun = piece.noun or noun
            found = self._select(piece, noun, left_out)
            if found is None:
                return None
            chosen = [*found, *chosen]
        if either:
            names = tuple(dict.fromkeys(name for one in chosen for name in one.names))
            return (Select(' or '.join(one.words for one in chosen), names, 1, counted=True),)
        return tuple(chosen)

    def _select(self, piece: Piece, noun: str, left_out: set[str]) -> tuple[Select, ...] | None:
        words = spoken(
            dict.fromkeys(w for w in (*piece.words, noun) if w and w not in ARTICLES | ALL | A)
        )
        if piece.pronoun:
            if not self.last:
                self.faults.append(f"I do not know what '{words}' is.")
            is_plural = not {'them', 'those', 'these'}.isdisjoint(piece.words)
            few = len(self.last) == 1 and len(self.last[0].names) == 1
            return (self.recent if is_plural and few else ()) or self.last or None
        others = bool(piece.quantities & OTHER)
        named = set[str]()
        if others:
            named = self.named | self._mentioned(piece.end - len(piece.words)) or self.spoken_of
        names = [n for n in piece.names or self.objects if self._fits(n, piece, noun)]
        kinds = {self.objects[name].kind for one in self.last for name in one.names}
        if len(kinds) == 1 and _singular(noun) in ('one', ''):  # `the blue one`, `the others`
            alike = [name for name in names if self.objects[name].kind in kinds]
            names = alike if noun or others else names
        names = [name for name in names if name not in left_out | named]
        number, plural = piece.number, noun in PLURALS or (not noun and bool(piece.names[1:]))
        many = plural or bool(piece.quantities & (ALL | {'others', 'rest', 'remaining'}))
        if 'both' in piece.quantities:
            number = 2
        if 'some' in piece.quantities and plural:
            self.faults.append(f"'{words}' has no number: how many?")
            return None
        if piece.rank is not None:
            if many and number is None:
                self.faults.append(f"'{words}' has no number: how many?")
                return None
            rank = piece.rank
            names = sorted(names, key=lambda name: rank(self.objects[name]))[: number or 1]
        counted = number is not None or bool(piece.quantities & A)
        count = number if number is not None else None if many and not counted else 1
        if len(names) == 1:
            count = count or 1
        if not names:
            known = ', '.join(self.objects) or 'none'
            if not piece.restricted or piece.end == len(self.words):
                self.faults.append(f"There is no '{words}' in the scene. It has: {known}.")
            return None
        if count is not None and count > len(names):
            self.faults.append(f"'{words}' are more than there are: {', '.join(names)}.")
            return None
        vague = count == 1 < len(names) and not counted
        if 'both' in piece.quantities and len(names) != 2:
            self.faults.append(f"'{words}' are not two: {', '.join(names)}.")
            return None
        return (Select(words, tuple(names), count, counted=counted, vague=vague),)

    def _mentioned(self, before: int) -> set[str]:
        """Return the objects that single descriptions before a position name."""
        readings = ((piece, j) for k in range(before) for piece, j in self.piece(k))
        found = (self._resolved([piece], False) for piece, j in readings if j <= before)
        return {one.names[0] for chosen in found if chosen for one in chosen if not one.names[1:]}

    def _fits(self, name: str, piece: Piece, noun: str) -> bool:
        item = self.objects[name]
        if not piece.names:
            kind = KINDS.get(_singular(noun))
            if item.kind != kind if kind else not item.movable:
                return False
        return all(test(item) for test in piece.tests)

    # --- where --------------------------------------------------------------------------------

    @rule
    def place(self, i: int) -> Reading[Place]:
        """Read where something is to be, or is."""
        yield from self._relative(i, None)
        for by_m, j in self.length(i):
            yield from self._relative(j, by_m)
            k = self.skip(self.skip(j, ('to', 'in')), DETERMINERS)
            if self.word(k) in WAYS or self.word(k) == 'back':
                way = WAYS.get(self.word(k), 'near')
                yield Place('way', word=way, by_m=by_m), self._of_arm(k + 1)
        j = self.skip(i, ('back',))
        if self.word(i) == 'backthere':
            yield Place('back'), i + 1
        if j == i + 1:
            yield Place('back'), j
        if self.word(i) in ('aside', 'away', 'elsewhere'):
            yield Place('aside'), i + 1
        on = self._prepositions(j)
        going = not {'to', 'onto', 'into', 'over'}.isdisjoint(self.words[j:on])
        if self.word(on) == 'placeof' or (on == j and self.word(on) == 'where'):
            for refs, end in self.selection(on + 1):
                yield Place('placeof', refs), self.skip(end, LINKS)
        k = self.skip(on, DETERMINERS)
        for place, end in self._side(k):
            yield replace(place, going=going or on == j), end
        way = WAYS.get(self.word(k), '')
        if way in ('near', 'far'):
            yield Place('way', word=way), self._of_arm(k + 1)
        if on == j:
            return
        end = self.skip(k, AREA)
        if end > k:
            yield Place('table', going=going), end
        yield from self._pose(on)
        for refs, end in self.selection(on):
            movable = {self.objects[name].movable for one in refs for name in one.names}
            if len(movable) == 1:
                yield Place('on', refs, going=going), end

    def _prepositions(self, i: int) -> int:
        """Return the position behind `on`, `on top of` or `to the top of`."""
        if self.word(i) not in ON:
            return i
        j = self.skip(i, ON)
        k = self.skip(j, DETERMINERS)
        j = k + 1 if self.word(k) in ('top', 'inside') else j
        return j + (self.word(j - 1) in ('top', 'inside') and self.word(j) == 'of')

    def _of_arm(self, i: int) -> int:
        """Return the position behind `from the arm`, or `i`."""
        j = self.skip(self.skip(i, ('from', 'to')), DETERMINERS)
        return j + 1 if j > i and self.word(j) in ARM else i

    def _relative(self, i: int, by_m: float | None) -> Reading[Place]:
        kind = self.word(i)
        if kind not in RELATED:
            return
        for refs, j in self.selection(i + 1):
            if kind != 'between' and len(refs) == 1:
                yield Place(kind, refs, by_m=by_m), j
            elif kind == 'between' and by_m is None and count_of(refs) == 2:
                yield Place(kind, refs), j

    def _side(self, i: int) -> Reading[Place]:
        """Read `left side of the table` or `left`."""
        word = self.word(i)
        if word not in (*SIDES, 'other', 'opposite'):
            return
        j = self.skip(i + 1, PARTS)
        parted = j > i + 1
        end = self.skip(self.skip(j, ('of',)), DETERMINERS) if self.word(j) == 'of' else j
        area = self.skip(end, AREA)
        if area > end:
            yield Place('side', word=word), area
        if parted:
            yield Place('side', word=word), j
        elif word in ('left', 'right'):
            yield Place('side', word=word, bare=True), j
            if self.word(j) == 'by':
                for by_m, end in self.length(j + 1):
                    yield Place('way', word=word, by_m=by_m), end

    def _pose(self, i: int) -> Reading[Place]:
        j = i
        while is_number(self.word(j)):
            j += 1
        if j - i in (3, 4, 7):
            yield Place('pose', word=' '.join(self.words[i:j])), j

    @rule
    def length(self, i: int) -> Reading[float]:
        """Read `10 cm` or `a bit`."""
        j = self.skip(i, ('by', 'about'))
        word, unit = self.word(j), self.word(j + 1)
        if word == 'a' and unit in ('bit', 'little'):
            yield A_BIT_M, j + 2
        number = str(NUMBERS[word]) if word in NUMBERS else word
        if is_number(number) and unit[:1] in ('m', 'c') and unit != 'clockwise':
            (length_m,) = lengths_m(f'{number} {unit}')
            low_m, high_m = DISTANCES_M
            if not low_m <= length_m <= high_m:
                self.faults.append(f'A distance is {low_m:g} to {high_m:g} m.')
                return
            yield length_m, self.skip(j + 2, ('further', 'farther', 'more'))


def question_of(select: Select) -> AskError:
    """Return the question which of some objects is meant."""
    return AskError(f'Which {select.words} do you mean?', select.names)


def one_of(select: Select) -> str:
    """
    Return the only object that is meant.

    Raises:
        AskError: It may be any of several.
        RefusalError: Several are.
    """
    if select.vague:
        raise question_of(select)
    if select.count not in (1, None) or len(select.names) != 1:
        raise RefusalError(f"I need one object there, not '{select.words}'.")
    return select.names[0]


def count_of(refs: Iterable[Select]) -> int:
    """Return how many objects are meant."""
    return sum(len(one.names) if one.count is None else one.count for one in refs)


def _singular(word: str) -> str:
    return 'box' if word == 'boxes' else word.removesuffix('s')


def _is_noun(word: str, objects: Mapping[str, TableObject]) -> bool:
    return _singular(word) in {*KINDS, *ANY} or word in COLORS or word in objects


def _colored(word: str, negated: bool) -> Test:
    meant = ISH.get(word, {word})

    def test(item: TableObject) -> bool:
        return bool(meant & {item.color, *item.name.lower().split('_')}) is not negated

    return test


def _is_any(tests: Sequence[Test], item: TableObject) -> bool:
    return any(test(item) for test in tests)


def _fails(test: Test, item: TableObject) -> bool:
    return not test(item)


def _is_none_of(names: set[str], item: TableObject) -> bool:
    return item.name not in names


def _reached(wanted: bool, item: TableObject) -> bool:
    return item.in_reach is wanted


def _rank(way: str, at: Sequence[float] = (0.0, 0.0)) -> Rank:
    """Return by what objects are sorted so that the one meant comes first."""

    def rank(item: TableObject) -> float:
        x, y, *_ = item.at or (math.inf, math.inf)
        away = math.dist((x, y), at[:2])
        ranks = {'near': away, 'far': -away, 'left': -y, 'right': y}
        return ranks[way] if item.at and away > 0 else math.inf

    return rank
