"""A model that replies from a script: for tests, public like any other model."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ModelError
from bbllm.core.prompt_size import most_tokens
from bbllm.core.protocols import JsonSchema, Message, Reply, Usage
from bbllm.core.text import without_delimiters
from bbllm.llm.reply_text import cut_at_stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model was asked."""

    messages: tuple[Message, ...]
    stop: tuple[str, ...] = ()
    schema: JsonSchema | None = None

    @property
    def prompt(self) -> str:
        """All messages as one text, for assertions; `messages` have their delimiters, too."""
        return without_delimiters('\n\n'.join(message.content for message in self.messages))


Answer: TypeAlias = 'str | Reply | Exception | Callable[[Request], str]'


class ScriptedModel:
    """
    Gives the replies of a list, one per request.

    A text or a Reply is answered, an exception is raised, a function is called with the Request.
    Stop strings are obeyed, as with any other model. Where a text gives no usage, as many tokens
    are counted as it has at most. A request beyond the replies is an error.
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
        self.requests: list[Request] = []
        """Everything that was asked, oldest first."""
        self._replies = list(replies)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        cancel: CancelToken | None = None,
    ) -> Reply:
        """Answer with the next reply; see `ChatModel.complete`."""
        request = Request(messages=tuple(messages), stop=tuple(stop), schema=schema)
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
        text = cut_at_stop(answer(request) if callable(answer) else answer, stop)
        usage = Usage(most_tokens(request.prompt), most_tokens(text))
        return Reply(text=text, model=self.name, usage=usage)
