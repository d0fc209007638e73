"""
A client of one server, over asyncio, through the `openai` package.

The package's own retries are off: here a stream that was cut counts as a failure too, the reason
for a wait is reported, and an error lists what was tried. Errors are raised outside of any
`except`, so that no exception of the package, which contains the request with its headers, is
chained to them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import random
import socket
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import anyio
import openai
import pydantic

from bbllm.core.cancel import POLL_S, CancelToken
from bbllm.core.errors import ModelError
from bbllm.core.protocols import Message, Usage, data_url
from bbllm.core.redaction import Redactor, note_secrets
from bbllm.llm.openai.failures import (
    FailedReplyError,
    Failure,
    OddReplyError,
    TooLateError,
    failure_of,
    text_of,
    with_models,
)
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.openai.turns import Turns
from bbllm.llm.reply_text import CallPiece

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam

T = TypeVar('T')
Vectors = tuple[tuple[float, ...], ...]

FIRST_WAIT_S = 0.5
"""The wait after the first failure, which doubles with each more [s]."""
LONGEST_WAIT_S = 20.0
PATIENCE_S = 60.0
"""A server that asks for a longer wait than this is taken for one that refuses [s]."""
# These log request options, URLs and headers, which a server may have put the key into.
_CHATTY = ('openai', 'httpx', 'httpx2', 'httpcore', 'httpcore2')
# The SDK insists on a key; a server that wants none ignores it.
_NO_KEY = 'none'

log_warning = logging.getLogger(__name__).warning


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a reply."""

    text: str = ''
    calls: tuple[CallPiece, ...] = ()
    """Of tools."""
    n_reasoning: int = 0
    """Length of reasoning that came in a field of its own, which is no part of the reply
    [characters]."""
    refusal: str = ''
    """The model's own words where it declines."""
    finish: str = ''
    """Why the reply ended, in the last piece: `stop`, `length`, `tool_calls`, `content_filter`."""
    model: str = ''
    usage: Usage | None = None


