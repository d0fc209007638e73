"""A ChatModel and an Embedder on any server that speaks OpenAI's protocols."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from queue import SimpleQueue

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import (
    EndlessReplyError,
    ModelDeclinedError,
    ModelError,
    NoImagesError,
    PromptTooLongError,
)
from bbllm.core.prompt_size import fewest_tokens
from bbllm.core.protocols import Embeddings, Message, ModelRequest, OnText, Reply, Usage
from bbllm.llm.openai.client import ModelClient, attempt_limits
from bbllm.llm.openai.dialect import Dialect
from bbllm.llm.openai.failures import (
    LONGER_CONTEXT,
    WITHOUT_IMAGES,
    CutReplyError,
    Failure,
    refuses_images,
)
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.reply_text import CalledTools, ReplyText, mend

# Most tokens are three to five characters; a reply with many more than this per token of its
# limit comes from a server that ignores the limit.
_CHARACTERS_PER_TOKEN = 16
CUT_EARLY = 0.9
"""A reply that ends for its length below this share of `max_tokens` has met the end of the
context; some servers count a few tokens less, and some leave reasoning out."""
_SHORTEST_S = 0.1
"""Shortest wait for a first word [s]."""
# Servers name the ends of a reply in their own words.
_LENGTH = ('length', 'max_tokens', 'model_length')
_WITHHELD = ('content_filter', 'safety')


class OpenAIChat:
    """One model on one server; `client` is one with these settings by default."""

    def __init__(self, settings: OpenAISettings, client: ModelClient | None = None):
        self.name = settings.model
        self.prompt_limit_tokens = settings.prompt_limit_tokens
        self.settings = settings
        self._client = client or ModelClient(settings)
        self._dialect = Dialect(settings)

    @property
    def supports_schema(self) -> bool:
        return self._dialect.supports_schema

    @property
    def streams(self) -> bool:
        return self._dialect.streams

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer a conversation; see `ChatModel.ask`."""
        messages = request.messages
        pictured = any(message.images for message in messages)
        if pictured and not self.settings.images:
            raise NoImagesError(
                f'No picture was sent to {self._client.label}: its section of config/llm.yaml has '
                f'`images: no`. {WITHOUT_IMAGES}'
            )
        limit = self.prompt_limit_tokens
        fewest = sum(map(fewest_tokens, request.texts))
        if limit is not None and fewest > limit:
            settings = self.settings
            raise PromptTooLongError(
                f'The prompt for {self._client.label} has at least {fewest} tokens, but '
                f'context_tokens = {settings.context_tokens} leaves {limit} for it beside '
                f'max_tokens = {settings.max_tokens}; it was not sent. {LONGER_CONTEXT}'
            )
        calls = SimpleQueue[Callable[[], object]]()
        pass_on = None if on_text is None else lambda text: calls.put(partial(on_text, text))
        return self._client.run(self._complete(request, pass_on), request.cancel, calls=calls)

    async def _complete(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        client, begun_s = self._client, time.monotonic()
        n_failed = n_empty = n_adapted = 0
        notice: asyncio.TimerHandle | None = None
        try:
            while True:
                async with client.turns.turn() as queued_s:
                    begun_s += queued_s  # the server has no part in that wait
                    asked, body = self._dialect.request(request)
                    first_s = self._first_s(begun_s, again=n_failed > 0)
                    notice = notice or self._notice(begun_s)
                    work = self._attempt(asked, request, body, first_s, notice, on_text)
                    result = await client.attempt(work)
                if isinstance(result, Failure):
                    if refuses_images(result) and any(each.images for each in request.messages):
                        raise NoImagesError(
                            client.redactor.hide(
                                f'{client.label} takes no images: it '
                                f'{result.what.rstrip(".")}. {WITHOUT_IMAGES}'
                            )
                        )
                    if change := self._dialect.adapt(result, body):
                        client.report(f'{client.label} {change}.')
                        n_adapted += 1
                        continue
                    if self._dialect.request(request) != (asked, body):
                        n_adapted += 1  # a request beside this one has met the same refusal
                        continue
                    notice.cancel()
                    n_failed += 1
                    await client.wait_after(result, n_failed, begun_s)
                elif result.text.strip() or result.calls:
                    return replace(
                        result,
                        duration_s=time.monotonic() - begun_s,
                        retries=n_failed + n_empty + n_adapted,
                    )
                else:
                    n_empty += 1
                    if n_empty > 1:
                        raise ModelError(
                            f'{client.label} gave an empty reply {n_empty} times. Try another '
                            'model (`--brain NAME`, `--body NAME`), or raise `max_tokens` in '
                            'config/llm.yaml if it thinks before it writes.'
                        )
                    client.report(f'{client.label} gave an empty reply; asking again.')
        finally:
            if notice is not None:
                notice.cancel()

    def _notice(self, begun_s: float) -> asyncio.TimerHandle:
        """Report soon that the model is waited for, unless that is cancelled before."""
        settings, client = self.settings, self._client
        limit_s = max(settings.hang_timeout_s, self._first_s(begun_s))
        return asyncio.get_running_loop().call_later(
            settings.notice_s,
            client.report,
            f'Waiting for {client.label} for {settings.notice_s:g} s; time-out after '
            f'{limit_s:g} s.',
        )

    async def _attempt(
        self,
        messages: Sequence[Message],
        request: ModelRequest,
        body: Mapping[str, object],
        first_s: float,
        notice: asyncio.TimerHandle,
        on_text: OnText | None,
    ) -> Reply:
        settings, client = self.settings, self._client
        # The arguments of a tool are one JSON object, which no stop string may cut.
        text, calls = ReplyText(request.stop, client.redactor), CalledTools(client.redactor)
        model, usage, finish, refusal, n_reasoning = '', Usage(), '', '', 0
        longest = settings.max_tokens * _CHARACTERS_PER_TOKEN
        with attempt_limits(first_s, settings.first_token_timeout_s, settings.timeout_s) as extend:
            async for piece in client.stream(messages, body, stream=self._dialect.streams):
                extend()
                notice.cancel()
                model = piece.model or model
                usage = piece.usage or usage
                finish = piece.finish or finish
                refusal += piece.refusal
                text.add(piece.text)
                if on_text is not None and '\n' in piece.text:
                    on_text(text.text)
                calls.add(piece.calls)
                n_reasoning += piece.n_reasoning
                received = text.received + calls.received + n_reasoning
                if received > longest:
                    raise EndlessReplyError(self._endless(text, received))
                if text.stopped:
                    break
        if refusal:
            stated = client.redactor.hide(mend(refusal).strip())[:300]
            # Not ModelRefusedError: the server serves, and the model itself declines.
            raise ModelDeclinedError(f'{client.label} declined to answer: {stated}')
        if finish == 'refusal':
            raise ModelDeclinedError(f'{client.label} declined to answer, and gave no reason.')
        if finish in _WITHHELD:
            raise ModelDeclinedError(
                f"{client.label} withheld its reply: the server's content filter stopped it."
            )
        if finish in _LENGTH and not text.stopped:
            counted = usage.completion_tokens if usage.reasoning_tokens or not n_reasoning else 0
            if 0 < counted < CUT_EARLY * settings.max_tokens:
                raise PromptTooLongError(
                    f'The reply of {client.label} ended after {usage.completion_tokens} tokens, '
                    f'fewer than max_tokens = {settings.max_tokens}: the context of its server '
                    f'was full. {LONGER_CONTEXT}'
                )
            raise EndlessReplyError(self._endless(text, received))
        if not finish and not text.stopped:
            raise CutReplyError(f'the stream ended after {text.received} characters')
        name = client.redactor.hide(mend(model)) or self.name
        if request.tools:
            return Reply(text=text.text, model=name, usage=usage, calls=calls.calls)
        return Reply(text=calls.first_arguments or text.text, model=name, usage=usage)

    def _first_s(self, begun_s: float, *, again: bool = False) -> float:
        """Return how long an attempt may take to its first word; a repeated one has less."""
        settings = self.settings
        limit_s = settings.first_token_timeout_s if self._dialect.streams else settings.timeout_s
        left_s = begun_s + settings.hang_timeout_s - time.monotonic()
        return min(limit_s, max(round(left_s, 1), _SHORTEST_S)) if again else limit_s

    def _endless(self, text: ReplyText, received: int) -> str:
        if not text.text.strip():
            return (
                f'{self._client.label} used up max_tokens = {self.settings.max_tokens} before it '
                'wrote an answer. Raise `max_tokens` in config/llm.yaml, or lower `effort`: this '
                'model reasons first.'
            )
        return (
            f'The reply of {self._client.label} did not end within max_tokens = '
            f'{self.settings.max_tokens} ({received} characters came). Raise `max_tokens` in '
            'config/llm.yaml if it has to be that long, or try another model.'
        )


BATCH = 32
"""Texts in one request: local servers often accept no more by default, OpenAI 2048."""


class OpenAIEmbedder:
    """One embedding model on one server; the arguments are those of `OpenAIChat`."""

    def __init__(self, settings: OpenAISettings, client: ModelClient | None = None):
        self.name = settings.model
        self.settings = settings
        self._client = client or ModelClient(settings)

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        return self._client.run(self._embed(texts), cancel)

    async def _embed(self, texts: Sequence[str]) -> Embeddings:
        begun_s = time.monotonic()
        vectors: list[tuple[float, ...]] = []
        model, tokens, retries = self.name, 0, 0
        client = self._client
        for first in range(0, len(texts), BATCH):
            batch, batch_s, n_failed = texts[first : first + BATCH], time.monotonic(), 0
            while True:
                async with client.turns.turn() as queued_s:
                    begun_s, batch_s = begun_s + queued_s, batch_s + queued_s
                    result = await client.attempt(client.embed(batch))
                if not isinstance(result, Failure):
                    break
                n_failed += 1
                await client.wait_after(result, n_failed, batch_s)
            found, name, usage = result
            vectors += found
            model = client.redactor.hide(name) or model
            tokens += usage.prompt_tokens if usage else 0
            retries += n_failed
        if len({len(vector) for vector in vectors}) > 1:
            raise ModelError(f'{client.label} answered with vectors of several lengths.')
        return Embeddings(
            vectors=tuple(vectors),
            model=model,
            usage=Usage(prompt_tokens=tokens),
            duration_s=time.monotonic() - begun_s,
            retries=retries,
        )
