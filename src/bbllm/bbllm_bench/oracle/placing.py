"""Clauses that bring objects to places: put, stack, swap, clear."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import cast

from bbllm_bench.oracle.phrases import A_WAY_M, Place, Reading
from bbllm_bench.oracle.referents import Referents
from bbllm_bench.oracle.table_goals import (
    OPPOSITE,
    RELATED,
    Arrange,
    RefusalError,
    Select,
    Side,
    TableGoal,
    TableObject,
)
from bbllm_bench.oracle.vocabulary import ARTICLES, CONJUNCTIONS, PICK, PUT, STACK, SWAP

STEPS: Mapping[str, tuple[str, float, float]] = {
    **{'left': ('left', 0.0, 1.0), 'right': ('right', 0.0, -1.0)},
    **{'far': ('far', 1.0, 0.0), 'near': ('near', -1.0, 0.0)},
    **{'leftof': ('left', 0.0, 1.0), 'rightof': ('right', 0.0, -1.0)},
    **{'behind': ('far', 1.0, 0.0), 'infront': ('near', -1.0, 0.0)},
}
"""Unit vectors of ways and relations, with the word of a condition."""

AT_M = 0.02
"""Closer than this to a location is at it [m]."""

Moves = list[tuple[tuple[Select, ...], Place]]


class Placing(Referents):
    """Reads where objects go."""

    def _put(self, verb: str) -> list[TableGoal]:
        """Read `put A on B and C on D`, `stack A on B`, `set A down`."""
        words = [word for word in self.words if word != 'down' or verb not in PUT]
        down = len(words) < len(self.words)
        self.begin(words)
        for moves in self._whole(self.moves):
            if verb in PICK and not all(place.going for _, place in moves):
                continue  # `grab the cube on location_A`
            found = [
                goal for selects, place in moves for goal in self._moved(selects, place, verb)
            ]
            if len(found) == 1 or all(found):
                return found
        for selects in self._whole(self.selection) if down else ():
            return [Arrange('free', selects)]
        return []

    def moves(self, i: int) -> Reading[Moves]:
        """Read pairs of what is moved and where to; `it` may be left out."""
        # The shortest first: `the red cube` `left of A`, not `the red cube left of A`.
        for selects, j in [*[*self.selection(i)][::-1], *([(self.last, i)] if self.last else [])]:
            if not all(self.objects[name].movable for one in selects for name in one.names):
                continue
            for place, k in self.place(j):
                chain = self._chained(selects, place, k)
                for pairs, m in chain:
                    yield pairs, m
                    n = self.skip(m, CONJUNCTIONS - {'or'})
                    for more, end in self.moves(n) if n > m else ():
                        yield [*pairs, *more], end

    def _chained(self, selects: tuple[Select, ...], place: Place, i: int) -> Reading[Moves]:
        """Read on from `A on B`: with `on C`, B is moved to C first."""
        names = [name for one in place.refs for name in one.names]
        single = len(place.refs) == 1 and all(self.objects[name].movable for name in names)
        for below, j in self.place(i) if single and place.kind == 'on' else ():
            for pairs, k in self._chained(place.refs, below, j):
                yield [*pairs, (selects, place)], k
        yield [(selects, place)], i

    def _moved(self, selects: tuple[Select, ...], place: Place, verb: str) -> list[TableGoal]:
        """Return the goals that objects are at a place."""
        kind = place.kind
        if kind == 'table':
            return [Arrange('free', tuple(map(self._off_table, selects)))]
        if kind == 'aside':
            stated = tuple(f'moved({name})' for one in selects for name in self._names(one))
            return [Arrange('free', selects, stated=stated)]
        if kind == 'pose':
            return [Arrange('spots', selects, (place.word,))]
        if kind == 'side':
            return self._to_side(selects, place)
        if kind == 'on':
            return self._onto(selects, place.refs, verb)
        if kind in RELATED and place.by_m is None:
            ends = kind == 'between'
            refs = tuple(
                name for x in place.refs for name in (self._ends(x) if ends else [self._one(x)])
            )
            if not {*refs}.isdisjoint(name for one in selects for name in one.names):
                raise RefusalError(f'{refs[0]} cannot be related to itself.')
            return [Arrange(kind, selects, refs)]
        # What is left goes to a place of its own: one object at a time.
        goals: list[TableGoal] = []
        for select in selects:
            for name in self._names(select) if kind == 'back' else (self._one(select),):
                goals.append(self._exact(replace(select, names=(name,), count=1), name, place))
        return goals

    def _off_table(self, select: Select) -> Select:
        """Return those of all objects that are not on the table itself, where some are not."""
        tables = {item.name for item in self.objects.values() if item.kind == 'fixture'}
        names = tuple(n for n in select.names if not {*self.objects[n].below} <= tables)
        return replace(select, names=names) if select.count is None and names else select

    def _to_side(self, selects: tuple[Select, ...], place: Place) -> list[TableGoal]:
        names = [name for one in selects for name in one.names]
        sides = {side for side in OPPOSITE for name in names if self.objects[name].is_on(side)}
        side = place.word
        if side in ('other', 'opposite'):
            sides -= {'near', 'far'}
            if len(sides) != 1:
                raise RefusalError('These are not all on one side. Name the side.')
            side = OPPOSITE[sides.pop()]
        elif (
            place.bare and place.going and len(names) == 1 and side in sides
        ):  # `to the left`, and it is there
            return [self._exact(selects[0], names[0], Place('way', word=side))]
        return [Arrange('side', selects, side=side)]  # type: ignore[arg-type]

    def _onto(
        self, selects: tuple[Select, ...], refs: tuple[Select, ...], verb: str
    ) -> list[TableGoal]:
        """Return a goal on locations, in a container, or on an object."""
        kinds = {self.objects[name].kind for one in refs for name in one.names}
        if all(self.objects[name].movable for one in refs for name in one.names):
            if len(refs) != 1:
                return []
            base = replace(refs[0], names=(self._one(refs[0]),), count=1, vague=False)
            return [Arrange('tower', (base, *selects))]
        if kinds == {'fixture'}:
            return [Arrange('free', selects)]
        counted = len(refs) == 1 and refs[0].count == 1 < len(refs[0].names)
        if counted and not refs[0].vague:  # `on A or B`
            among = refs[0].names
            taken = {name for item in self.objects.values() for name in item.below}
            free = [x for x in among if x not in taken and self.objects[x].in_reach is not False]
            stated = tuple(f'on({n}, {"|".join(among)})' for one in selects for n in one.names)
            return [Arrange('spots', selects, (*free, among[0])[:1], stated=stated)]
        names = tuple(name for one in refs for name in self._names(one))
        return [Arrange('tower' if verb in STACK else 'spots', selects, names)]

    def _exact(self, select: Select, name: str, place: Place) -> Arrange:
        """Return the goal that one object is at a certain point."""
        if place.kind == 'back' and name in self._earlier and name not in self.named:
            spot = self._earlier[name]
            stated = [f'on({name}, {spot})' if spot in self.objects else f'moved({name})']
        elif place.kind == 'back' and name not in self.named:
            raise RefusalError(f'I do not know where {name} was before.')
        elif place.kind == 'back':
            spot, stated = self.place_of(name), [f'not moved({name})']
        elif place.kind == 'placeof':
            other = self._one(place.refs[0])
            spot, stated = self.place_of(other), [f'at_place_of({name}, {other})']
        else:
            spot, stated = self._point(name, place)
        return Arrange('spots', (select,), (spot,), stated=tuple(stated))

    def _point(self, name: str, place: Place) -> tuple[str, list[str]]:
        """Return the pose so far from where an object is, or from another, and its conditions."""
        word, dx, dy = STEPS[place.kind if place.refs else place.word]
        base = self._one(place.refs[0]) if place.refs else name
        by_m = A_WAY_M if place.by_m is None else place.by_m
        if (at := self.objects[base].at) is None:
            raise RefusalError(f'{base} is in the hand, and has no place to start from.')
        x, y = at[0] + dx * by_m, at[1] + dy * by_m
        pose = f'{x:.3f} {y + 0.0:.3f} {self.objects[name].height / 2:.3f}'
        amount = '' if place.by_m is None else f', {100 * by_m:g} cm'
        if not place.refs:
            return pose, [f'shifted({name}, {word}{amount})']
        related = RELATED[place.kind]
        return pose, [f'{related}({name}, {base})', f'distance({name}, {base}{amount})']

    def place_of(self, name: str) -> str:
        """Return where an object was: on an object or a location, or a pose."""
        item = self.objects[name]
        if item.at is None:
            raise RefusalError(f'{name} was in the hand: I do not know where it was.')
        below = (self.objects[one] for one in item.below if one in self.objects)
        for base in below:
            at_it = base.at and math.dist(base.at[:2], item.at[:2]) < AT_M
            if base.movable or base.kind == 'container' or (base.kind == 'location' and at_it):
                return base.name
        return ' '.join(f'{part + 0.0:.3f}' for part in item.at)

    def _swap(self, verb: str) -> list[TableGoal]:
        """Read `swap A and B`, `swap A with B`, `let A and B change places`."""
        for selects, i in self.selection(0):
            j = self.skip(i, ('with', 'for'))
            more, end = next(self.selection(j), ((), i)) if j > i else ((), i)
            rest = [*self.words[end:]]
            if verb not in SWAP or rest not in ([], ['places'], ['positions'], ['around']):
                continue
            names = [name for one in (*selects, *more) for name in self._ends(one)]
            if len(names) != 2 or not all(self.objects[name].movable for name in names):
                raise RefusalError('I swap two objects with each other.')
            pairs = zip(names, names[::-1], strict=True)
            return [
                self._exact(Select(one, (one,)), one, Place('placeof', (Select(other, (other,)),)))
                for one, other in pairs
            ]
        return []

    def _clear(self, verb: str) -> list[TableGoal]:
        """Read `clear the left side`, `clear location_A`."""
        for side in self._whole(self._side, self.skip(0, ARTICLES)):
            if side.word in OPPOSITE:
                return [self._emptied(cast('Side', side.word))]
        for selects in self._whole(self.selection):
            spots = tuple(name for one in selects for name in self._names(one))
            if any(self.objects[name].kind == 'fixture' for name in spots):
                continue
            there = self._on(spots)
            pairs = ((n, spot) for one in there for n in one.names for spot in spots)
            stated = tuple(f'not on({n}, {spot})' for n, spot in pairs)
            return [Arrange('free', there, spots, stated=stated)]
        return []

    def _on(self, spots: Collection[str]) -> tuple[Select, ...]:
        return self._there(lambda item: not {*spots}.isdisjoint(item.below))

    def _emptied(self, side: Side) -> Arrange:
        """Return the goal that nothing is left on a side, nor on the line beside it."""
        far = OPPOSITE[side]
        there = self._there(lambda item: item.at is not None and not item.is_on(far))
        return Arrange('side', there, side=far)

    def _there(self, test: Callable[[TableObject], bool]) -> tuple[Select, ...]:
        names = [item.name for item in self.objects.values() if item.movable and test(item)]
        return (Select(', '.join(names), tuple(names), None),) if names else ()
