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

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from bbllm.core.arguments import DIRECTIONS, TURNS_DEG, angles_deg
from bbllm_bench.oracle.clauses import EXPLANATIONS, MAX_WORDS, clauses_of
from bbllm_bench.oracle.past import NOTHING_BEFORE, Past, undone_by
from bbllm_bench.oracle.patterns import Patterns
from bbllm_bench.oracle.phrases import Phrases, Place
from bbllm_bench.oracle.placing import Placing
from bbllm_bench.oracle.table_goals import (
    Act,
    AskError,
    RefusalError,
    Select,
    TableGoal,
    TableObject,
    Use,
)
from bbllm_bench.oracle.vocabulary import (
    ALL,
    AREA,
    ARTICLES,
    CLEAR,
    HAND_OVER,
    LOOSE,
    MAKE,
    NUMBERS,
    PICK,
    PUSH,
    PUT,
    REACH,
    SPLIT,
    STACK,
    SWAP,
    TIDY,
    TURN,
    VERBS,
    WAIT,
    is_number,
    spoken,
)

PUSHED: Mapping[str, str] = {'left': 'left', 'right': 'right', 'far': 'forward', 'near': 'back'}
"""Ways as the skill `push` takes them."""


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


class Reader(Placing, Patterns):
    """Reads one clause after the other; the parameters are those of `read_instruction`."""

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

    def _as_answered(self, question: AskError) -> list[TableGoal]:
        """Return the goals of the sentence that answers a question."""
        self.instead = self.answered(question)
        clauses = clauses_of(self.instead, self.objects)
        self._answers = {q: a for q, a in (self._answers or {}).items() if q != str(question)}
        return [goal for clause in clauses for goal in self.read(clause)]

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


_HOME = {f'{to}{place}' for to in ('', 'to ', 'back to ') for place in ('base', 'home', 'start')}
_UNDONE = {
    *('the', 'last', 'previous', 'that', 'it', 'everything', 'all', 'task', 'tasks', 'things'),
    *('moves', 'turns', 'steps'),
}
_WAITING = {'for', 'a', 'second', 'seconds', 's'}
_TURNING = {
    *('by', 'degrees', 'deg', 'clockwise', 'counterclockwise', 'anticlockwise', 'counter', 'anti')
}
