"""Questions about what was done, which the turns and the record of the episode answer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bbllm.core.conversation import Move, Turn
from bbllm.core.events import Ending, Event, PlanMade, RepairBegun, StepBegun
from bbllm.core.text import listed
from bbllm.core.types import Outcome
from bbllm_bench.oracle.hints import without_hint

NOTHING_YET = 'Nothing was done in this conversation yet.'
_LAST = r'(?: (?:last|just|just now|now|before|before that|so far|in the last task))?'
_SUBJECT = r'(?:you|it|that)'


@dataclass(frozen=True)
class Recall:
    """Answers from the turns before, and from the episode under way."""

    turns: Sequence[Turn]
    names: Callable[[str], Sequence[str]]
    """Return the objects that a piece of text describes."""
    task: str = ''
    """The task under way; '' where none is."""
    events: Sequence[Event] = ()
    """What has happened in it."""

    def answer(self, text: str) -> str:
        """Return the answer to a question about the past; '' for any other text."""
        words = ' '.join(re.findall(r'\w+', text.lower().replace("n't", ' not')))
        for form, reply in _FORMS:
            if found := re.fullmatch(form, words):
                return reply(self, *found.groups())
        return ''

    # --- the parts of answers -----------------------------------------------------------------

    def _doing(self) -> str:
        if not self.task:
            return f'Nothing is under way. {self._did()}'
        plans = [e.data for e in self.events if isinstance(e.data, PlanMade)]
        begun = [e.data for e in self.events if isinstance(e.data, StepBegun)]
        if not plans:
            return f'I plan "{self.task}".'
        n_done = begun[-1].index if begun else 0
        steps = plans[-1].steps
        left = '; '.join(steps[n_done:]) or 'nothing'
        return f'The task is "{self.task}". Left of the plan: {left}.'

    def _did(self) -> str:
        if self.task:
            outcomes = [e.data for e in self.events if isinstance(e.data, Outcome)]
            done = [str(outcome.call) for outcome in outcomes if outcome.succeeded]
            return f'Of "{self.task}", done so far: {"; ".join(done) or "nothing"}.'
        if (turn := self._last()) is None:
            return NOTHING_YET
        moved = f' Moved: {"; ".join(map(_words, turn.moves))}.' if turn.moves else ''
        return f'"{turn.text}": {without_hint(turn.reply)}{moved}'

    def _moved(self) -> str:
        moved = [turn for turn in self.turns if turn.moves]
        if not moved:
            return 'Nothing was moved in this conversation yet.'
        return f'{"; ".join(map(_words, moved[-1].moves))}.'

    def _whether_moved(self, what: str) -> str:
        names = self.names(what)
        found = [m for turn in self.turns for m in turn.moves if m.name in names]
        if not names:
            return ''
        if not found:
            return f'No, {listed(names)} was not moved in this conversation.'
        return f'Yes: {"; ".join(map(_words, found))}.'

    def _was(self, what: str) -> str:
        names = self.names(what)
        found = [m for turn in self.turns for m in turn.moves if m.name in names]
        if not names:
            return ''
        if not found:
            return f'I do not know: {listed(names)} was not moved in this conversation.'
        return f'{found[-1].name} was {_spot(found[-1])} before it was moved.'

    def _why(self) -> str:
        repairs = [e.data for e in self.events if isinstance(e.data, RepairBegun)]
        if failed := [repair for repair in repairs if not repair.remarked]:
            return f'{failed[-1].text}: {failed[-1].cause}'
        if self.task:
            return f'The task is "{self.task}".'
        if (turn := self._last()) is None:
            return NOTHING_YET
        if turn.ending == Ending.FINISHED.name:
            return f'You wrote: "{turn.text}". {turn.reply}'
        return without_hint(turn.reply)

    def _asked(self) -> str:
        texts = [f'"{turn.text}"' for turn in self.turns]
        return f'You wrote: {"; ".join(texts)}.' if texts else 'You wrote nothing before this.'

    def _last(self) -> Turn | None:
        """Return the latest turn that was a task."""
        tasks = [turn for turn in self.turns if turn.ending != Ending.ANSWERED.name]
        return tasks[-1] if tasks else None


def _words(move: Move) -> str:
    return f'{move.name} from {_place(move, before=True)} to {_place(move, before=False)}'


def _place(move: Move, *, before: bool) -> str:
    spot = move.before if before else move.after
    if any(fact.predicate == 'held_by' for fact in spot.facts):
        return 'the hand'
    return listed([fact.object for fact in spot.facts]) or 'nowhere'


def _spot(move: Move) -> str:
    place = _place(move, before=True)
    return f'in {place}' if place == 'the hand' else f'on {place}'


_FORMS: Sequence[tuple[str, Callable[..., str]]] = (
    (r'what (?:did|have) you (?:do|done)' + _LAST, Recall._did),
    (r'(?:did|have) you (?:do|done) (?:it|that)|did (?:it|that) work'
     r'|are you (?:done|finished|ready)'
     r'|is (?:it|that) (?:done|finished)|what happened|did you finish', Recall._did),
    (r'what are you doing(?: now)?|what is (?:your|the) plan|what will you do(?: next)?'
     r'|what do you do next|what is next|what is left', Recall._doing),
    (r'(?:what|which \w+|which one) (?:did|have) you (?:move|moved)' + _LAST, Recall._moved),
    (r'(?:did|have) you (?:move|moved) (.+)', Recall._whether_moved),
    (rf'(?:from )?where did you (?:take|get|move|pick) (.+?)(?: from)?|where was (.+?)(?: before)?'
     rf'|what was (.+?) on(?: before)?(?: {_SUBJECT} (?:moved|took|was moved).*)?',
     lambda recall, *whats: recall._was(next(filter(None, whats)))),
    (r'why(?: not)?|why did (?:that|it|you) (?:fail|stop|not work)'
     r'|why did you (?:not )?do (?:it|that)'
     r'|why did you (?:stop|fail)|what (?:went|is|was) wrong|what failed|why is (?:that|it)'
     r'|why can(?:not| you not| not you)?.*', Recall._why),
    (r'what did i (?:say|write|ask|ask for|ask you)(?: you)?(?: before| last)?', Recall._asked),
)  # fmt: skip
"""Forms of questions, without signs and capital letters, and what answers each."""
