"""Lines of a reply: what ends it, what refuses the task, and lines that are discarded."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import LineDiscarded

MAX_REASON = 1000
"""Maximum length of a reason; the rest is cut [characters]."""
MAX_DONE = 200
"""A longer line is more than a report that the task is done [characters]."""

_MARKS = ' \t\r>*_#`~-•'
"""What models put around a line: quotation, emphasis, headings, bullets."""
_DONE = re.compile(r'(?:all )?done\b[\s.!]*(?:\(\s*\)|\s\(.*\))?[\s.!]*', re.IGNORECASE)
_CANNOT = re.compile(r'cannot[*_`\s]*:(.+)', re.IGNORECASE)


def is_done_line(line: str) -> bool:
    """Return whether a line reports the end: `"Done"`, `# All done!`, `Done. (It is hot.)`."""
    words = line.strip(f'{_MARKS}"“”')
    return len(words) <= MAX_DONE and _DONE.fullmatch(words) is not None


def reason_of(line: str) -> str | None:
    """Return the reason of a line `cannot: <reason>`, None for any other line."""
    found = _CANNOT.fullmatch(line.strip(_MARKS))
    reason = found[1].strip(_MARKS) if found else ''
    return reason[:MAX_REASON] or None


def refuse_if_impossible(lines: Iterable[str]) -> None:
    """Raise GaveUpError with the reason of the first line that is `cannot: <reason>`."""
    for line in lines:
        if reason := reason_of(line):
            raise GaveUpError(reason)


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
