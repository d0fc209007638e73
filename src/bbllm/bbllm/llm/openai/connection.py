"""The only module that builds requests with the `openai` package and reads its answers."""

from __future__ import annotations

import base64
import json
import logging
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

import openai
import pydantic

from bbllm.core.protocols import Message, Usage
from bbllm.llm.openai.failures import OddReplyError
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.openai.timeouts import Bounded, TooLateError
from bbllm.llm.reply_text import mend

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

# These log request options, URLs and headers, which a server may have put the key into.
_CHATTY = ('openai', 'httpx', 'httpx2', 'httpcore', 'httpcore2')
# The SDK insists on a key; a server that wants none ignores it.
_NO_KEY = 'none'


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a reply."""

    text: str = ''
    refusal: str = ''
    """The model's own words where it declines."""
    finish: str = ''
    """Why the reply ended, in the last piece: `stop`, `length` or `content_filter`."""
    model: str = ''
    usage: Usage | None = None


class Connection:
    """A client of one server, kept open between requests."""

    def __init__(self, settings: OpenAISettings):
        for name in _CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._settings = settings
        headers: dict[str, str] = {}
        if settings.login is not None:
            # Not in the URL, which ends up in messages and logs.
            login = settings.login.get_secret_value().encode()
            headers['Authorization'] = f'Basic {base64.b64encode(login).decode()}'
        key = settings.api_key.get_secret_value() if settings.api_key else _NO_KEY
        self._client = openai.OpenAI(
            api_key=key,
            base_url=settings.base_url,
            timeout=openai.Timeout(
                settings.timeout_s,
                connect=min(settings.connect_timeout_s, settings.timeout_s),
            ),
            max_retries=0,
            default_headers=headers,
            # A proxy of the environment cannot reach a server on this machine.
            http_client=openai.DefaultHttpxClient(trust_env=not settings.is_local),
        )
        # Sockets are closed with the model that used them; at exit the system does it.
        weakref.finalize(self, self._client.close).atexit = False

    def ask(
        self,
        messages: Sequence[Message],
        body: Mapping[str, object],
        *,
        stream: bool,
        on_open: Callable[[Callable[[], None]], None],
    ) -> Iterator[Piece]:
        """
        Send one request and yield its reply.

        Args:
            messages: The conversation.
            body: Parameters beside the model and the messages.
            stream: Whether to ask for pieces; otherwise the reply comes as one.
            on_open: Told how to break the stream off from another thread.

        Raises:
            openai.OpenAIError: The request failed.
            OddReplyError: The answer is not a reply.
        """
        asked = [cast('ChatCompletionMessageParam', _message(item)) for item in messages]
        if not stream:
            yield self._whole(asked, body)
            return
        chunks = self._client.chat.completions.create(
            model=self._settings.model, messages=asked, stream=True, extra_body=dict(body)
        )
        on_open(chunks.close)
        with chunks:
            kind = chunks.response.headers.get('content-type', '')
            if kind.startswith('application/json'):
                # It ignored `stream`; the reply is all there, but the SDK looks for events.
                yield _piece_of_json(chunks.response.read())
                return
            if kind.startswith('text/html'):
                raise OddReplyError('answered with a web page instead of a reply')
            for chunk in chunks:
                yield _piece(chunk)

    def embed(
        self, texts: Sequence[str]
    ) -> tuple[tuple[tuple[float, ...], ...], str, Usage | None]:
        """
        Send one request for vectors.

        Returns:
            One vector for each text, the server's name of the model, and what it counted.

        Raises:
            openai.OpenAIError: The request failed.
            OddReplyError: The answer does not hold one vector for each text.
        """
        raw = self._client.embeddings.with_raw_response.create(
            # Unless told otherwise the SDK asks for base64, which few servers but OpenAI's know.
            model=self._settings.model,
            input=list(texts),
            encoding_format='float',
        )
        try:
            answer = _Vectors.model_validate_json(raw.content)
        except pydantic.ValidationError:
            said = ' '.join(raw.content[:300].decode(errors='replace').split())
            raise OddReplyError(f'answered with something that is no embeddings: {said}') from None
        if sorted(item.index for item in answer.data) != list(range(len(texts))):
            raise OddReplyError(f'answered {len(texts)} texts with {len(answer.data)} vectors')
        vectors = tuple(item.embedding for item in sorted(answer.data, key=_index))
        if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
            raise OddReplyError('answered with vectors that are empty or of several lengths')
        used = answer.usage
        return vectors, answer.model or '', Usage(used.prompt_tokens) if used else None

    def models(self, timeout_s: float) -> tuple[str, ...]:
        """
        Return the names of the models that the server lists.

        Raises:
            openai.OpenAIError: The request failed.
            TooLateError: It took longer than `timeout_s` [s].
        """

        def make(_: Callable[[Callable[[], None]], None]) -> Iterator[tuple[str, ...]]:
            page = self._client.models.list(timeout=timeout_s)
            yield tuple(item.id for item in page.data or ())

        bounded = Bounded(make, first_s=timeout_s, gap_s=timeout_s, total_s=timeout_s)
        return next(iter(bounded), ())

    def models_or_none(self) -> tuple[str, ...]:
        """Return the names of the models, none where the server does not say."""
        try:
            return self.models(min(5.0, self._settings.timeout_s))
        except (openai.OpenAIError, TooLateError, ValueError, AttributeError, TypeError):
            # Only an embellishment of an error message: what is not a list of models is none.
            return ()

    def _whole(self, asked: list[ChatCompletionMessageParam], body: Mapping[str, object]) -> Piece:
        raw = self._client.chat.completions.with_raw_response.create(
            model=self._settings.model, messages=asked, stream=False, extra_body=dict(body)
        )
        return _piece_of_json(raw.content)