class ModelClient:
    """
    Requests to one model on one server, sent again where that may help.

    The event loop runs in a background thread, which starts with the first request and ends with
    the client. The thread is a daemon and so are its name queries, so that a server or a name
    server that hangs does not delay the exit. `report` is called with one sentence when an attempt
    failed or the model is waited for.
    """

    def __init__(
        self,
        settings: OpenAISettings,
        *,
        sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep,
        report: Callable[[str], None] = log_warning,
    ):
        self.settings = settings
        self.redactor = Redactor(settings.secrets)
        note_secrets(settings.secrets)
        self.report = report
        self.turns = Turns(settings)
        """What a request waits for before it is sent, where the settings limit requests."""
        self.label = self.redactor.hide(f'{settings.model} at {settings.host}')
        """The model as sentences name it."""
        self._sleep = sleep
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cleanup = AsyncExitStack()

    def run(
        self,
        work: Coroutine[Any, Any, T],
        cancel: CancelToken | None = None,
        *,
        calls: SimpleQueue[Callable[[], object]] | None = None,
    ) -> T:
        """
        Return the result of a coroutine in the client's thread; cancel it if told to.

        What the coroutine puts into *calls* is called meanwhile, in the thread of the caller.
        """
        calls = SimpleQueue() if calls is None else calls
        try:
            if cancel is not None:
                cancel.raise_if_cancelled()  # before the thread can send anything
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, self._started_loop())
        future.add_done_callback(lambda _: calls.put(lambda: None))
        try:
            while not (future.done() and calls.empty()):
                if cancel is not None:
                    cancel.raise_if_cancelled()
                with suppress(Empty):
                    calls.get(timeout=POLL_S)()
        except BaseException:  # Ctrl-C too
            future.cancel()
            raise
        return future.result()

    async def attempt(self, work: Coroutine[Any, Any, T]) -> T | Failure:
        """Await one request; return a Failure without secrets, unless it raises ModelError."""
        try:
            _ = self._sdk  # made before a time limit begins: it takes a while
            return await work
        except ModelError:
            raise
        except Exception as error:  # the SDK raises more than it documents
            # Its text may hold the key.
            return failure_of(error, self.settings, self.redactor)

    async def wait_after(self, failure: Failure, n_failed: int, begun_s: float) -> None:
        """Wait until another attempt makes sense, else raise ModelError."""
        settings = self.settings
        too_long = failure.wait_s is not None and failure.wait_s > PATIENCE_S
        spent_s = time.monotonic() - begun_s
        wait_s = wait_before(n_failed, failure.wait_s)
        if failure.wait_s is not None and not too_long:
            await self.turns.hold(failure.wait_s)
        # A server that answers is asked as often as `retries` says, one that hangs is not.
        hangs = not failure.status and spent_s + wait_s >= settings.hang_timeout_s
        if failure.retry and not too_long and not hangs and n_failed <= settings.retries:
            self.report(
                f'{self.label} {failure.what}; trying again in {wait_s:.1f} s '
                f'({n_failed} of {settings.retries}).'
            )
            await self._sleep(wait_s)
            return
        if failure.status == 404:
            failure = with_models(failure, settings, await self._models_or_none())
        tried = f' (asked {n_failed} times in {spent_s:.1f} s)' if n_failed > 1 else ''
        text = f'{self.label} {failure.what.rstrip(".")}{tried}.'
        if too_long:
            text += f' It asks to wait {failure.wait_s:.0f} s, which is too long.'
        raise failure.kind(self.redactor.hide(f'{text} {failure.hint}'.strip()))

    async def stream(
        self, messages: Sequence[Message], body: Mapping[str, object], *, stream: bool
    ) -> AsyncIterator[Piece]:
        """Send one chat request, with more parameters in *body*, and yield its reply."""
        detail = self.settings.image_detail
        asked = [cast('ChatCompletionMessageParam', _sent(item, detail)) for item in messages]
        model, completions = self.settings.model, self._sdk.chat.completions
        if not stream:
            raw = await completions.with_raw_response.create(
                model=model, messages=asked, stream=False, extra_body=dict(body)
            )
            yield _whole(raw.content)
            return
        async with await completions.create(
            model=model, messages=asked, stream=True, extra_body=dict(body)
        ) as chunks:
            kind = chunks.response.headers.get('content-type', '')
            if kind.startswith('application/json'):
                # It ignored `stream`; the reply is all there, but the SDK looks for events.
                yield _whole(await chunks.response.aread())
                return
            if kind.startswith('text/html'):
                raise OddReplyError('answered with a web page instead of a reply')
            async for chunk in chunks:
                yield _piece(chunk)

    async def embed(self, texts: Sequence[str]) -> tuple[Vectors, str, Usage | None]:
        """Return one vector for each text, the server's name of the model, and what it counted."""
        limit_s = self.settings.timeout_s
        with attempt_limits(limit_s, limit_s, limit_s):
            raw = await self._sdk.embeddings.with_raw_response.create(
                # By default the SDK asks for base64, which few servers but OpenAI's support.
                model=self.settings.model,
                input=list(texts),
                encoding_format='float',
            )
        try:
            answer = _Vectors.model_validate_json(raw.content)
        except pydantic.ValidationError:
            stated = _beginning(raw.content)
            raise OddReplyError(
                f'answered with something that is no embeddings: {stated}'
            ) from None
        found = sorted(answer.data, key=lambda item: item.index)
        if [item.index for item in found] != list(range(len(texts))):
            raise OddReplyError(f'answered {len(texts)} texts with {len(found)} vectors')
        if len({len(item.embedding) for item in found}) != 1 or not found[0].embedding:
            raise OddReplyError('answered with vectors that are empty or of several lengths')
        used = answer.usage
        vectors = tuple(item.embedding for item in found)
        return vectors, answer.model or '', Usage(used.prompt_tokens) if used else None

    def transcribe(self, recording: bytes, prompt: str, language: str) -> str:
        """
        Return the text of a WAV file; *language* is '' where the server is to find out.

        Raises:
            ModelError: No usable reply, in one attempt: a person repeats it sooner.
        """
        limit_s = self.settings.timeout_s

        async def ask() -> str | Failure:
            async with self.turns.turn():
                return await self.attempt(transcribe())

        async def transcribe() -> str:
            with attempt_limits(limit_s, limit_s, limit_s):
                raw = await self._sdk.audio.transcriptions.with_raw_response.create(
                    model=self.settings.model,
                    file=('speech.wav', recording, 'audio/wav'),
                    prompt=prompt,
                    response_format='json',
                    language=language or openai.omit,
                )
            try:
                return _Transcript.model_validate_json(raw.content).text
            except pydantic.ValidationError:
                stated = _beginning(raw.content)
                raise OddReplyError(
                    f'answered with something that is no transcript: {stated}'
                ) from None

        got = self.run(ask())
        if isinstance(got, Failure):
            text = f'{self.label} {got.what.rstrip(".")}. {got.hint}'.strip()
            raise got.kind(self.redactor.hide(text))
        return ' '.join(got.split())

    async def models(self, timeout_s: float) -> tuple[str, ...]:
        with attempt_limits(timeout_s, timeout_s, timeout_s):
            page = await self._sdk.models.list(timeout=timeout_s)
        return tuple(item.id for item in page.data or ())

    async def _models_or_none(self) -> tuple[str, ...]:
        try:
            return await self.models(min(5.0, self.settings.timeout_s))
        except (openai.OpenAIError, TooLateError, ValueError, AttributeError, TypeError):
            # Only an embellishment of an error message: what is not a list of models is none.
            return ()

    @cached_property
    def _sdk(self) -> openai.AsyncOpenAI:
        for name in _CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
        settings = self.settings
        headers: dict[str, str] = {}
        if settings.login is not None:
            # Not in the URL, which ends up in messages and logs.
            login = settings.login.get_secret_value().encode()
            headers['Authorization'] = f'Basic {base64.b64encode(login).decode()}'
        connect_s = min(settings.connect_timeout_s, settings.timeout_s)
        sdk = openai.AsyncOpenAI(
            api_key=settings.api_key.get_secret_value() if settings.api_key else _NO_KEY,
            base_url=settings.base_url,
            timeout=openai.Timeout(settings.timeout_s, connect=connect_s),
            max_retries=0,
            default_headers=headers,
            # A proxy of the environment cannot reach a server on this machine.
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not settings.is_local),
        )
        self._cleanup.push_async_callback(sdk.close)
        _ = sdk.chat.completions  # the package imports it at its first use, which takes a while
        return sdk

    def _started_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = self._loop = _Loop()
                threading.Thread(
                    target=_serve, args=(loop, self._cleanup), name='model client', daemon=True
                ).start()
                # At exit the system closes the sockets.
                weakref.finalize(self, loop.call_soon_threadsafe, loop.stop).atexit = False
            return self._loop


