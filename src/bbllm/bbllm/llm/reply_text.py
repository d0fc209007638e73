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
    before its answer, between `<think>` and `</think>`, which is not part of the answer.
    """

    def __init__(self, stop: Sequence[str] = (), redactor: Redactor | None = None):
        self._stops = tuple(text for text in stop if text)
        self._redactor = redactor or Redactor()
        self._pieces: list[str] = []
        self._window = ''
        """The end of the text, in which a tag or a stop string may have begun."""
        self._thinking: bool | None = None  # None until the first characters show it
        self.stopped = False
        """Whether a stop string was reached; what comes after it is ignored."""
        self.received = 0
        """Characters that came in, reasoning included."""

    @property
    def text(self) -> str:
        """The answer so far, up to a stop string."""
        text = self._redactor.hide_known(mend(''.join(self._pieces)))
        if text.lstrip().startswith(_OPEN):
            # Without an end of the reasoning there is no answer.
            text = text.partition(_CLOSE)[2].lstrip()
        return text[: min((at for at in map(text.find, self._stops) if at >= 0), default=None)]

    def add(self, piece: str) -> None:
        self.received += len(piece)
        self._pieces.append(piece)
        window = self._window + piece
        if self._thinking is None:
            start = window.lstrip()
            if _OPEN.startswith(start):
                self._window = window
                return
            self._thinking = start.startswith(_OPEN)
        if self._thinking:
            _, end, rest = window.partition(_CLOSE)
            if not end:
                self._window = window[-len(_CLOSE) :]
                return
            self._thinking, window = False, rest
        self.stopped = self.stopped or any(stop in window for stop in self._stops)
        longest = max(map(len, self._stops), default=1)
        self._window = window[len(window) - longest + 1 :] if longest <= len(window) else window