def _message(message: Message) -> dict[str, str]:
    return {'role': message.role, 'content': message.content}


def _piece(chunk: ChatCompletionChunk) -> Piece:
    usage = _usage(chunk.usage)
    # Servers differ: the piece with the usage has no choice, the first may have no delta.
    choice = chunk.choices[0] if chunk.choices else None
    if choice is None:
        return Piece(model=chunk.model or '', usage=usage)
    delta = choice.delta
    return Piece(
        text=(delta.content or '') if delta else '',
        refusal=(delta.refusal or '') if delta else '',
        finish=choice.finish_reason or '',
        model=chunk.model or '',
        usage=usage,
    )


def _piece_of_json(raw: bytes) -> Piece:
    """Read a reply that came in one piece, trusting nothing about its shape."""
    try:
        # Pydantic takes no JSON with half a character in it, which a model may well write.
        text = mend(json.dumps(json.loads(raw), ensure_ascii=False))
        completion = _Completion.model_validate_json(text)
    except (ValueError, RecursionError):  # a ValidationError is a ValueError
        completion = _Completion()
    if not completion.choices:
        said = ' '.join(raw[:300].decode(errors='replace').split())
        raise OddReplyError(f'answered with something that is no reply: {said or "nothing"}')
    choice = completion.choices[0]
    used = completion.usage
    return Piece(
        text=choice.message.content or '',
        refusal=choice.message.refusal or '',
        # The answer was whole, so an unnamed end is a plain one.
        finish=choice.finish_reason or 'stop',
        model=completion.model or '',
        usage=Usage(used.prompt_tokens, used.completion_tokens) if used else None,
    )


def _usage(usage: CompletionUsage | None) -> Usage | None:
    if usage is None:
        return None
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0)


class _Message(pydantic.BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(pydantic.BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(pydantic.BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(pydantic.BaseModel):
    """As much of a reply in one piece as is used here."""

    choices: list[_Choice] | None = None
    model: str | None = None
    usage: _Tokens | None = None


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


def _index(item: _Vector) -> int:
    return item.index
