"""A model of inspect_ai behind our seam: asynchronous there, synchronous here."""

import concurrent.futures
import re
import time
from collections.abc import Sequence

from anyio import from_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelName,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema, LimitExceededError

from bbllm.core.errors import (
    BudgetError,
    CancelledError,
    EndlessReplyError,
    ModelDeclinedError,
    ModelError,
    ModelUnavailableError,
)
from bbllm.core.protocols import (
    JsonSchema,
    Message,
    ModelRequest,
    OnText,
    Reply,
    Usage,
    data_url,
)
from bbllm.llm.reply_text import cut_at_stop

SCHEMA_PROVIDERS = frozenset(
    {
        *('anthropic', 'azureai', 'google', 'grok', 'groq', 'mistral', 'openai', 'openai-api'),
        *('openrouter', 'sglang', 'vllm'),
    }
)
"""Providers whose code in inspect_ai passes a response schema on; the others drop it silently."""
STOPPED = 'inspect_ai stopped the sample: it was cancelled, or its time was up.'

_MESSAGES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    'system': ChatMessageSystem,
    'user': ChatMessageUser,
    'assistant': ChatMessageAssistant,
}
_ABOUT_SCHEMAS = re.compile(
    r'response_format|json_schema|json schema|output_format|structured.output', re.IGNORECASE
)


class InspectModel:
    """
    A ChatModel that asks a model of inspect_ai.

    `ask` belongs into a worker thread of anyio, whose event loop asks the model: with that
    the call is on the transcript of its sample, counts towards its limits and ends with it.

    Args:
        model: The model.
        temperature: Sampling temperature where the evaluation was given none; None: the server's.
    """

    def __init__(self, model: Model, *, temperature: float | None = None):
        self.name = str(model)
        self.supports_schema = ModelName(model).api in SCHEMA_PROVIDERS
        self.failure: Exception | None = None
        """What inspect_ai raised that is its own to deal with: a limit, or a server that fails."""
        self._model = model
        self._config = GenerateConfig()
        if model.config.temperature is None:
            self._config.temperature = temperature

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        begun_s = time.monotonic()
        given: list[ChatMessage] = [
            _MESSAGES[message.role](content=_content(message)) for message in request.messages
        ]
        schema = request.schema
        output = self._generate(given, request.stop, schema if self.supports_schema else None)
        text = cut_at_stop(_text(self.name, output), request.stop)
        if not text.strip():
            raise ModelError(f'{self.name} gave an empty reply.')
        return Reply(
            text=text,
            model=output.model,
            usage=_usage(output),
            duration_s=output.time or time.monotonic() - begun_s,
        )

    def _generate(
        self, messages: list[ChatMessage], stop: Sequence[str], schema: JsonSchema | None
    ) -> ModelOutput:
        config = self._config.model_copy()
        if stop:
            config.stop_seqs = list(stop)
        if schema is not None:
            held_to = JSONSchema.model_validate(schema)
            config.response_schema = ResponseSchema(name='reply', json_schema=held_to, strict=True)

        async def generate() -> ModelOutput:
            return await self._model.generate(messages, config=config)

        try:
            return from_thread.run(generate)
        except concurrent.futures.CancelledError:
            raise CancelledError(STOPPED) from None
        except LimitExceededError as error:
            self.failure = error
            raise BudgetError(f'A limit of inspect_ai was reached: {error}') from error
        except Exception as error:  # providers raise whatever their client libraries do
            if schema is None or not _ABOUT_SCHEMAS.search(str(error)):
                self.failure = error
                raise ModelUnavailableError(f'{self.name} did not answer: {error}') from error
        # Its server takes no schemas, so it is not sent one again.
        self.supports_schema = False
        return self._generate(messages, stop, None)


def _content(message: Message) -> str | list[Content]:
    if not message.images:
        return message.content
    pictures = (ContentImage(image=data_url(picture)) for picture in message.images)
    return [ContentText(text=message.content), *pictures]


def _text(name: str, output: ModelOutput) -> str:
    """Return the reply; raise ModelError where there is none to use, see `openai_chat`."""
    if output.error is not None:
        raise ModelError(f'{name} failed: {output.error}')
    if output.stop_reason in ('max_tokens', 'model_length'):
        raise EndlessReplyError(
            f'The reply of {name} did not end within its limit of tokens. Raise --max-tokens.'
        )
    if output.stop_reason == 'content_filter':
        raise ModelDeclinedError(f'{name} declined to answer: {output.completion.strip()[:300]}')
    return output.completion


def _usage(output: ModelOutput) -> Usage:
    usage = output.usage
    if usage is None:
        return Usage()
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return Usage(
        usage.input_tokens + cached,
        usage.output_tokens,
        cached_tokens=usage.input_tokens_cache_read or 0,
        reasoning_tokens=usage.reasoning_tokens or 0,
    )
