"""What an answer to the person is worth."""

import re
from collections.abc import Iterator

from bbllm.core.events import AnswerGiven, Ending, Episode
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Spoken
from bbllm_bench.suites.scores import Condition, Score

RIGHT, WRONG, REFUSED = 'right', 'wrong', 'refused'
_REFUSES = re.compile(r'\b(do not|don.?t|cannot|can.?t) (know|tell|say)\b|\bunknown\b|not known')
"""An answer that states no fact, in lower case."""
_FACTS = re.compile(r'\([^()]*\)[\s.]*$')
"""What an answer rests on, at its end."""


def answer_of(episode: Episode) -> str | None:
    """Return what the person was told; None where the episode did not end with an answer."""
    if episode.ending is not Ending.ANSWERED:
        return None
    return ' '.join(e.data.text for e in episode.events if isinstance(e.data, AnswerGiven))


def spoken(goal: Spoken, table: Table) -> Iterator[Condition]:
    """Search the answer for what it has to contain and what it must not."""
    answer = table.answer
    fault = 'The episode did not end with an answer.' if answer is None else ''
    yield Condition('an answer', fault)
    quoted = f'The answer is {answer!r}'
    for pattern in goal.says:
        found = answer is not None and re.search(pattern, answer, re.IGNORECASE)
        yield Condition(f'says {pattern}', '' if found else f'{quoted}, without {pattern!r}.')
    for pattern in goal.never_says:
        found = re.search(pattern, _FACTS.sub('', answer or ''), re.IGNORECASE)
        yield Condition(f'never says {pattern}', f'{quoted}, with {pattern!r}.' if found else '')
    moved = filter(None, (table.moved(name, goal.still_m) for name in table.movables))
    yield Condition('nothing moved', next(moved, ''))


def answered(case: Case, answer: str | None, score: Score) -> str:
    """Return what an answer is worth: `right`, `wrong`, or `refused`; '' of another task."""
    if not isinstance(case.goal, Spoken):
        return ''
    if score.passed:
        return RIGHT
    return REFUSED if answer is None or _REFUSES.search(answer.lower()) else WRONG
