"""What the pictures of `perception` cost where its detector asks a model."""

from contextlib import AbstractContextManager, nullcontext

from bbllm.core.cancel import CancelToken
from bbllm.core.events import ModelCall


class ModelUse:
    """The `Account` of a detector: sums, since its requests belong to no episode."""

    stream = False

    def __init__(self) -> None:
        self.token = CancelToken()
        self.requests = 0
        self.tokens = 0
        """Of prompts, pictures included, and replies, as the server counts them."""

    def asking(self) -> AbstractContextManager[None]:
        """Pictures have no budget: they are asked about as long as somebody subscribes."""
        return nullcontext()

    def add_model_call(self, call: ModelCall, text: str | None = None) -> None:
        self.requests += 1
        self.tokens += call.prompt_tokens + call.completion_tokens
