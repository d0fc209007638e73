"""A model that writes the replies of another one at the pace of a language model."""

import time
from dataclasses import dataclass, replace

from bbllm.core.cancel import CancelToken
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import ChatModel, ModelRequest, OnText, Reply

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a reply is written."""

    first_token_s: float = 0.5
    """Time from the request to the first token [s]."""
    tokens_per_s: float = 40.0
    """Tokens a second after it [1/s]."""

    def due_s(self, token: int) -> float:
        """Return when a token is written, counted from 0, after the request [s]."""
        return self.first_token_s + token / self.tokens_per_s


def tokens_of(text: str) -> list[str]:
    """Cut a text into tokens, all but the last one of `CHARACTERS_PER_TOKEN` characters."""
    starts = range(0, len(text), CHARACTERS_PER_TOKEN)
    return [text[start : start + CHARACTERS_PER_TOKEN] for start in starts]


class PacedModel(ModelWrapper):
    """
    Streams the replies of another model at a pace, for measurements and tests without a server.

    Args:
        inner: The model that answers.
        pace: How fast its replies are written.
    """

    def __init__(self, inner: ChatModel, pace: Pace | None = None):
        super().__init__(inner)
        self.pace = pace or Pace()

    @property
    def streams(self) -> bool:
        return True

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer a conversation; see `ChatModel.ask`."""
        cancel, begun_s = request.cancel or CancelToken(), time.monotonic()
        reply = self.inner.ask(replace(request, cancel=cancel))
        text = reply.text
        ends = [at + 1 for at, char in enumerate(text) if char == '\n']
        for end in (*ends, len(text)):
            due_s = begun_s + self.pace.due_s(len(tokens_of(text[:end])) - 1)
            cancel.wait(max(0.0, due_s - time.monotonic()))
            if end in ends and on_text is not None:
                on_text(text[:end])
        return replace(reply, duration_s=time.monotonic() - begun_s)