def _sent(message: Message, detail: str | None) -> dict[str, object]:
    """Return a message of the protocol."""
    sent: dict[str, object] = {'role': message.role, 'content': _content(message, detail)}
    if message.calls:
        sent['content'] = message.content or None  # some servers refuse an empty text
        sent['tool_calls'] = [
            {
                'id': call.id,
                'type': 'function',
                'function': {'name': call.name, 'arguments': call.arguments},
            }
            for call in message.calls
        ]
    if message.call_id:
        sent['tool_call_id'] = message.call_id
    return sent


def _content(message: Message, detail: str | None) -> object:
    """Return the content of a message: its text, or parts with its pictures behind the text."""
    if not message.images:
        return message.content  # not every server takes a list of parts
    more = {} if detail is None else {'detail': detail}
    pictures = [
        {'type': 'image_url', 'image_url': {'url': data_url(picture), **more}}
        for picture in message.images
    ]
    return [{'type': 'text', 'text': message.content}, *pictures]


def wait_before(n_failed: int, asked_s: float | None) -> float:
    """Return the wait before another attempt [s]: it doubles, and is at least as asked."""
    wait_s = min(FIRST_WAIT_S * 2.0 ** min(n_failed - 1, 30), LONGEST_WAIT_S)
    return max(wait_s * random.uniform(0.5, 1.0), asked_s or 0.0)


