"""Clauses that build patterns of objects, or part them: towers, rows, sides."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from bbllm_bench.oracle.phrases import count_of
from bbllm_bench.oracle.referents import Referents
from bbllm_bench.oracle.table_goals import OPPOSITE, Arrange, RefusalError, Select, Side, TableGoal
from bbllm_bench.oracle.vocabulary import (
    AREA,
    ARTICLES,
    COLOR_WORDS,
    CONJUNCTIONS,
    KIND_WORDS,
    NUMBERS,
    ON,
    PARTS,
    SHAPES,
    SPLIT,
    STACK,
    A,
)


@dataclass(frozen=True)
class _Pattern:
    """What the parts of `create a row of the cubes on the left side` state so far."""

    shape: str = ''
    n_shapes: int = 1
    material: tuple[Select, ...] = ()
    side: Side | None = None
    spots: tuple[str, ...] = ()
    by_color: bool = False
    reverse: bool = False
    anywhere: bool = False
    """Whether `in the work space` was stated, which changes nothing."""


class Patterns(Referents):
    """Reads what is built, and of what."""

    def _sides(self, verb: str) -> list[TableGoal]:
        """Read `one cube and one cylinder on each side`, `segregate the objects by shape`."""
        for selects, i in self.selection(0):
            k = self.skip(i, ('from',))
            for others in self._whole(self.selection, k) if k > i and verb in SPLIT else ():
                return [Arrange('parted', (_group(selects), _group(others)))]
            for counted, apart, j in self._division(i):
                if j < len(self.words):
                    continue
                if (counted or selects) and all(one.counted for one in counted or selects):
                    return [Arrange('per side', counted or selects)] if not apart else []
                groups = self._groups(selects)
                if len(groups) == 2 and (apart or verb in SPLIT):
                    return [Arrange('parted', groups)]
        return []

    def _division(self, i: int) -> Iterator[tuple[tuple[Select, ...], bool, int]]:
        """Yield what each side gets, whether kinds are kept apart, and the position behind it."""
        j = self.skip(i, ('that', *ON))
        if (k := self._both_sides(j)) > j:
            yield (), False, k
            yield (), True, k
            m = self.skip(k, ('each', 'have', 'has', 'exactly', 'with'))
            for counted, end in self.selection(m) if m > k and j > i else ():
                yield counted, False, end
        by = self.skip(
            i, ('by', 'according', 'to', 'based', 'on', 'geometric', 'geometrical', *ARTICLES)
        )
        if by > i and self.word(by) in KIND_WORDS:
            end = self.skip(by, KIND_WORDS)
            yield (), True, end
            on = self.skip(end, ON)
            if (k := self._both_sides(on)) > on:
                yield (), True, k
        if self.word(i) in ('apart', ''):
            yield (), True, self.skip(i, ('apart',))

    def _both_sides(self, i: int) -> int:
        """Return the position behind `each side` or `the left and the right part`, or `i`."""
        j = self.skip(i, ('each', 'both', 'different', 'opposite', 'the', 'of'))
        if j > i and self.word(j) in ('side', 'sides'):
            return self._area(self.skip(j, PARTS))
        if self.word(j) not in ('left', 'right'):
            return i
        k = self.skip(j + 1, PARTS)
        m = self.skip(k, ('and', *ARTICLES))
        if self.word(k) == 'and' and {self.word(j), self.word(m)} == {'left', 'right'}:
            return self._area(self.skip(m + 1, PARTS))
        return i

    def _area(self, i: int) -> int:
        j = self.skip(self.skip(i, ('of',)), ('the', 'your', 'my'))
        end = self.skip(j, AREA)
        return end if end > j else i

    def _groups(self, selects: tuple[Select, ...]) -> tuple[Select, ...]:
        """Return the first kind among some objects, and the others."""
        kinds: dict[str, list[str]] = {}
        for name in dict.fromkeys(n for one in selects for n in one.names):
            kinds.setdefault(self.objects[name].kind, []).append(name)
        if len(kinds) < 2:
            return ()
        (first, names), *others = kinds.items()
        rest = tuple(name for _, many in others for name in many)
        return Select(f'{first}s', (*names,), None), Select('others', rest, None)

    def _pattern(self, verb: str) -> list[TableGoal]:
        """Read `create a plus sign using the cubes`, `sort the cubes by colour`."""
        begun = _Pattern(shape='tower' if verb in STACK else 'row' if verb == 'line' else '')
        for got in self._parts(0, begun):
            shape = got.shape or ('row' if got.by_color else '')
            sortable = shape in ('', 'row') or not got.by_color
            if not shape or not sortable or (got.spots and shape != 'tower'):
                continue
            items = got.material or self._cubes()
            if got.n_shapes > 1:
                return self._several(got, items)
            if shape == 'tower' and items and count_of(items) < 2:
                continue
            return [Arrange(shape, items, got.spots, got.side, got.by_color, got.reverse)]
        return []

    def _cubes(self) -> tuple[Select, ...]:
        names = tuple(item.name for item in self.objects.values() if item.kind == 'cube')
        if not names:
            raise RefusalError(
                f"There is no 'cube' in the scene. It has: {', '.join(self.objects)}."
            )
        return (Select('cubes', names, None),)

    def _several(self, got: _Pattern, items: tuple[Select, ...]) -> list[TableGoal]:
        """Return several towers of about the same height."""
        if got.shape != 'tower' or got.spots or got.side or len(items) != 1:
            return []
        counted = len(items) == 1 and items[0].count is not None
        names = [n for one in items for n in one.names if self.objects[n].in_reach is not False]
        n = (items[0].count or 1) * got.n_shapes if counted else len(names)
        if n > len(names) or n < 2 * got.n_shapes:
            raise RefusalError(
                f'{got.n_shapes} towers take at least two objects each, and {len(names)} can be '
                f'used: {", ".join(names)}.'
            )
        groups = [tuple(names[i : n : got.n_shapes]) for i in range(got.n_shapes)]
        return [Arrange('tower', (Select(', '.join(group), group, None),)) for group in groups]

    def _parts(self, i: int, got: _Pattern) -> Iterator[_Pattern]:
        """Yield what the words from a position on add to a pattern, each part once."""
        if i == len(self.words):
            yield got
            return
        if self.word(i) in CONJUNCTIONS:
            yield from self._parts(i + 1, got)
        if self.word(i) == 'highest' and got.shape in ('', 'tower'):
            yield from self._parts(i + 1, replace(got, shape='tower'))
        if not got.shape:
            for shape, n, j in self._shape(i):
                yield from self._parts(j, replace(got, shape=shape, n_shapes=n))
        if not got.by_color and (j := self._order(i)) > i:
            reverse = 'from right to' in ' '.join(self.words[i:j])
            colored = not COLOR_WORDS.isdisjoint(self.words[i:j])
            sorted_ = replace(got, by_color=got.by_color or colored, reverse=reverse)
            yield from self._parts(j, sorted_)
        for place, j in self.place(i):
            if place.kind == 'side' and got.side is None and place.word in OPPOSITE:
                yield from self._parts(j, replace(got, side=cast('Side', place.word)))
            elif place.kind == 'table' and not got.anywhere:
                yield from self._parts(j, replace(got, anywhere=True))
            elif place.kind == 'on' and not got.spots and self._is_spot(place.refs):
                yield from self._parts(j, replace(got, spots=(self._one(place.refs[0]),)))
        j = self.skip(i, ON)
        k = self.skip(self.skip(j, ('the',)), ('center', 'centre', 'middle'))
        if j > i and self.word(k - 1) in ('center', 'centre', 'middle') and not got.anywhere:
            yield from self._parts(self._area(k), replace(got, anywhere=True))
        if not got.material:
            j = self.skip(i, ('out', 'of', 'using', 'with', 'from'))
            for selects, end in reversed([*self.selection(j)]):
                if all(self.objects[name].movable for one in selects for name in one.names):
                    yield from self._parts(end, replace(got, material=selects))

    def _is_spot(self, refs: tuple[Select, ...]) -> bool:
        kinds = {self.objects[name].kind for one in refs for name in one.names}
        return len(refs) == 1 and kinds == {'location'}

    def _shape(self, i: int) -> Iterator[tuple[str, int, int]]:
        """Yield a shape, how many of it, and the position behind it: `in a straight line`."""
        j = self.skip(i, (*ON, 'as', 'form', 'make', 'build', 'create', *A, *ARTICLES, *_FORMED))
        n = 1
        if self.word(j) in NUMBERS and self.word(j + 1).removesuffix('s') in SHAPES:
            n, j = NUMBERS[self.word(j)], j + 1
        word = self.word(j)
        shape = SHAPES.get(word if n == 1 else word.removesuffix('s'))
        if shape and n > 0:
            yield shape, n, self.skip(j + 1, ('sign', *_FORMED))

    def _order(self, i: int) -> int:
        """Return the position behind `from left to right by colour`, or `i`."""
        j = self.skip(i, (*_ORDERING, *COLOR_WORDS, 'left', 'right'))
        while j > i and not (
            self.word(j - 1) in COLOR_WORDS
            or (' '.join(self.words[j - 4 : j]) in _LEFT_TO_RIGHT and j - i >= 4)
        ):
            j -= 1
        return j


def _group(selects: tuple[Select, ...]) -> Select:
    names = tuple(name for one in selects for name in one.names)
    return Select(' and '.join(one.words for one in selects), names, None)


_FORMED = {
    *('shape', 'shaped', 'symbol', 'letter', 'capital', 'horizontal', 'vertical', 'straight')
}
_ORDERING = ARTICLES | {
    *('ordered', 'sorted', 'arranged', 'order', 'from', 'to', 'by', 'according', 'based', 'on'),
    *('in', 'sequence', 'visible'),
}
_LEFT_TO_RIGHT = {'from left to right', 'from right to left'}
