"""
A small grammar of English instructions for a table: a sentence becomes goals, or a refusal.

    sentence = clause {("," | "and" | "then" | ".") clause}
    clause   = "put" selection place {"and" selection place}      | "stack" selection
             | "swap" selection                                   | "clear" (side | selection)
             | "make" {shape | material | side | order}           | "pick up" selection
             | "rotate" selection "by" degrees                    | "push" selection length way
             | "separate" selection "by shape"                    | "go home" | "wait" ...

Selections and places are those of `phrases`. It is no language model: every word of a clause has
to be read, and a sentence with a word that is not is refused by that word.
"""

import difflib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

from bbllm.core.arguments import DIRECTIONS, TURNS_DEG, angles_deg
from bbllm_bench.oracle.past import NOTHING_BEFORE, Past, undone_by
from bbllm_bench.oracle.phrases import (
    A_WAY_M,
    Phrases,
    Piece,
    Place,
    Reading,
    T,
    count_of,
    one_of,
    question_of,
)
from bbllm_bench.oracle.table_goals import (
    RELATED,
    Act,
    Arrange,
    AskError,
    RefusalError,
    Select,
    Side,
    TableGoal,
    TableObject,
    Use,
)
from bbllm_bench.oracle.vocabulary import (
    ALL,
    AREA,
    ARTICLES,
    CLEAR,
    COLOR_WORDS,
    CONJUNCTIONS,
    HAND_OVER,
    KIND_WORDS,
    LEADING,
    LOOSE,
    MAKE,
    NUMBERS,
    ON,
    PARTS,
    PICK,
    PUSH,
    PUT,
    REACH,
    SHAPES,
    SKIPPED,
    SPLIT,
    STACK,
    SWAP,
    TIDY,
    TURN,
    VERBS,
    VOCABULARY,
    WAIT,
    A,
    is_number,
    spoken,
    words_of,
)

TOPPLING = frozenset({'knock', 'topple', 'tip', 'kick', 'hit', 'throw', 'toss'})
"""Verbs that no skill of the table carries out."""
WHAT_COUNTS = ' What counts: '
"""Begins the tolerances in an instruction of a suite, which ask for nothing more; not read."""
MAX_CHARACTERS = 2000
MAX_WORDS = 60
"""Most words of a clause."""
EXPLANATIONS = (
    'a vertical and a horizontal line that meet at a right angle',
    'objects of different shapes should not be in the same part',
    'give every object a location of its own',
)
"""Clauses that only explain what was asked for before them."""
OPPOSITE: Mapping[Side, Side] = {'left': 'right', 'right': 'left', 'near': 'far', 'far': 'near'}
STEPS: Mapping[str, tuple[str, float, float]] = {
    **{'left': ('left', 0.0, 1.0), 'right': ('right', 0.0, -1.0)},
    **{'far': ('far', 1.0, 0.0), 'near': ('near', -1.0, 0.0)},
    **{'leftof': ('left', 0.0, 1.0), 'rightof': ('right', 0.0, -1.0)},
    **{'behind': ('far', 1.0, 0.0), 'infront': ('near', -1.0, 0.0)},
}
"""Unit vectors of ways and relations, with the word of a condition."""
PUSHED: Mapping[str, str] = {'left': 'left', 'right': 'right', 'far': 'forward', 'near': 'back'}
"""Ways as the skill `push` takes them."""
AT_M = 0.02
"""Closer than this to a location is at it [m]."""

Moves = list[tuple[tuple[Select, ...], Place]]


def read_instruction(
    text: str,
    objects: Mapping[str, TableObject],
    held: str | None = None,
    *,
    answers: Mapping[str, str] | None = MappingProxyType({}),
    past: Past = NOTHING_BEFORE,
) -> list[TableGoal]:
    """
    Return the goals of an instruction.

    Args:
        text: The sentence.
        objects: The table when it was given: `the nearest cube` is the one that was nearest then.
        held: What was in the hand.
        answers: What a person answered, by question. None: of several readings the first counts.
        past: The turns before it: what `it` means, and where `back` is.

    Raises:
        AskError: It has several readings.
        RefusalError: It is not understood, or names what is not there, with the words.
    """
    return Reader(objects, held, answers, past).sentence(text)


def names_in(text: str, objects: Mapping[str, TableObject]) -> list[str]:
    """Return all objects that a piece of text names or describes."""
    phrases = Phrases(objects)
    words = words_of(text[:MAX_CHARACTERS], objects)
    phrases.begin(words[:MAX_WORDS])
    found: list[str] = []
    i = 0
    while i < len(phrases.words):
        selects, i = next(phrases.selection(i), ((), i + 1))
        found += [name for select in selects for name in select.names]
    return found


