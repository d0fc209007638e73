"""Puts a streamed reply together: ends it at a stop string, leaves out the model's reasoning."""

from collections.abc import Sequence

from bbllm.llm.redaction import Redactor

_OPEN, _CLOSE = '<think>', '</think>'


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

    Some servers ignore `stop`, so it is enforced here too. Some put the reasoning of a model
    before its answer, between `<think>` and `</think>`.
    """

    def __init__(self, stop: Sequence[str] = (), redactor: Redactor | None = None):
        self._stops = tuple(text for text in stop if text)
        self._redactor = redactor or Redactor()
        self._raw = ''

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


def _answer(text: str) -> str:
    """Return a text without its reasoning; without an end of that there is no answer."""
    return text.partition(_CLOSE)[2].lstrip() if text.lstrip().startswith(_OPEN) else text
