"""A model that replies from a script: for tests, public like any other model."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from bbllm.core.errors import ModelError
from bbllm.core.prompt_size import most_tokens
from bbllm.core.protocols import ModelRequest, OnText, Reply, Usage
from bbllm.llm.reply_text import cut_at_stop

Answer: TypeAlias = 'str | Reply | Exception | Callable[[ModelRequest], str]'


class ScriptedModel:
    """
    Gives the replies of a list, one per request.

    A text or a Reply is answered, an exception is raised, a function is called with the
    request. Stop strings are obeyed, as with any other model. Where a text gives no usage, as many
    tokens are counted as it has at most. A request beyond the replies is an error.
    """

    def __init__(
        self,
        replies: Iterable[Answer] = (),
        *,
        name: str = 'scripted',
        supports_schema: bool = False,
        prompt_limit_tokens: int | None = None,
    ):
        self.name = name
        self.supports_schema = supports_schema
        self.prompt_limit_tokens = prompt_limit_tokens
        self.requests: list[ModelRequest] = []
        """Everything that was asked, oldest first."""
        self._replies = list(replies)

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer with the next reply; see `ChatModel.ask`."""
        self.requests.append(request)
        n_asked = len(self.requests)
        if n_asked > len(self._replies):
            raise ModelError(
                f'The scripted model was asked {n_asked} times but has {len(self._replies)} '
                f'replies. The last question ended: {request.prompt[-200:]!r}'
            )
        answer = self._replies[n_asked - 1]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        text = cut_at_stop(answer(request) if callable(answer) else answer, request.stop)
        usage = Usage(most_tokens(request.prompt), most_tokens(text))
        return Reply(text=text, model=self.name, usage=usage)