def clauses_of(text: str, objects: Mapping[str, TableObject]) -> list[list[str]]:
    """
    Return the words of each clause of a sentence.

    Raises:
        RefusalError: It is too long, or a word is not in the vocabulary.
    """
    if len(text) > MAX_CHARACTERS:
        raise RefusalError(
            f'The task has {len(text)} characters; I read at most {MAX_CHARACTERS}.'
        )
    words = words_of(text.partition(WHAT_COUNTS)[0], objects)
    known = VOCABULARY | {*objects}
    unknown = [word for word in words if word not in known and word != ';' and not is_number(word)]
    if not TOPPLING.isdisjoint(unknown):
        raise RefusalError('I knock nothing over. I push: "push the red cube 5 cm back".')
    if unknown:
        close = difflib.get_close_matches(unknown[0], objects, n=1, cutoff=0.75)
        hint = f' Did you mean {close[0]}?' if close else ''
        as_written = {word.lower(): word for word in text.replace("'", ' ').split()}
        listed = ', '.join(repr(as_written.get(w, w)[:24]) for w in dict.fromkeys(unknown[:5]))
        raise RefusalError(f'I do not understand {listed}.{hint}')
    return _clauses(words)


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """Split at ends of sentences, and at `and` or a comma before a verb."""
    clauses: list[list[str]] = [[]]
    for i, word in enumerate(words):
        following = next((w for w in words[i + 1 : i + 9] if w not in LEADING | SKIPPED), '')
        if word == ';' or (word in ('and', ',', 'but') and following in VERBS):
            clauses.append([])
        elif word not in SKIPPED and (clauses[-1] or word not in LEADING):
            clauses[-1].append(word)
    for clause in clauses:
        while clause and clause[-1] in CONJUNCTIONS:
            clause.pop()
    return [clause for clause in clauses if clause]


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


