"""Lines of a reply: what ends it, what refuses the task, and lines that are discarded."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bbllm.core.errors import AnsweredError, AskedError, GaveUpError, ParseError
from bbllm.core.events import MOST_OPTIONS, LineDiscarded

MAX_REASON = 1000
"""Maximum length of a reason; the rest is cut [characters]."""
MAX_DONE = 200
"""A longer line is more than a report that the task is done [characters]."""

_MARKS = ' \t\r>*_#`~-•'
"""What models put around a line: quotation, emphasis, headings, bullets."""
_DONE = re.compile(r'(?:all )?done\b[\s.!]*(?:\(\s*\)|\s\(.*\))?[\s.!]*', re.IGNORECASE)
_SPOKEN = re.compile(r'(ask|answer)[*_`\s]*:(.*)', re.IGNORECASE)
_NUMBERED = re.compile(r'\d{1,4}:\s')
_EXPLAINS = re.compile(r'(?:explanation|reason(?:ing)?)[*_` ]*:', re.IGNORECASE)
_LANGUAGE = re.compile(
    r'^[^\w\n]*language[*_` ]*:[^\w\n]*([A-Za-z]{2,30})[^\w\n]*$', re.IGNORECASE | re.MULTILINE
)
_OPENS = re.compile(r'`*\w*|(?:the )?(?:new )?plan[*_` ]*:', re.IGNORECASE)
"""A line that opens a block of code, or the heading of a plan."""
MAX_QUESTION = 300
"""Maximum length of a question; the rest is cut [characters]."""
MAX_OPTION = 80
_CANNOT = re.compile(r'cannot[*_`\s]*:(.+)', re.IGNORECASE)


def is_done_line(line: str) -> bool:
    """Return whether a line reports the end: `"Done"`, `# All done!`, `Done. (It is hot.)`."""
    words = line.strip(f'{_MARKS}"“”')
    return len(words) <= MAX_DONE and _DONE.fullmatch(words) is not None


def explains(line: str) -> bool:
    """Return whether a line begins the explanation of a reply: `Explanation: ...`."""
    return _EXPLAINS.match(line) is not None


def reason_of(line: str) -> str | None:
    """Return the reason of a line `cannot: <reason>`, None for any other line."""
    found = _CANNOT.fullmatch(line.strip(_MARKS))
    reason = found[1].strip(_MARKS) if found else ''
    return reason[:MAX_REASON] or None


def line_after(word: str, lines: Iterable[str]) -> str:
    """Return what stands behind `<word>:` in the last line that begins so; '' where none does."""
    begin = re.compile(rf'{word}[*_`\s]*:(.+)', re.IGNORECASE)
    found = [match[1] for line in lines if (match := begin.fullmatch(line.strip(_MARKS)))]
    return found[-1].strip(_MARKS)[:MAX_REASON] if found else ''


def refuse_if_impossible(lines: Iterable[str]) -> None:
    """Raise GaveUpError with the reason of the first line that is `cannot: <reason>`."""
    for line in lines:
        if reason := reason_of(line):
            raise GaveUpError(reason)


def language_of_reply(reply: str) -> str:
    """Return the language that a line `language: German` names; '' where none does."""
    found = _LANGUAGE.search(reply)
    return found[1].capitalize() if found else ''


def raise_if_spoken(reply: str) -> None:
    """
    Raise AskedError or AnsweredError for a reply that is a question or an answer, and no plan.

        ask: which cylinder? | white_cylinder | black_cylinder
        answer: red_cube is the heaviest of those that were weighed.

    Only the explanation of a repair may stand before it. A reply that goes on with steps is a
    plan, whose grammar reads its line `answer:`.
    """
    lines = [line.strip(_MARKS) for line in reply.split('\n')]
    lines = [line for line in lines if line]
    while lines and (
        explains(lines[0]) or _OPENS.fullmatch(lines[0]) or _LANGUAGE.fullmatch(lines[0])
    ):
        lines = lines[1:]
    found = _SPOKEN.fullmatch(lines[0]) if lines else None
    if found is None or any(map(_NUMBERED.match, lines[1:])):
        return
    if found[1].lower() == 'ask':
        question, *options = (part.strip(_MARKS) for part in found[2].split('|'))
        if not question:
            raise ParseError('The question is empty. Write `ask: <question> | <option> | ...`.')
        short = (option[:MAX_OPTION] for option in options if option)
        raise AskedError(question[:MAX_QUESTION], list(dict.fromkeys(short))[:MOST_OPTIONS])
    text = ' '.join([found[2], *lines[1:]]).strip(f'{_MARKS}')
    if not text:
        raise ParseError('The answer is empty. Write `answer: <what the person wants to know>`.')
    raise AnsweredError(text[:MAX_REASON])


class LostReplyError(ParseError):
    """A reply of which no part can be used; `discarded` has its lines that resemble one."""

    def __init__(self, message: str, discarded: Sequence[LineDiscarded] = ()):
        super().__init__(message)
        self.discarded = tuple(discarded)


class ReplyDiagnostics:
    """Reports the discarded lines of all replies to one question, repeated ones once."""

    def __init__(self, on_discarded: Callable[[LineDiscarded], None]):
        self._on_discarded = on_discarded
        self._reported: Counter[LineDiscarded] = Counter()

    def of_reply(self, lines: Iterable[LineDiscarded]) -> None:
        """Report the lines of one reply that were not as often in an earlier one."""
        found: Counter[LineDiscarded] = Counter()
        for line in lines:
            found[line] += 1
            if found[line] > self._reported[line]:
                self._on_discarded(line)
        self._reported |= found


Found = TypeVar('Found')


def reporting(
    read: Callable[[str], Found], on_discarded: Callable[[LineDiscarded], None]
) -> Callable[[str], Found]:
    """Return a reader that also reports what it discards, if it does, even of a lost reply."""
    diagnostics = ReplyDiagnostics(on_discarded)

    def counted(text: str) -> Found:
        try:
            found = read(text)
        except LostReplyError as error:
            diagnostics.of_reply(error.discarded)
            raise
        diagnostics.of_reply(getattr(found, 'discarded', ()))
        return found

    return counted