@contextmanager
def attempt_limits(first_s: float, gap_s: float, total_s: float) -> Iterator[Callable[[], None]]:
    """
    Limit the time of one attempt; yields a function to call at each piece of the reply.

    The time-outs of sockets only limit the gap between two bytes. Here the first piece may take
    *first_s*, each later one *gap_s* and all together *total_s* [s], else TooLateError.
    """
    end_s = anyio.current_time() + total_s
    problem = f'the first word of the reply did not come within {first_s:g} s'

    def extend() -> None:
        nonlocal problem
        problem = f'the next word of the reply did not come within {gap_s:g} s'
        scope.deadline = min(anyio.current_time() + gap_s, end_s)

    with anyio.CancelScope(deadline=min(end_s - total_s + first_s, end_s)) as scope:
        yield extend
    if scope.cancelled_caught:
        if scope.deadline == end_s:
            problem = f'the whole reply was not there after {total_s:g} s'
        raise TooLateError(problem)


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that resolves names in daemon threads; a thread pool would delay the exit."""

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        # A thread of anyio is a daemon as the one that starts it, which is the client's.
        resolve = partial(socket.getaddrinfo, host, port, **options)
        return await anyio.to_thread.run_sync(resolve, abandon_on_cancel=True)


def _serve(loop: asyncio.AbstractEventLoop, cleanup: AsyncExitStack) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.run_until_complete(cleanup.aclose())
    left = asyncio.all_tasks(loop)  # such as the end of a stream that nobody reads any more
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _piece(answer: ChatCompletionChunk | ChatCompletion) -> Piece:
    # Servers differ: the piece with the usage has no choice, the first may have no delta.
    choice = answer.choices[0] if answer.choices else None
    part = getattr(choice, 'delta', None) or getattr(choice, 'message', None)
    calls = getattr(part, 'tool_calls', None) or ()
    reasoning = (getattr(part, name, None) for name in _REASONING)
    return Piece(
        text=(part.content or '') if part else '',
        calls=tuple(
            # Calls of a whole reply have no index, nor have those of some streams.
            CallPiece(
                i if (index := getattr(call, 'index', None)) is None else index,
                call.function.name or '',
                call.function.arguments or '',
            )
            for i, call in enumerate(calls)
            if call.function
        ),
        n_reasoning=next((len(text) for text in reasoning if isinstance(text, str)), 0),
        refusal=(part.refusal or '') if part else '',
        finish=str(choice.finish_reason or '').lower() if choice else '',
        model=answer.model or '',
        usage=_usage(answer.usage.model_dump()) if answer.usage else None,
    )


_REASONING = ('reasoning_content', 'reasoning')
"""Fields for reasoning: of DeepSeek, llama.cpp and others; of Ollama and vLLM."""
_CACHED = ('prompt_cache_hit_tokens', 'cache_read_input_tokens', 'cached_tokens')
"""Fields for cached tokens beside OpenAI's: of DeepSeek, of Anthropic, of Moonshot."""


def _usage(used: Mapping[str, Any]) -> Usage:
    """Read the counts of a reply, whose fields differ between servers."""

    def number(source: object, *names: str) -> int:
        values = (source.get(name) for name in names) if isinstance(source, Mapping) else ()
        return next((int(value) for value in values if value), 0)

    prompt, completion = number(used, 'prompt_tokens'), number(used, 'completion_tokens')
    # Gemini and xAI count reasoning in the total only.
    apart = max(number(used, 'total_tokens') - prompt - completion, 0) if prompt else 0
    reasoning = number(used.get('completion_tokens_details'), 'reasoning_tokens')
    cached = number(used.get('prompt_tokens_details'), 'cached_tokens') or number(used, *_CACHED)
    images = number(used.get('prompt_tokens_details'), 'image_tokens')
    return Usage(
        prompt,
        completion + apart,
        cached_tokens=cached,
        reasoning_tokens=reasoning or apart,
        image_tokens=images,
    )


def _whole(raw: bytes) -> Piece:
    """Read a reply that came in one piece, trusting nothing about its shape."""
    from openai.types.chat import ChatCompletion

    try:
        data = json.loads(raw)
        if isinstance(data, Mapping) and data.get('error') and not data.get('choices'):
            raise FailedReplyError(text_of(data))
        answer = ChatCompletion.construct(**data)
        _ = answer.choices[0]
        piece = _piece(answer)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        stated = _beginning(raw) or 'nothing'
        raise OddReplyError(f'answered with something that is no reply: {stated}') from None
    # The answer was whole, so an unnamed end is a plain one.
    return replace(piece, finish=piece.finish or 'stop')


def _beginning(raw: bytes) -> str:
    return ' '.join(raw[:300].decode(errors='replace').split())


class _Transcript(pydantic.BaseModel):
    text: Annotated[str, pydantic.Field(max_length=10_000)]


class _Tokens(pydantic.BaseModel):
    prompt_tokens: int = 0


# What fits into single precision, in which recordings keep it; none comes near.
_Coordinate = Annotated[float, pydantic.Field(ge=-1e30, le=1e30, allow_inf_nan=False)]


class _Vector(pydantic.BaseModel):
    index: int
    embedding: tuple[_Coordinate, ...]


class _Vectors(pydantic.BaseModel):
    """As much of an answer with embeddings as is used here."""

    data: list[_Vector]
    model: str | None = None
    usage: _Tokens | None = None
