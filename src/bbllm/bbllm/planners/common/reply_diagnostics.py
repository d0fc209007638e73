"""Lines of a model's reply that are left out, and how they are counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from bbllm.core.errors import ParseError
from bbllm.core.events import LineDiscarded
from bbllm.core.protocols import ChatModel, EpisodeContext, PromptRequest
from bbllm.core.types import Code
from bbllm.planners.common.prompting import ask

MAX_REASON = 1000
"""How much of a reason is kept [characters]."""
MAX_DONE = 200
"""A longer line says more than that all is done [characters]."""

_MARKS = ' \t\r>*_#`~-•'
"""What models put around a line: quotation, emphasis, headings, bullets."""
_DONE = re.compile(r'(?:all )?done\b[\s.!]*(?:\(\s*\)|\s\(.*\))?[\s.!]*', re.IGNORECASE)
_CANNOT = re.compile(r'cannot[*_`\s]*:(.+)', re.IGNORECASE)


def says_done(line: str) -> bool:
    """Return whether a line says that all is done: `done`, `# All done!`, `Done. (It is hot.)`."""
    words = line.strip(_MARKS)
    return len(words) <= MAX_DONE and _DONE.fullmatch(words) is not None


def reason_of(line: str) -> str | None:
    """Return why it cannot be done where a line says `cannot: <reason>`, else None."""
    found = _CANNOT.fullmatch(line.strip(_MARKS))
    reason = found[1].strip(_MARKS) if found else ''
    return reason[:MAX_REASON] or None


def more_lines(number: int) -> str:
    """Say that so many lines are left out which nobody names one by one."""
    return '1 more line' if number == 1 else f'{number} more lines'


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line of a reply that was left out."""

    text: str
    why: str
    code: Code | None = None
    """Of a line that is an action: what is wrong with its call."""
    refused: bool = False
    """Whether it can be read all the same, see `LineDiscarded`."""
    rules: tuple[str, ...] = ()
    """Of a line that is an action: the rules that it breaks, named as in `bench.faithfulness`."""

    def tell(self, context: EpisodeContext) -> None:
        """Tell that it was left out."""
        context.emit(
            LineDiscarded(
                self.text, self.why, code=self.code, rules=self.rules, refused=self.refused
            )
        )


class LostReplyError(ParseError):
    """
    A reply of which nothing can be used.

    Args:
        message: As of a ParseError.
        discarded: Its lines that look as if they were meant to be.
    """

    def __init__(self, message: str, discarded: Sequence[RejectedLine] = ()):
        super().__init__(message)
        self.discarded = tuple(discarded)


class ReplyDiagnostics:
    """
    Tells what is left out of the replies to one question.

    A model that is asked once more may repeat what it wrote, or mend it: either way that counts
    once.

    Args:
        on_discarded: Told each line.
    """

    def __init__(self, on_discarded: Callable[[RejectedLine], None]):
        self._on_discarded = on_discarded
        self._told: Counter[RejectedLine] = Counter()

    def of_reply(self, lines: Iterable[RejectedLine]) -> None:
        """Return what of one reply was not in an earlier one as often."""
        found: Counter[RejectedLine] = Counter()
        for line in lines:
            found[line] += 1
            if found[line] > self._told[line]:
                self._on_discarded(line)
        self._told |= found


class HasDiscarded(Protocol):
    """What is read of a reply line by line."""

    @property
    def discarded(self) -> tuple[RejectedLine, ...]:
        """Its lines that were left out."""
        ...


Found = TypeVar('Found', bound=HasDiscarded)


def ask_for_lines(
    model: ChatModel,
    prompt: str,
    read: Callable[[str], Found],
    *,
    on_discarded: Callable[[RejectedLine], None],
    request: PromptRequest | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> Found:
    """
    Ask as `prompting.ask` does, and tell what is left out, of a reply that is refused, too.

    Args:
        model: Who is asked.
        prompt: What it is asked.
        read: Reads a reply; raises LostReplyError where nothing of it can be used.
        on_discarded: Told each line that is left out.
        request: See `prompting.ask`.
        on_retry: See `prompting.ask`.

    Raises:
        ParseError: See `prompting.ask`.
        ModelError: No reply.
    """
    left_out = ReplyDiagnostics(on_discarded)

    def counted(text: str) -> Found:
        try:
            found = read(text)
        except LostReplyError as error:
            left_out.of_reply(error.discarded)
            raise
        left_out.of_reply(found.discarded)
        return found

    return ask(model, prompt, counted, request=request, on_retry=on_retry)
