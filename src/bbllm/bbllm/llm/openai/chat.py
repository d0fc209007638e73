"""A ChatModel and an Embedder on any server that speaks OpenAI's protocols."""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ModelError
from bbllm.core.protocols import Embeddings, JsonSchema, Message, Reply, Usage
from bbllm.llm.openai.client import ModelClient, attempt_limits
from bbllm.llm.openai.failures import CutReplyError, Failure
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.reply_text import ReplyText, mend

# A refusal may be about the value of a parameter that is known, such as a prompt that is too
# long for the model; leaving the parameter out would not help then, or hide the cause.
_TOO_LONG = re.compile(r'context.{0,10}(length|window|size)|too (large|long|many)', re.IGNORECASE)
_UNKNOWN = re.compile(
    r'unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed'
    r'|invalid|does not accept|deprecated|unavailable|only the default',
    re.IGNORECASE,
)
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    'stream_options': (
        r'stream_options|include_usage',
        'does not report token usage of streams; tokens will be counted as 0',
    ),
    'response_format': (
        r'response_format|json_schema|json schema|guided|grammar|structured output',
        'does not take JSON schemas; replies are read as plain text',
    ),
    'max_completion_tokens': (
        r'max_completion_tokens',
        'does not take max_completion_tokens; no limit is sent instead',
    ),
    'max_tokens': (
        r'max_tokens',
        'does not take max_tokens; max_completion_tokens is sent instead',
    ),
    'temperature': (r'temperature', 'does not take temperature {:g}; its own is used'),
    'stop': (
        r'[\'"`]stop[\'"`]|\bstop (sequences?|strings?|parameter)|parameter:? stop\b',
        'does not take stop strings; replies are cut here instead',
    ),
    'stream': (
        r'[\'"`]stream[\'"`]|\bstreaming\b|parameter:? stream\b',
        'does not stream; replies come in one piece',
    ),
}
"""By parameter: how refusals call it, and what is different without it."""


PROBE_S = 5.0
"""Time limit of each of the two requests of a probe [s]."""
# Most tokens are three to five characters; a reply with many more than this per token of its
# limit comes from a server that ignores the limit.
_CHARACTERS_PER_TOKEN = 16
_SHORTEST_S = 0.1
"""Shortest wait for a first word [s]."""


