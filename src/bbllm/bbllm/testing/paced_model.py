"""A model that writes the replies of another one at the pace of a language model."""

import time
from collections.abc import Sequence
from dataclasses import replace

from bbllm.core.cancel import CancelToken
from bbllm.core.prompt_size import prompt_limit
from bbllm.core.protocols import (
    ChatModel,
    JsonSchema,
    Message,
    OnText,
    Reply,
    Situation,
    in_episode,
)
from bbllm.testing.pace import Pace, tokens_of


class PacedModel:
    """
    Streams the replies of another model at a pace, for measurements and tests without a server.

    Args:
        inner: The model that answers.
        pace: How fast its replies are written.
    """

    streams = True

    def __init__(self, inner: ChatModel, pace: Pace | None = None):
        self.name = inner.name
        self.prompt_limit_tokens = prompt_limit(inner)
        self.pace = pace or Pace()
        self._inner = inner

    @property
    def supports_schema(self) -> bool:
        return self._inner.supports_schema

    def in_episode(self, situation: Situation) -> ChatModel:
        """Return the same for a model in one episode; see `SituatedModel`."""
        return PacedModel(in_episode(self._inner, situation), self.pace)

    def refusal(self, planner: str) -> str:
        """Return why the model cannot answer a planner; see `SituatedModel`."""
        refusal = getattr(self._inner, 'refusal', None)
        return refusal(planner) if refusal is not None else ''

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        cancel: CancelToken | None = None,
    ) -> Reply:
        """Answer a conversation; see `ChatModel.complete`."""
        return self.stream(
            messages, on_text=lambda text: None, stop=stop, schema=schema, cancel=cancel
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        on_text: OnText,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        cancel: CancelToken | None = None,
    ) -> Reply:
        """Answer likewise, and pass on the reply so far; see `StreamingModel.stream`."""
        cancel, begun_s = cancel or CancelToken(), time.monotonic()
        reply = self._inner.complete(messages, stop=stop, schema=schema, cancel=cancel)
        text = reply.text
        ends = [at + 1 for at, char in enumerate(text) if char == '\n']
        for end in (*ends, len(text)):
            due_s = begun_s + self.pace.due_s(len(tokens_of(text[:end])) - 1)
            cancel.wait(max(0.0, due_s - time.monotonic()))
            if end in ends:
                on_text(text[:end])
        return replace(reply, duration_s=time.monotonic() - begun_s)
