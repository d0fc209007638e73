"""A model that keeps an account of what it was asked and what it said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.core.model_calls import on_account
from bbllm.core.protocols import ChatModel, Embedder, Embeddings, JsonSchema, Message, Reply
from bbllm.core.tasks import plain_text
from bbllm.core.types import ModelCall


class Transcript:
    """Wraps a model for one request of a client; `calls` and `texts` belong together."""

    def __init__(self, inner: ChatModel, role: str):
        self.name = inner.name
        self.calls: list[ModelCall] = []
        self.texts: list[str] = []
        """What was answered to each call; empty where nothing was."""
        self._inner = inner
        self._role = role

    @property
    def supports_schema(self) -> bool:
        return self._inner.supports_schema

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer a conversation; see `ChatModel.complete`."""
        reply = on_account(
            lambda: self._inner.complete(messages, stop=stop, schema=schema, on_text=on_text),
            self._note,
            role=self._role,
            name=self.name,
        )
        reply = replace(reply, text=plain_text(reply.text))
        self.texts[-1] = reply.text
        return reply

    def metered(self, embedder: Embedder) -> Embedder:
        """Wrap an embedder whose requests are on the same account; they have no texts."""
        return _Metered(embedder, self._role, self._note)

    def _note(self, call: ModelCall) -> None:
        self.calls.append(call)
        self.texts.append('')


class _Metered:
    """An embedder whose every call is told."""

    def __init__(self, inner: Embedder, role: str, tell: Callable[[ModelCall], None]):
        self.name = inner.name
        self._inner = inner
        self._role = role
        self._tell = tell

    def embed(
        self, texts: Sequence[str], *, on_wait: Callable[[], None] | None = None
    ) -> Embeddings:
        return on_account(
            lambda: self._inner.embed(texts, on_wait=on_wait),
            self._tell,
            role=self._role,
            name=self.name,
        )
