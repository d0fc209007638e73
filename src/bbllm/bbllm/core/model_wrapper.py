"""A model around another one, which forwards whatever it does not change."""

from copy import copy
from typing import Self

from bbllm.core.prompt_size import prompt_limit
from bbllm.core.protocols import (
    ChatModel,
    ModelRequest,
    OnText,
    Reply,
    Situation,
    in_episode,
    refusal,
    streams,
)


class ModelWrapper:
    """
    A model around another one.

    A subclass extends `ask`. All else stays that of the inner model.
    """

    def __init__(self, inner: ChatModel) -> None:
        self.inner = inner
        self.name = inner.name

    @property
    def supports_schema(self) -> bool:
        # Asked anew each time: a client may learn that its server refuses schemas.
        return self.inner.supports_schema

    @property
    def prompt_limit_tokens(self) -> int | None:
        return prompt_limit(self.inner)

    @property
    def streams(self) -> bool:
        return streams(self.inner)

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer a conversation; see `ChatModel.ask`."""
        return self.inner.ask(request, on_text)

    def in_episode(self, situation: Situation) -> Self:
        """Return the same around the model for one episode; see `SituatedModel`."""
        inner = in_episode(self.inner, situation)
        if inner is self.inner:
            return self
        wrapper = copy(self)
        wrapper.inner = inner
        return wrapper

    def refusal(self, planner: str) -> str:
        """Return why the model cannot answer a planner; see `SituatedModel`."""
        return refusal(self.inner, planner)
