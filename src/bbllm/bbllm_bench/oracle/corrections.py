"""
Fragments that change or repeat an earlier sentence: `no, the other one`, `the same with red`.

    correction = {opener} (replacement | "not" replacement "," replacement) {"instead"}
    repetition = "the same with" selection | selection "too" | "again"
    more       = [length] "more" [way]
    replacement = selection | place | length | clause

A fragment takes the place of that part of the sentence which it can replace: each candidate is
read again, and counts where nothing else of what it is about changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bbllm_bench.oracle.clauses import names_in
from bbllm_bench.oracle.instruction import Reader
from bbllm_bench.oracle.past import NOTHING_BEFORE, Past
from bbllm_bench.oracle.phrases import Place
from bbllm_bench.oracle.table_goals import (
    Arrange,
    AskError,
    RefusalError,
    Select,
    TableGoal,
    TableObject,
)
from bbllm_bench.oracle.vocabulary import ON, PRONOUNS, VERBS, spoken, words_of

MARKS = frozenset(
    [
        'no',
        'nope',
        'not',
        'wrong',
        'sorry',
        'stop',
        'wait',
        'actually',
        'oops',
        'rather',
        'instead',
        'meant',
        'mean',
    ]
)
"""Words that state that something is to change."""
OPENERS = MARKS - {'not', 'instead'} | {
    *('oh', 'hey', 'please', 'and', 'now', 'but', 'then', 'ok', 'okay', 'well', 'i', ',', ';'),
    *('that', 'is', 'it', 'do', 'just', 'only', 'maybe', 'better'),
}
"""Words before a fragment."""
TOO = ('too', 'also', 'as well')
MORE = frozenset({'more', 'further', 'farther'})
TAKE = frozenset({'use', 'take', 'try', 'prefer'})
AGAIN = (
    'again',
    'do it again',
    'do that again',
    'once more',
    'repeat',
    'repeat that',
    'the same again',
)
_WAY_WORDS = {'far': 'forward', 'near': 'backward'}


@dataclass(frozen=True)
class Table:
    """What a sentence is read on."""

    objects: Mapping[str, TableObject]
    held: str | None = None
    answers: Mapping[str, str] | None = field(default_factory=dict)
    past: Past = NOTHING_BEFORE

    def reader(self) -> Reader:
        return Reader(self.objects, self.held, self.answers, self.past)


@dataclass(frozen=True)
class Utterance:
    """A sentence as it is meant after all corrections, with what it asks for."""

    text: str
    table: Table
    goals: tuple[TableGoal, ...]
    dropped: tuple[str, ...] = ()
    """Objects that it was about before a correction, and is not any more."""

    @classmethod
    def read(cls, text: str, table: Table) -> 'Utterance':
        """Read a sentence; raises as `read_instruction` does."""
        reader = table.reader()
        goals = (*reader.sentence(text),)
        return cls(reader.instead or text, table, goals)

    @property
    def patients(self) -> tuple[str, ...]:
        """The objects that are to be moved or used."""
        return patients(self.goals)

    def changed(self, text: str, table: Table | None = None) -> 'Utterance':
        """Return what is meant instead."""
        new = Utterance.read(text, table or self.table)
        gone = dict.fromkeys((*self.dropped, *self.patients))
        return replace(new, dropped=tuple(name for name in gone if name not in new.patients))


def patients(goals: Sequence[TableGoal]) -> tuple[str, ...]:
    """Return the objects that some goals move; the bottom of a tower on nothing stays."""
    found: list[str] = []
    for goal in goals:
        items = goal.items
        if isinstance(goal, Arrange) and goal.shape == 'tower' and not (goal.spots or goal.side):
            items = items[1:] or items
        found += [name for item in items for name in item.names]
    return tuple(dict.fromkeys(found))


def without_openers(text: str, objects: Mapping[str, TableObject]) -> str:
    """Return a sentence without the words around it that only state a correction."""
    return spoken(_stripped(_without_too(words_of(text, objects))))


def correction(text: str, utterance: Utterance, now: Table) -> Utterance | None:
    """
    Return what is meant after a fragment; None for a text that is none.

    Args:
        text: What the person wrote.
        utterance: The sentence before it.
        now: The table on which a repetition begins.

    Raises:
        AskError: It has several readings.
        RefusalError: It is a fragment, and cannot be carried out.
    """
    return _Fragment(text, utterance, now).read()


def is_marked(text: str, objects: Mapping[str, TableObject]) -> bool:
    """Return whether a text states that something is to change or to be repeated."""
    words = words_of(text, objects)
    joined = f' {" ".join(words)} '
    repeats = 'same' in words and not {'with', 'for', 'to', 'again'}.isdisjoint(words)
    return (
        bool({*words} & (MARKS - {'not', 'wait'}) or words[:1] == ['not'] or repeats)
        or any(joined.endswith(f' {word} ') for word in TOO)
        or _plain(words) in AGAIN
        or (bool({*words} & MORE) and words[0] not in VERBS)
    )


def _plain(words: Sequence[str]) -> str:
    return ' '.join(word for word in words if word not in (',', ';', 'and', 'now', 'please'))


def _without_too(words: Sequence[str]) -> list[str]:
    joined = ' '.join(words)
    for word in TOO:
        joined = joined.removesuffix(f' {word}')
    return joined.split()


def _stripped(words: list[str]) -> list[str]:
    """Return the fragment without what only states that it is one."""
    i = 0
    while i < len(words):
        if words[i : i + 2] in (['not', 'that'], ['not', 'this'], ['not', 'there']):
            i += 2 + (words[i + 2 : i + 3] == ['one'])
        elif words[i] in OPENERS and words[i : i + 2] != ['it', 'on']:
            i += 1
        else:
            break
    words = [word for word in words[i:] if word != 'instead' or 'of' in words[i:]]
    while words and words[-1] in (';', ',', 'please', 'that', 'instead'):
        words.pop()
    return words


class _Fragment:
    def __init__(self, text: str, base: Utterance, now: Table):
        self.base, self.now = base, now
        words = words_of(text, now.objects)
        self.marked = bool({*words} & MARKS)
        self.repeats = any(f' {" ".join(words)} '.endswith(f' {word} ') for word in TOO)
        self.plain = _plain(words)
        self.words = _stripped(_without_too(words))

    def read(self) -> Utterance | None:
        words = self.words
        if self.plain in AGAIN:
            return Utterance.read(self.base.text, self.now)
        if 'same' in words and (found := self._same(words)):
            return found
        if not words:
            return None
        if MORE & {*words} and (found := self._more(words)):
            return found
        wanted, unwanted = self._exclusive(words)
        if wanted[:1] and wanted[0] in TAKE and self._selection(wanted[1:]):
            wanted = wanted[1:]
        if selects := self._selection(wanted):
            return self._exchanged(selects, unwanted)
        if wanted[:1] and wanted[0] in VERBS:
            return self._clause(wanted, unwanted)
        if unwanted and not self._is_about(unwanted):
            return None
        if (self.repeats or self.marked) and (found := self._pair(wanted)):
            return found
        return self._placed(wanted)

    # --- what it is about ---------------------------------------------------------------------

    def _exclusive(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Return what is meant and what is not: `not A, B`, `B, not A`, `B instead of A`."""
        for mark in (['instead', 'of'], ['rather', 'than'], [',', 'not'], ['and', 'not'], ['not']):
            for i in range(1, len(words)):
                if words[i : i + len(mark)] == mark:
                    return words[:i], words[i + len(mark) :]
        if words[0] == 'not':
            for between in (',', ';', 'but', 'rather'):
                if between in words:
                    i = words.index(between)
                    rest = words[i:]
                    while rest and rest[0] in (',', ';', 'but', 'rather'):
                        rest = rest[1:]
                    return rest, words[1:i]
        return words, []

    def _reader(self) -> Reader:
        last = self.base.patients or self.base.table.past.last
        past = replace(self.base.table.past, last=last)
        answers = {**(self.base.table.answers or {}), **(self.now.answers or {})}
        return replace(self.base.table, held=None, answers=answers, past=past).reader()

    def _selection(self, words: Sequence[str]) -> tuple[Select, ...]:
        """Return what a fragment selects, if it is nothing else."""
        reader = self._reader()
        reader.begin(words)
        for selects, j in reader.selection(0):
            if j == len(words):
                return selects
        if len(words) > 0 and reader.faults and not {*words} & (ON | VERBS | {'cm', 'bit'}):
            raise RefusalError(min(reader.faults, key=len))
        return ()

    def _names(self, selects: Sequence[Select]) -> list[str]:
        return [name for one in selects for name in self._certain(one)]

    def _certain(self, select: Select) -> tuple[str, ...]:
        if not select.vague:
            return select.names if select.count is None else select.names[: select.count]
        return (self._reader().certain(select).names[0],)

    # --- what it changes ----------------------------------------------------------------------

    def _exchanged(self, selects: tuple[Select, ...], unwanted: Sequence[str]) -> Utterance | None:
        """Put other objects or places where the sentence has one."""
        names = self._names(selects)
        away = self._names(self._selection(unwanted)) if unwanted else []
        found = self._candidates(names, away)
        if not found:
            return None
        by_other = any(word in ('other', 'another') for word in self.words)
        first = self.base.patients
        if len(found) > 1 and by_other:
            found = {a: text for a, text in found.items() if a in first} or found
        if len(found) > 1 and not by_other:
            text = self._answered(names, [*found.values()])
        else:
            text = next(iter(found.values()))
        return self._repeated(text) if self.repeats else self.base.changed(text)

    def _answered(self, names: Sequence[str], texts: Sequence[str]) -> str:
        question = AskError(f'What is to be done with {" and ".join(names)}?', texts)
        return self._reader().answered(question)

    def _candidates(self, names: Sequence[str], away: Sequence[str]) -> dict[str, str]:
        """Return by the object or place that would leave, the sentence with others instead."""
        reader, found = self._reader(), dict[str, str]()
        objects = self.base.table.objects
        words = words_of(self.base.text, objects)
        reader.begin(words)
        kinds = {self.now.objects[name].kind for name in names}
        mentioned = {*_mentioned(self.base.goals)}
        for i in range(len(words)):
            for selects, j in reader.selection(i):
                gone = [n for one in selects for n in one.names if n in mentioned]
                if not gone or ' '.join(gone) in found or {*gone} == {*names}:
                    continue
                if len(gone) != sum(one.count or len(one.names) for one in selects):
                    continue
                if (len(gone) > 1 and len(names) == 1) or (away and gone != away):
                    continue
                if len({objects[name].movable for name in (*gone, *names)}) > 1:
                    continue
                text = spoken([*words[:i], *' and '.join(names).split(), *words[j:]])
                if self._reads(text, mentioned - {*gone} | {*names}):
                    found[' '.join(gone)] = text
        if len(names) > 1:  # most for many: `red and blue` of `a tower of red and green`
            found = dict(sorted(found.items(), key=lambda pair: -len(pair[0].split()))[:1])
        alike = {a: x for a, x in found.items() if {objects[n].kind for n in a.split()} == kinds}
        return alike or found

    def _reads(self, text: str, mentioned: set[str]) -> bool:
        try:
            return {*_mentioned(Utterance.read(text, self.base.table).goals)} == mentioned
        except RefusalError:
            return False

    def _repeated(self, text: str) -> Utterance:
        """Return a sentence that is carried out beside the one before it."""
        new = Utterance.read(text, self.now)
        for goal in new.goals:
            for spot in goal.spots if isinstance(goal, Arrange) and goal.shape == 'spots' else ():
                on_it = [
                    x.name for x in self.now.objects.values() if spot in x.below and x.movable
                ]
                on_it += [
                    name for name in self.base.patients if spot in _mentioned(self.base.goals)
                ]
                others = [name for name in on_it if name not in new.patients]
                kind = self.now.objects[spot].kind if spot in self.now.objects else ''
                if others and kind == 'location':
                    raise RefusalError(f'{spot} is taken by {others[0]}. Name another place.')
        return new

    def _same(self, words: list[str]) -> Utterance | None:
        """Read `do the same with the blue cube`."""
        i = words.index('same')
        rest = words[i + 1 :]
        while rest and rest[0] in ('thing', 'again', 'with', 'for', 'to', 'but'):
            rest = rest[1:]
        self.repeats = True
        selects = self._selection(rest) if rest else ()
        if selects:
            return self._exchanged(selects, ())
        if found := self._pair(rest):
            return found
        return self._placed(rest) if rest else Utterance.read(self.base.text, self.now)

    def _pair(self, words: Sequence[str]) -> Utterance | None:
        """Read `the green cube on location_C` as a further sentence."""
        reader = self._reader()
        reader.begin(words)
        for _, j in reader.selection(0):
            if any(end == len(words) for _, end in reader.place(j)):
                return Utterance.read(f'put {spoken(words)}', self.now)
        return None

    # --- where it goes ------------------------------------------------------------------------

    def _it(self) -> Table:
        """Return the table on which `it` is what the sentence was about."""
        return replace(self.now, past=replace(self.now.past, last=self.base.patients))

    def _clause(self, words: Sequence[str], unwanted: Sequence[str]) -> Utterance | None:
        """Read `no, put it on location_C`, or `put the blue cube on location_B too`."""
        if self.marked and (not unwanted or self._is_about(unwanted)):
            return self.base.changed(spoken(words), self._it())
        return Utterance.read(spoken(words), self.now) if self.repeats else None

    def _is_about(self, words: Sequence[str]) -> bool:
        """Return whether words name nothing but what the sentence is about."""
        return {*names_in(spoken(words), self.now.objects)} <= {*_mentioned(self.base.goals)}

    def _placed(self, words: Sequence[str]) -> Utterance | None:
        """Read `on location_C`, `to the left` or `5 cm`."""
        others = [name for name in _mentioned(self.base.goals) if name not in self.base.patients]
        if len(others) == 1:  # `no, in front of it`
            words = [others[0] if word in PRONOUNS else word for word in words]
        reader = self._reader()
        reader.begin(words)
        whole = [place for place, j in reader.place(0) if j == len(words)]
        length = [by_m for by_m, j in reader.length(0) if j == len(words)]
        if self.marked or self.repeats or length:
            for text in self._with_place(words, whole[0] if whole else None, bool(length)):
                try:
                    new = self.base.changed(text)
                except AskError:
                    raise
                except RefusalError:
                    continue
                if new.patients == self.base.patients and new.goals != self.base.goals:
                    return new
        return self._further(f'put it {spoken(words)}') if whole else None

    def _with_place(
        self, words: Sequence[str], place: Place | None, is_length: bool
    ) -> Iterator[str]:
        """Yield the sentence with another place, or with another length."""
        reader = self._reader()
        sentence = words_of(self.base.text, self.base.table.objects)
        reader.begin(sentence)
        for i in range(1, len(sentence)):
            found = [*reader.place(i)] if place else []
            lengths = [*reader.length(i)] if is_length and not place else []
            for there, j in found:
                new = [*words]
                if there.by_m and place and place.by_m is None and place.kind in ('way', 'side'):
                    new = [f'{100 * there.by_m:g}', 'cm', *words]  # as far, another way
                yield spoken([*sentence[:i], *new, *sentence[j:]])
            for _, j in lengths:
                yield spoken([*sentence[:i], *words, *sentence[j:]])
        if place:
            yield spoken([*sentence, *words])

    def _more(self, words: Sequence[str]) -> Utterance | None:
        """Read `a bit more to the left`, `5 cm more`, `further left`."""
        rest = [word for word in words if word not in MORE]
        reader = self._reader()
        reader.begin(rest)
        if rest and any(j == len(rest) for _, j in reader.place(0)):
            return self._further(f'put it {spoken(rest)}')
        lengths = [j for _, j in reader.length(0)]
        if rest and len(rest) not in lengths:
            return None
        reader.begin(words_of(self.base.text, self.base.table.objects))
        for i in range(len(reader.words)):
            for place, _ in reader.place(i):
                side = place.word if place.kind in ('way', 'side') else ''
                if side in ('left', 'right', 'near', 'far'):
                    way = _WAY_WORDS.get(side, f'to the {side}')
                    return self._further(f'move it {spoken(rest or ["a", "bit"])} {way}')
        return None

    def _further(self, text: str) -> Utterance:
        """Return a sentence that begins where the one before it ends."""
        return Utterance.read(text, self._it())


def _mentioned(goals: Sequence[TableGoal]) -> tuple[str, ...]:
    """Return the objects and places that goals name."""
    found: list[str] = []
    for goal in goals:
        found += [name for item in goal.items for name in item.names]
        found += goal.spots if isinstance(goal, Arrange) else ()
        found += [goal.place] if not isinstance(goal, Arrange) and hasattr(goal, 'place') else ()
    return tuple(dict.fromkeys(name for name in found if name))
