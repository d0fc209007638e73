"""A model whose answer nobody has to wait for: a cancel or a lost node ends the wait at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from bbllm.core.background import Background
from bbllm.core.errors import CancelledError
from bbllm.core.prompt_size import prompt_limit
from bbllm.core.protocols import (
    ChatModel,
    JsonSchema,
    Message,
    Reply,
    SituatedModel,
    Situation,
    in_episode,
)
from bbllm.ros.rclpy_support.waiting import LOOK_S


class InterruptibleModel:
    """
    Asks another model in a thread of its own and looks meanwhile whether to go on.

    A server that hangs is otherwise waited for as long as its time-out says.

    Args:
        inner: The model that answers.
        look: Called all the time; what it raises ends the wait and goes on up.
    """

    def __init__(self, inner: ChatModel, look: Callable[[], None]):
        self.name = inner.name
        self.prompt_limit_tokens = prompt_limit(inner)
        self._inner = inner
        self._look = look

    @property
    def supports_schema(self) -> bool:
        """Whether the model honours JSON schemas, as far as it is known now."""
        return self._inner.supports_schema

    def in_episode(self, situation: Situation) -> ChatModel:
        """Return the same for a model in one episode; see `SituatedModel`."""
        return InterruptibleModel(in_episode(self._inner, situation), self._look)

    def refusal(self, planner: str) -> str:
        """Return why the model cannot answer a planner; see `SituatedModel`."""
        return self._inner.refusal(planner) if isinstance(self._inner, SituatedModel) else ''

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer a conversation; see `ChatModel.complete`."""
        abandoned = threading.Event()

        def hear(piece: str) -> None:
            if abandoned.is_set():
                raise CancelledError('Nobody waits for this answer any more.')
            if on_text is not None:
                on_text(piece)

        asked = Background(
            lambda: self._inner.complete(messages, stop=stop, schema=schema, on_text=hear), 'model'
        )
        try:
            while not asked.wait(LOOK_S):
                self._look()
        except BaseException:  # whatever ends the wait, the model is to be heard no more
            abandoned.set()
            raise
        return asked.result()
