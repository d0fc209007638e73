"""Puts a streamed reply together: ends it at a stop string, leaves out the model's reasoning."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bbllm.core.protocols import ToolCall
from bbllm.core.redaction import Redactor

_TAG = r'(think|thinking|thought|reasoning|reflection|analysis)'
_ENDS = re.compile(rf'</{_TAG}>', re.IGNORECASE)
_BEGINS = re.compile(rf'<{_TAG}>', re.IGNORECASE)


def mend(text: str) -> str:
    """
    Join the halves of characters, and put U+FFFD for a half that stands alone.

    JSON may carry half an emoji (U+D83D), where a server cut a reply between the two. No file or
    message can contain that.
    """
    return text.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace')


class ReplyText:
    """
    The text of one reply as it arrives.

    Some servers ignore `stop`, so it is enforced here too. Some leave the reasoning of a model in
    its text, between `<think>` and `</think>` or the like; where the prompt has begun it, only
    its end is there.
    """

    def __init__(self, stop: Sequence[str] = (), redactor: Redactor | None = None):
        self._stops = tuple(text for text in stop if text)
        self._redactor = redactor or Redactor()
        self._raw = ''

    @property
    def raw(self) -> str:
        return self._raw

    @property
    def received(self) -> int:
        return len(self._raw)

    @property
    def stopped(self) -> bool:
        """Whether a stop string was reached; what comes after it is ignored."""
        return bool(self._stops) and any(stop in _answer(self._raw) for stop in self._stops)

    @property
    def text(self) -> str:
        """The answer so far, up to a stop string."""
        text = _answer(self._redactor.hide_known(mend(self._raw)))
        return text[: min((at for at in map(text.find, self._stops) if at >= 0), default=None)]

    def add(self, piece: str) -> None:
        self._raw += piece


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A part of a call of a tool, as a stream has it."""

    index: int
    """Which call of the reply it belongs to."""
    name: str = ''
    arguments: str = ''


class CalledTools:
    """The calls of tools of one reply as they arrive."""

    def __init__(self, redactor: Redactor | None = None):
        self._redactor = redactor
        self._names: dict[int, str] = {}
        self._arguments: dict[int, ReplyText] = {}

    @property
    def received(self) -> int:
        texts = (*self._names.values(), *(item.raw for item in self._arguments.values()))
        return sum(map(len, texts))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far, in their order."""
        return tuple(
            ToolCall(mend(self._names[i]), self._arguments[i].text) for i in sorted(self._names)
        )

    @property
    def first_arguments(self) -> str:
        """The arguments of the first call; '' without one."""
        return self.calls[0].arguments if self._names else ''

    def add(self, pieces: Iterable[CallPiece]) -> None:
        for piece in pieces:
            # A name comes whole, and some servers repeat it with each piece.
            self._names[piece.index] = self._names.get(piece.index, '') or piece.name
            text = self._arguments.setdefault(piece.index, ReplyText((), self._redactor))
            text.add(piece.arguments)


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    reply = ReplyText(stop)
    reply.add(text)
    return reply.text


def without_reasoning(reply: str) -> str:
    """
    Return a reply without the reasoning that its model mixed into it, as `<think>...</think>`.

    A closing tag alone ends reasoning that began in the model's template, and an opening tag alone
    begins reasoning that was cut.
    """
    if '<' not in reply:
        return reply
    text = _ENDS.split(_without_pairs(reply))[-1]
    return _BEGINS.split(text)[0]


def _without_pairs(reply: str) -> str:
    """
    Leave out what stands between an opening tag and the next closing tag of its name.

    The time grows with the length of the reply alone; that of a regular expression for pairs grows
    with the square of the number of opening tags.
    """
    ends = defaultdict[str, list[re.Match[str]]](list)
    for end in _ENDS.finditer(reply):
        ends[end[1].casefold()].append(end)
    kept, at = [], 0
    for begin in _BEGINS.finditer(reply):
        same = ends[begin[1].casefold()]
        i = bisect_left(same, begin.end(), key=re.Match.start)
        if begin.start() >= at and i < len(same):
            kept.append(reply[at : begin.start()])
            at = same[i].end()
    return ''.join([*kept, reply[at:]])


def _answer(text: str) -> str:
    """Return a text without its reasoning, and without the empty lines after that."""
    rest = without_reasoning(text)
    return text if rest == text else rest.lstrip()