class OpenAIChat:
    """One model on one server; `client` is one with these settings by default."""

    def __init__(self, settings: OpenAISettings, client: ModelClient | None = None):
        self.name = settings.model
        self.supports_schema = settings.use_schema is not False
        self.prompt_limit_tokens = settings.prompt_limit_tokens
        self.settings = settings
        self._client = client or ModelClient(settings)
        self._refused: set[str] = set()
        """Parameters that the server does not take; given up once, for good."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        cancel: CancelToken | None = None,
    ) -> Reply:
        """Answer a conversation; see `ChatModel.complete`."""
        return self._client.run(self._complete(messages, stop, schema), cancel)

    async def _complete(
        self, messages: Sequence[Message], stop: Sequence[str], schema: JsonSchema | None
    ) -> Reply:
        client, settings, begun_s = self._client, self.settings, time.monotonic()
        n_failed = n_empty = n_adapted = 0
        limit_s = max(settings.hang_timeout_s, self._first_s(begun_s))
        notice = asyncio.get_running_loop().call_later(
            settings.notice_s,
            client.report,
            f'Waiting for {client.label} for {settings.notice_s:g} s; time-out after '
            f'{limit_s:g} s.',
        )
        try:
            while True:
                body = self._body(stop, schema)
                first_s = self._first_s(begun_s, again=n_failed > 0)
                result = await client.attempt(self._ask(messages, stop, body, first_s, notice))
                if isinstance(result, Failure):
                    if self._adapted(result, body):
                        n_adapted += 1
                        continue
                    notice.cancel()
                    n_failed += 1
                    await client.wait_after(result, n_failed, begun_s)
                elif result.text.strip():
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
            notice.cancel()

    async def _ask(
        self,
        messages: Sequence[Message],
        stop: Sequence[str],
        body: Mapping[str, object],
        first_s: float,
        notice: asyncio.TimerHandle,
    ) -> Reply:
        settings, client = self.settings, self._client
        text = ReplyText(stop, client.redactor)
        model, usage, finish, refusal = '', Usage(), '', ''
        longest = settings.max_tokens * _CHARACTERS_PER_TOKEN
        with attempt_limits(first_s, settings.first_token_timeout_s, settings.timeout_s) as extend:
            async for piece in client.stream(messages, body, stream=self._streams):
                extend()
                notice.cancel()
                model = piece.model or model
                usage = piece.usage or usage
                finish = piece.finish or finish
                refusal += piece.refusal
                text.add(piece.text)
                if finish == 'length' or text.received > longest:
                    raise ModelError(self._endless(text))
                if text.stopped:
                    break
        if refusal:
            said = client.redactor.hide(mend(refusal).strip())[:300]
            # Not ModelRefusedError: the server serves, and the model itself declines.
            raise ModelError(f'{client.label} declined to answer: {said}')
        if finish == 'content_filter':
            raise ModelError(f'{client.label} withheld its reply: the content filter stopped it.')
        if not finish and not text.stopped:
            raise CutReplyError(f'the stream ended after {text.received} characters')
        name = client.redactor.hide(mend(model)) or self.name
        return Reply(text=text.text, model=name, usage=usage)

    def _first_s(self, begun_s: float, *, again: bool = False) -> float:
        """Return how long an attempt may take to its first word; a repeated one has less."""
        settings = self.settings
        limit_s = settings.first_token_timeout_s if self._streams else settings.timeout_s
        left_s = begun_s + settings.hang_timeout_s - time.monotonic()
        return min(limit_s, max(round(left_s, 1), _SHORTEST_S)) if again else limit_s

    @property
    def _streams(self) -> bool:
        return 'stream' not in self._refused

    def _body(self, stop: Sequence[str], schema: JsonSchema | None) -> dict[str, object]:
        limit = 'max_completion_tokens' if 'max_tokens' in self._refused else 'max_tokens'
        body: dict[str, object] = {
            'temperature': self.settings.temperature,
            limit: self.settings.max_tokens,
        }
        if stop:
            # OpenAI takes four at the most; ReplyText sees to all of them.
            body['stop'] = list(stop)[:4]
        if schema is not None and self.supports_schema:
            body['response_format'] = {
                'type': 'json_schema',
                'json_schema': {'name': 'reply', 'schema': schema, 'strict': True},
            }
        if self._streams:
            body['stream_options'] = {'include_usage': True}
        return {name: value for name, value in body.items() if name not in self._refused}

    def _adapted(self, failure: Failure, sent: Mapping[str, object]) -> bool:
        """Give up the parameter that a refusal is about; return whether it is about one."""
        name = self._blamed(failure, sent)
        if name is None or (name == 'response_format' and self.settings.use_schema is True):
            return False
        self._refused.add(name)
        self.supports_schema = self.supports_schema and name != 'response_format'
        change = _PARAMETERS[name][1].format(self.settings.temperature)
        self._client.report(f'{self._client.label} {change}.')
        return True

    def _blamed(self, failure: Failure, sent: Mapping[str, object]) -> str | None:
        if failure.status not in (400, 404, 415, 422, 501) or _TOO_LONG.search(failure.said):
            return None
        in_use = {*sent, 'stream'} - self._refused
        if failure.param and (named := failure.param.split('.')[0]) in in_use:
            return named
        if _UNKNOWN.search(failure.said):
            for name, (words, _) in _PARAMETERS.items():
                if name in in_use and re.search(words, failure.said, re.IGNORECASE):
                    return name
        return None

    def _endless(self, text: ReplyText) -> str:
        if not text.text.strip():
            return (
                f'{self._client.label} used up max_tokens = {self.settings.max_tokens} before it '
                'wrote an answer. Raise `max_tokens` in config/llm.yaml: this model thinks first.'
            )
        return (
            f'The reply of {self._client.label} did not end within max_tokens = '
            f'{self.settings.max_tokens} ({text.received} characters came). Raise `max_tokens` in '
            'config/llm.yaml if it has to be that long, or try another model.'
        )


def probe(settings: OpenAISettings) -> str:
    """
    Return a sentence that a model answers, for `bbllm doctor`; raise ModelError if it does not.

    The list of models is requested, which costs nothing, else an answer of a few tokens.
    """
    connect_s = min(settings.connect_timeout_s, PROBE_S)
    limits = {'timeout_s': PROBE_S, 'connect_timeout_s': connect_s, 'retries': 0}
    hurried = settings.model_copy(update={**limits, 'first_token_timeout_s': PROBE_S})
    client, begun_s = ModelClient(hurried), time.monotonic()
    names = client.run(client.attempt(client.models(PROBE_S)))
    spent_s = time.monotonic() - begun_s
    if isinstance(names, Failure):
        if names.status not in (404, 405, 501):
            text = f'{client.label} {names.what.rstrip(".")}. {names.hint}'
            raise names.kind(client.redactor.hide(text))
    elif settings.model in names:
        return f'{client.label} answers in {spent_s:.1f} s; the server lists {len(names)} models.'
    # No list, or one that is not complete: only an answer proves that the model is there.
    reply = OpenAIChat(hurried, client).complete([Message('user', 'Say OK.')])
    return f'{client.label} answers in {reply.duration_s:.1f} s.'


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
            while isinstance(result := await client.attempt(client.embed(batch)), Failure):
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
