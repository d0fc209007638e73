"""The model calls and replies for one request of a client."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from bbllm.core.cancel import CancelToken
from bbllm.core.events import ModelCall


class Transcript:
    """The `Account` of one request; `calls` and `texts` belong together."""

    stream = False

    def __init__(self, *, keep_prompts: bool = True) -> None:
        self._keep_prompts = keep_prompts
        """Whether calls are passed on with what was sent to the model."""
        self.token = CancelToken()
        self.calls: list[ModelCall] = []
        self.texts: list[str] = []
        """What was answered to each call; empty where nothing was, or an embedder was asked."""

    def asking(self) -> AbstractContextManager[None]:
        """The client that asks has a budget, and a request has none."""
        return nullcontext()

    def add_model_call(self, call: ModelCall, text: str | None = None) -> None:
        self.calls.append(call if self._keep_prompts else replace(call, prompt=()))
        self.texts.append(text or '')
