"""Counts what models cost, also when they fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bbllm.core.protocols import ChatModel, Embedder, Embeddings, JsonSchema, Message, Reply
from bbllm.core.types import ModelCall


class MeteredModel:
    """
    A model whose every call is told, for those who run models outside of an episode.

    Args:
        inner: The model that answers.
        role: Who asks: `brain` or `body`.
        on_call: Told each call when it ends; one that raised counts with zero tokens.
    """

    def __init__(self, inner: ChatModel, role: str, on_call: Callable[[ModelCall], None]):
        self.name = inner.name
        self.supports_schema = inner.supports_schema
        self._inner = inner
        self._role = role
        self._on_call = on_call

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer a conversation; see `ChatModel.complete`."""
        begun_s = time.monotonic()
        try:
            reply = self._inner.complete(messages, stop=stop, schema=schema, on_text=on_text)
        except BaseException:
            # Whatever ended it, a cancel or Ctrl-C too, the request was sent.
            spent_s = time.monotonic() - begun_s
            self._on_call(ModelCall(role=self._role, model=self.name, duration_s=spent_s))
            raise
        finally:
            self.supports_schema = self._inner.supports_schema
        self._on_call(
            ModelCall(
                role=self._role,
                model=reply.model,
                prompt_tokens=reply.usage.prompt_tokens,
                completion_tokens=reply.usage.completion_tokens,
                duration_s=reply.duration_s,
                retries=reply.retries,
            )
        )
        return reply


class MeteredEmbedder:
    """
    An embedder whose every call is told, for those who embed outside of an episode.

    Args:
        inner: The embedder that answers.
        role: Who asks: `body`.
        on_call: Told each call when it ends; one that raised counts with zero tokens.
    """

    def __init__(self, inner: Embedder, role: str, on_call: Callable[[ModelCall], None]):
        self.name = inner.name
        self._inner = inner
        self._role = role
        self._on_call = on_call

    def embed(
        self, texts: Sequence[str], *, on_wait: Callable[[], None] | None = None
    ) -> Embeddings:
        """Embed texts; see `Embedder.embed`."""
        begun_s = time.monotonic()
        try:
            found = self._inner.embed(texts, on_wait=on_wait)
        except BaseException:
            # As with a model: the request was sent.
            spent_s = time.monotonic() - begun_s
            self._on_call(ModelCall(role=self._role, model=self.name, duration_s=spent_s))
            raise
        self._on_call(
            ModelCall(
                role=self._role,
                model=found.model,
                prompt_tokens=found.usage.prompt_tokens,
                completion_tokens=found.usage.completion_tokens,
                duration_s=found.duration_s,
                retries=found.retries,
            )
        )
        return found
