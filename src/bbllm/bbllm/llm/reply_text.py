"""Puts a streamed reply together: ends it at a stop string, drops the model's musings."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.llm.redaction import Redactor

_OPEN, _CLOSE = '<think>', '</think>'
_HALVES = ('\ud800', '\udbff')
"""The first halves of characters that UTF-16 writes as two, least and greatest."""


def mend(text: str) -> str:
    """
    Join the halves of characters, and put U+FFFD for a half that stands alone.

    JSON may carry half an emoji (U+D83D), where a server cut a reply between the two. That is
    no text that could be written to a file or sent on.
    """
    return text.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace')


class ReplyText:
    """
    The text of one reply as it arrives.

    Some servers ignore `stop`, so it is enforced here too. Some put the reasoning of a model
    before its answer, between `<think>` and `</think>`: that is no part of the answer. Text that
    may turn out to be the start of a stop string or of a key is held back until that is settled.
    """

    def __init__(self, stop: Sequence[str] = (), redactor: Redactor | None = None):
        self._stops = tuple(text for text in stop if text)
        self._redactor = redactor or Redactor()
        self._watched = self._stops + self._redactor.watched
        self._held = ''
        self._half = ''
        self._shown: list[str] = []
        self._thinking: bool | None = None  # None until the first characters tell
        self.stopped = False
        """Whether a stop string was reached; what comes after it is ignored."""
        self.received = 0
        """Characters that came in, musings included."""

    @property
    def text(self) -> str:
        """The reply so far, without what is held back."""
        return ''.join(self._shown)

    def add(self, piece: str) -> str:
        """Take in a piece and return what may be shown of it now, maybe nothing."""
        if self.stopped:
            return ''
        self.received += len(piece)
        self._held += self._whole(piece)
        if not self._past_thoughts():
            return ''
        return self._release(final=False)

    def finish(self) -> str:
        """Return what was still held back; the reply is whole now."""
        if self.stopped:
            return ''
        if self._thinking:
            # Cut off in mid-thought: there is no answer.
            self._held = ''
        else:
            self._held += mend(self._half)
        return self._release(final=True)

    def _whole(self, piece: str) -> str:
        """Return the whole characters; half a one at the end waits for the next piece."""
        text, self._half = self._half + piece, ''
        if text and _HALVES[0] <= text[-1] <= _HALVES[1]:
            text, self._half = text[:-1], text[-1]
        return mend(text)

    def _past_thoughts(self) -> bool:
        if self._thinking is None:
            start = self._held.lstrip()
            if start.startswith(_OPEN):
                self._thinking = True
            elif _OPEN.startswith(start):
                return False
            else:
                self._thinking = False
        if self._thinking:
            _, found, rest = self._held.partition(_CLOSE)
            if not found:
                # Enough to recognise the end when it comes in two pieces.
                self._held = _OPEN + self._held[len(_OPEN) :][-len(_CLOSE) :]
                return False
            self._thinking = False
            self._held = rest.lstrip()
        return True

    def _release(self, *, final: bool) -> str:
        self._held = self._redactor.hide_known(self._held)
        cuts = [at for at in map(self._held.find, self._stops) if at >= 0]
        if cuts:
            self._held = self._held[: min(cuts)]
            self.stopped = True
        n_held = 0 if final or self.stopped else self._n_undecided()
        at = len(self._held) - n_held
        shown, self._held = self._held[:at], self._held[at:]
        if shown:
            self._shown.append(shown)
        return shown

    def _n_undecided(self) -> int:
        """Return how many characters at the end could begin a watched text."""
        longest = max((len(text) for text in self._watched), default=1) - 1
        for size in range(min(longest, len(self._held)), 0, -1):
            if any(text.startswith(self._held[-size:]) for text in self._watched):
                return size
        return 0