class Reader(Phrases):
    """Reads one clause after the other; the parameters are those of `read_instruction`."""

    def __init__(
        self,
        objects: Mapping[str, TableObject],
        held: str | None = None,
        answers: Mapping[str, str] | None = MappingProxyType({}),
        past: Past = NOTHING_BEFORE,
    ):
        super().__init__(objects, held)
        self._answers, self._past = answers, past
        self._earlier = past.earlier
        self.spoken_of = {name for name in past.last if name in objects}
        if not self.last:
            self.last = tuple(Select(name, (name,)) for name in past.last if name in objects)
        self.recent = tuple(Select(name, (name,)) for name in past.recent if name in objects)
        self.instead = ''
        """The sentence that a person wrote in place of this one, as the answer to a question."""

    def sentence(self, text: str) -> list[TableGoal]:
        """Return the goals of a sentence; raises as `read_instruction` does."""
        goals: list[TableGoal] = []
        for clause in clauses_of(text, self.objects):
            if goals and ' '.join(clause) in EXPLANATIONS:
                continue
            found = self.read(clause)
            goals += found if found != goals[-1:] else []  # `pick it up and hold it`
        if not goals:
            raise RefusalError(f'I do not understand {text[:80]!r}.')
        return goals

    def read(self, words: list[str]) -> list[TableGoal]:
        """
        Return the goals of a clause.

        Raises:
            AskError: It has several readings.
            RefusalError: None of the forms fits, or the scene has no such object.
        """
        verb = words[0] if words[0] in VERBS else ''
        self.begin(words[1:] if verb else words)
        forms = (
            (REACH | PUT | LOOSE | WAIT | {''}, self._act),
            (TIDY | HAND_OVER, self._unclear),
            ({'undo'}, self._undo),
            (TURN, self._turn),
            (PUSH, self._push),
            (SWAP | {'let', ''}, self._swap),
            (CLEAR, self._clear),
            (PUT | PICK | STACK | MAKE | SPLIT | {''}, self._put),
            (PICK | {'', 'hold'}, self._pick),
            (MAKE | PUT | STACK, self._pattern),
            (PUT | MAKE | SPLIT | {''}, self._sides),
        )
        for verbs, form in forms:
            if verb in verbs and len(words) <= MAX_WORDS and (goals := form(verb)):
                return [self._noted(goal) for goal in goals]
        if self.faults:
            raise RefusalError(min(self.faults, key=len))
        raise RefusalError(f"I do not understand '{spoken(words)[:80]}'.")

    def _noted(self, goal: TableGoal) -> TableGoal:
        """Return a goal whose objects are certain; raises AskError where they are not."""
        items = tuple(self.certain(select) for select in goal.items)
        goal = replace(goal, items=items)
        if goal.items:
            self.last = goal.items
        self.named |= {name for one in goal.items for name in one.names if one.count != 1}
        self.named |= {one.names[0] for one in goal.items if len(one.names) == 1}
        return goal

    def resolved(self, piece: Piece) -> Select | None:
        """Return which objects one description means; None where none can be."""
        found = self._resolved([piece], either=False)
        return found[0] if found and len(found) == 1 else None

    def certain(self, select: Select) -> Select:
        """Return one certain object where one is meant; raises AskError where it is not known."""
        if not select.vague or self._answers is None:
            return select
        name = self.answered(question_of(select))
        found = [one for one in select.names if one == name] or [
            one for one in names_in(name, self.objects) if one in select.names
        ]
        if len(found) != 1:
            raise question_of(select)
        return Select(found[0], (found[0],))

    def answered(self, question: AskError) -> str:
        """Return the answer to a question; raises AskError while there is none."""
        if self._answers is None or str(question) not in self._answers:
            raise question
        return self._answers[str(question)]

    def _as_answered(self, question: AskError) -> list[TableGoal]:
        """Return the goals of the sentence that answers a question."""
        self.instead = self.answered(question)
        clauses = clauses_of(self.instead, self.objects)
        self._answers = {q: a for q, a in (self._answers or {}).items() if q != str(question)}
        return [goal for clause in clauses for goal in self.read(clause)]

    def _whole(self, rule: Callable[[int], Reading[T]], i: int = 0) -> Iterator[T]:
        """Yield the readings that end with the clause."""
        return (value for value, j in rule(i) if j == len(self.words))

    def _one(self, select: Select) -> str:
        return one_of(self.certain(select)) if self._answers is not None else select.names[0]

    # --- actions ------------------------------------------------------------------------------

    def _act(self, verb: str) -> list[TableGoal]:
        """Read `open the gripper`, `go home`, `wait 2 seconds`, `reach over location_A`."""
        text = ' '.join(word for word in self.words if word not in ARTICLES)
        if verb in ('go', 'return', 'move') and text in _HOME:
            return [Act('home')]
        if verb in LOOSE and text in ('gripper', 'hand', 'fingers'):
            return [Act('close' if verb == 'close' else 'open')]
        if verb in WAIT:
            rest = [word for word in self.words if word not in _WAITING]
            if len(rest) > 1 or any(w not in NUMBERS and not is_number(w) for w in rest):
                return []
            seconds = float(NUMBERS.get(rest[0], rest[0])) if rest else 1.0
            if not 0 < seconds <= 60:
                raise RefusalError('I can wait for more than 0 and at most 60 seconds at a time.')
            return [Act('wait', seconds=seconds)]
        i = self.skip(0, ('the', 'your', 'hand', 'arm', 'gripper'))
        if verb in REACH or (i and self.word(i - 1) in ('hand', 'arm', 'gripper')):
            for place, j in self.place(i):
                if j == len(self.words) and place.kind in ('on', 'pose'):
                    return [Act('reach', place=place.word or self._one(place.refs[0]))]
        return []

    def _unclear(self, verb: str) -> list[TableGoal]:
        """Ask what `tidy up` and `bring me the red cube` mean."""
        if verb in TIDY:
            if [word for word in self.words if word not in ARTICLES | AREA | ALL]:
                return []
            tidy = ('put all the cubes in a row', 'stack the cubes', 'sort the cubes by colour')
            return self._as_answered(AskError('What counts as tidy?', tidy))
        if verb in ('give', 'hand', 'pass', 'fetch') or 'me' in self.words or 'us' in self.words:
            words = [word for word in self.words if word not in ('me', 'us')]
            self.begin(words[:-1] if words[-1:] == ['to'] else words)
            for selects in self._whole(self.selection):
                (select,) = selects if len(selects) == 1 else (None,)
                if select is None:
                    break
                name = self._one(select)
                options = (f'pick up {name}', f'put {name} on the near side of the table')
                question = f'I do not know where you are. What shall I do with {name}?'
                return self._as_answered(AskError(question, options))
        return []

    def _undo(self, verb: str) -> list[TableGoal]:
        """Read `undo the last two`: all that the tasks before moved goes back."""
        if {*self.words} - _UNDONE - {*NUMBERS}:
            return []
        self._earlier = self._past.before(undone_by(' '.join(('undo', *self.words))))
        if not self._earlier:
            raise RefusalError('I know of no task before this one that moved anything.')
        return [self._exact(Select(name, (name,)), name, Place('back')) for name in self._earlier]

    def _turn(self, verb: str) -> list[TableGoal]:
        """Read `rotate the red cube by 45 degrees`."""
        for selects, i in self.selection(0):
            rest = [*self.words[i:]]
            if rest in (['a', 'quarter', 'turn'], ['by', 'a', 'quarter', 'turn']):
                rest = ['90', 'degrees']
            numbers = [word for word in rest if is_number(word)]
            if len(numbers) != 1 or not {*rest} <= {*numbers, *_TURNING} or len(selects) != 1:
                continue
            (turn_deg,) = angles_deg(' '.join(rest))
            if not TURNS_DEG[0] <= abs(turn_deg) <= TURNS_DEG[1]:
                raise RefusalError(f'I turn by {TURNS_DEG[0]:g} to {TURNS_DEG[1]:g} degrees.')
            items, words = self._single(selects, verb), f'by {turn_deg:g} degrees'
            item = self.objects[self._one(items[0])]
            stated, pose = f'turned({item.name}, {turn_deg:g} deg)', ''
            if item.at is not None:
                x, y, z = item.at
                pose = f'{x:.3f} {y + 0.0:.3f} {z:.3f} {item.yaw_deg + turn_deg:.1f}'
            return [Use('rotate', items, (f'{turn_deg:g}',), words, stated, instead=pose)]
        return []

    def _push(self, verb: str) -> list[TableGoal]:
        """Read `push the red cube 10 cm to the left`."""
        for selects, i in self.selection(0):
            for place in self._whole(self.place, i):
                if place.kind != 'way' or place.by_m is None:
                    continue
                way, length = PUSHED[place.word], f'{place.by_m:g}'
                dx, dy = DIRECTIONS[way]
                items = self._single(selects, verb)
                stated = f'shifted({self._one(items[0])}, {place.word})'
                shift_m = dx * place.by_m, dy * place.by_m
                return [Use('push', items, (way, length), f'{way} by {length}', stated, shift_m)]
        return []

    def _single(self, selects: tuple[Select, ...], verb: str) -> tuple[Select, ...]:
        if len(selects) != 1 or selects[0].count not in (1, None) or count_of(selects) != 1:
            words = ' and '.join(select.words for select in selects)
            raise RefusalError(f"I {verb or 'take'} one object at a time, not '{words}'.")
        return selects

    # --- objects to places --------------------------------------------------------------------

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

    def _names(self, select: Select) -> tuple[str, ...]:
        return (self._one(select),) if select.count == 1 else select.names

    def _ends(self, select: Select) -> tuple[str, ...]:
        return select.names if select.count in (2, None) else (self._one(select),)

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

    def _pick(self, verb: str) -> list[TableGoal]:
        """Read `pick up the red cube from location_A`."""
        words = [*self.words]
        if verb in PICK and 'from' in words:
            i = words.index('from')
            self.begin(
                [*words[:i], *words[i + 1 :]] if words[i + 1 : i + 2] == ['on'] else words[:i]
            )
            source = [*words[i + 1 :]]
            there = Phrases(self.objects)
            there.begin(['on', *[word for word in source if word != 'on']])
            if not any(j == len(there.words) for _, j in there.place(0)):
                return []
        if verb not in PICK:
            return []
        for selects in self._whole(self.selection):
            return [Act('pick', self._single(selects, verb))]
        return []

    # --- sides and patterns -------------------------------------------------------------------

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


_HOME = {f'{to}{place}' for to in ('', 'to ', 'back to ') for place in ('base', 'home', 'start')}
_UNDONE = {
    *('the', 'last', 'previous', 'that', 'it', 'everything', 'all', 'task', 'tasks', 'things'),
    *('moves', 'turns', 'steps'),
}
_WAITING = {'for', 'a', 'second', 'seconds', 's'}
_TURNING = {
    *('by', 'degrees', 'deg', 'clockwise', 'counterclockwise', 'anticlockwise', 'counter', 'anti')
}
_FORMED = {
    *('shape', 'shaped', 'symbol', 'letter', 'capital', 'horizontal', 'vertical', 'straight')
}
_ORDERING = ARTICLES | {
    *('ordered', 'sorted', 'arranged', 'order', 'from', 'to', 'by', 'according', 'based', 'on'),
    *('in', 'sequence', 'visible'),
}
_LEFT_TO_RIGHT = {'from left to right', 'from right to left'}
