"""
Questions about a table that the scene answers.

    question = ("which" | "what" | "how many") [selection] ["are" restriction]
             | "where is" selection | ("is" | "can you reach") selection [restriction]

What they are about is read as in `phrases`. Nothing moves for a question.
"""

import math
from collections.abc import Mapping, Sequence

from bbllm.core.text import listed
from bbllm_bench.oracle.phrases import Phrases
from bbllm_bench.oracle.table_goals import RefusalError, Select, TableObject
from bbllm_bench.oracle.vocabulary import spoken

REACH = ('withinreach', 'outofreach')
ASKING = frozenset({'what', 'which', 'where', 'how', 'is', 'are', *REACH})
"""First words of a question."""
SEEN = ('can you see', 'do you see', 'do you have')
"""Words that leave a question about the scene as it is."""
HELD = ('what do you hold', 'what are you holding', 'what is in your hand')
NOT_KNOWN = 'I do not know: the scene does not state what is within reach.'
NEAR_M = 0.1
"""Middles that are so near are beside each other [m]."""


def is_question(words: Sequence[str]) -> bool:
    """Return whether a sentence asks for something, by its first words."""
    return ' '.join(words[:3]) in SEEN or (bool(words) and words[0] in ASKING)


def answer(words: Sequence[str], objects: Mapping[str, TableObject], held: str | None) -> str:
    """
    Return what the scene shows.

    Raises:
        RefusalError: The question is not understood, or names what is not there.
    """
    return _Answers(objects, held).read([word for word in words if word != ';'])


class _Answers(Phrases):
    """Reads one question."""

    def read(self, words: Sequence[str]) -> str:
        """Return the answer; raises RefusalError."""
        text = ' '.join(words)
        targets = [x for x in self.objects.values() if x.movable or x.kind == 'location']
        if not {*REACH}.isdisjoint(words) and any(x.in_reach is None for x in targets):
            return NOT_KNOWN
        if text in HELD:
            return f'{self.held} is in the hand.' if self.held else 'The hand is empty.'
        for seen in SEEN:
            text = text.replace(seen, '')
        match text.split():
            case ['how', 'many', *rest]:
                found = self._which(rest, counts=True)
            case ['which' | 'what', *rest]:
                found = self._which(rest)
            case ['where', 'is' | 'are', *rest]:
                found = self._where(rest)
            case ['withinreach' | 'outofreach' as reach, *rest]:
                found = self._whether([*rest, reach])
            case ['is' | 'are', *rest] if rest[:1] != ['there']:
                found = self._whether(rest)
            case ['is' | 'are', *rest] | rest:
                found = self._which(rest, counts=True)
        if not found:
            unread = f"I do not understand '{spoken(words)[:80]}'."
            raise RefusalError(min(self.faults, key=len, default=unread))
        return found

    def _which(self, words: Sequence[str], *, counts: bool = False) -> str:
        """Answer `which cubes are on the left side`, `how many cubes are there`."""
        words = [word for word in words if word != 'there']
        while words[-1:] in (['is'], ['are']):
            words.pop()
        if not words or words[0] in ('is', 'are', *REACH):
            words = ['object' if words[:1] == ['is'] else 'everything', *words]
        self.begin(words)
        ends = len(words)
        for selects, j in self.selection(0):
            if j == ends:
                names = _names(selects)
                return f'{len(names)}: {listed(names)}.' if counts else f'{listed(names)}.'
        # Where nothing fits, all that the restriction is about is there.
        for _, j in self.selection(0):
            if any(test and end == ends for (test, _), end in self.restriction(j)):
                return '0: none.' if counts else 'None.'
        return ''

    def _where(self, words: Sequence[str]) -> str:
        self.begin(words)
        for selects, j in self.selection(0):
            if j == len(words):
                return ' '.join(map(self._whereabouts, _names(selects)))
        return ''

    def _whereabouts(self, name: str) -> str:
        item = self.objects[name]
        if name == self.held or item.at is None:
            return f'{name} is in the hand.'
        x, y, _ = item.at
        near = [
            other.name
            for other in self.objects.values()
            if other.movable and other.at and other is not item and other.name not in item.below
            and math.dist(other.at[:2], (x, y)) < NEAR_M
        ]  # fmt: skip
        below = f' on {listed(item.below)}' if item.below else ''
        beside = f', next to {listed(near)}' if near else ''
        side = f'{abs(y) * 100:.0f} cm to the {"left" if y > 0 else "right"}'
        return f'{name} is{below}, {x * 100:.0f} cm in front of the arm and {side}{beside}.'

    def _whether(self, words: Sequence[str]) -> str:
        """Answer `is the red cube on location_A`, `can you reach the red cube`."""
        self.begin(words)
        for selects, j in [*self.selection(0)][::-1]:
            for (test, _), end in self.restriction(j):
                if end == len(words) and test is not None:
                    names = _names(selects)
                    good = [name for name in names if test(self.objects[name])]
                    if good == names:
                        return f'Yes: {listed(names)}.'
                    no = f'{listed(names)} {"is" if len(names) == 1 else "are"} not'
                    return f'Only {listed(good)}.' if good else f'No, {no}.'
        return ''


def _names(selects: Sequence[Select]) -> list[str]:
    return [name for select in selects for name in select.names]
