"""
A ChatModel on any server that speaks OpenAI's chat protocol, through the `openai` package.

The package's own retries are off: here a stream that was cut counts as a failure too, a caller
hears why it waits, and an error says what was tried. Errors are raised outside of any `except`,
so that no exception of the package, which holds the request with its headers, hangs on them.
"""

from __future__ import annotations

import importlib
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bbllm.core.errors import ModelError
from bbllm.core.protocols import JsonSchema, Message, Reply, Usage
from bbllm.llm.backoff import Backoff
from bbllm.llm.bounded import BEAT_S, Bounded
from bbllm.llm.dialect import Dialect
from bbllm.llm.openai_settings import OpenAISettings
from bbllm.llm.redaction import Redactor
from bbllm.llm.reply_text import ReplyText

if TYPE_CHECKING:
    from bbllm.llm.failures import Failure
    from bbllm.llm.openai_connection import Connection, Piece

_log = logging.getLogger(__name__)
_EMPTY_RETRIES = 1
# Most tokens are three to five characters; a reply with many more than this per token of its
# limit comes from a server that ignores the limit.
_CHARACTERS_PER_TOKEN = 16


class OpenAIChat:
    """
    One model on one server.

    `on_text` is also called with '' about every 0.1 s while nothing arrives, so that a caller
    may raise in it to give up. When a stream is cut and asked for again, `on_text` hears nothing
    of the second reply, for it would hear its beginning twice: `Reply.text` is what counts.

    Args:
        settings: Which model and where; see `bbllm.llm.config` for how people set it up.
        backoff: The waits between tries.
        sleep: Waits [s].
        jitter: Returns a number from 0 to 1, the random part of each wait.
        tell: Told in one sentence when a try failed or the server refuses a parameter.
    """

    def __init__(
        self,
        settings: OpenAISettings,
        *,
        backoff: Backoff | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        tell: Callable[[str], None] = _log.warning,
    ):
        self.name = settings.model
        self.supports_schema = settings.schema is not False
        self.settings = settings
        self._backoff = backoff or Backoff()
        self._sleep = sleep
        self._jitter = jitter
        self._tell = tell
        self._redactor = Redactor(settings.secrets)
        self._dialect = Dialect(settings)
        self._connection: Connection | None = None
        self._who = self._redactor.hide(f'{settings.model} at {settings.host}')

    def __repr__(self) -> str:
        return f'OpenAIChat({self._who})'

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer a conversation; see `ChatModel.complete`."""
        # The openai package takes most of a second to import: not the model's time, and none of
        # those who plan offline.
        importlib.import_module('bbllm.llm.openai_connection')
        begun_s = time.monotonic()
        listener = _Listener(on_text)
        n_failed = n_empty = n_adapted = 0
        while True:
            body = self._dialect.body(stop, schema)
            result = self._try(messages, stop, body, listener)
            if isinstance(result, _Answer):
                if result.text.strip():
                    return Reply(
                        text=result.text,
                        model=result.model or self.name,
                        usage=result.usage,
                        duration_s=time.monotonic() - begun_s,
                        retries=n_failed + n_empty + n_adapted,
                    )
                n_empty += 1
                if n_empty > _EMPTY_RETRIES:
                    raise ModelError(self._empty(n_empty))
                self._tell(f'{self._who} gave an empty reply; asking again.')
                continue
            if self._adapted(result, body):
                n_adapted += 1
                continue
            n_failed += 1
            if self._is_final(result, n_failed):
                raise self._error(result, n_failed, time.monotonic() - begun_s)
            self._wait(result, n_failed, listener)

    def _try(
        self,
        messages: Sequence[Message],
        stop: Sequence[str],
        body: Mapping[str, object],
        listener: _Listener,
    ) -> _Answer | Failure:
        """Send the request once; what goes wrong comes back as a Failure, clean of secrets."""
        from bbllm.llm.failures import failure_of
        from bbllm.llm.openai_connection import Connection

        listener.restart()
        try:
            if self._connection is None:
                self._connection = Connection(self.settings)
            connection = self._connection
            stream = self._dialect.stream
            pieces = Bounded(
                lambda on_open: connection.ask(messages, body, stream=stream, on_open=on_open),
                first_s=self.settings.first_token_timeout_s if stream else self.settings.timeout_s,
                gap_s=self.settings.first_token_timeout_s,
                total_s=self.settings.timeout_s,
                beat=listener.beat,
            )
            return self._collect(iter(pieces), stop, listener)
        except _HeardError as heard:
            raised: Exception = heard.error
        except ModelError as error:
            raised = error
        except Exception as error:
            # The SDK raises more than it documents, and the text may hold the key.
            return failure_of(error, self.settings, self._redactor)
        raise raised

    def _collect(
        self, pieces: Iterator[Piece], stop: Sequence[str], listener: _Listener
    ) -> _Answer:
        from bbllm.llm.failures import CutReplyError

        text = ReplyText(stop, self._redactor)
        model, usage, finish, refusal = '', Usage(), '', ''
        limit = self.settings.max_tokens * _CHARACTERS_PER_TOKEN
        for piece in pieces:
            model = piece.model or model
            usage = piece.usage or usage
            finish = piece.finish or finish
            refusal += piece.refusal
            listener.hear(text.add(piece.text))
            if text.received > limit or finish == 'length':
                raise ModelError(self._endless(text))
            if text.stopped:
                break
        if refusal:
            said = self._redactor.hide(refusal.strip())[:300]
            # Not ModelRefusedError: the server serves, and what the model says is its own doing.
            raise ModelError(f'{self._who} declined to answer: {said}')
        if finish == 'content_filter':
            raise ModelError(f'{self._who} withheld its reply: the content filter stopped it.')
        if not finish and not text.stopped:
            raise CutReplyError(f'the stream ended after {text.received} characters')
        listener.hear(text.finish())
        return _Answer(text.text, self._redactor.hide(model), usage)

    def _adapted(self, failure: Failure, sent: Mapping[str, object]) -> bool:
        if failure.status not in (400, 404, 415, 422, 501):
            return False
        change = self._dialect.adapt(failure.said, failure.param, sent)
        if change is None:
            return False
        self.supports_schema = self._dialect.schema
        self._tell(f'{self._who} {change}.')
        return True

    def _is_final(self, failure: Failure, n_failed: int) -> bool:
        too_long = failure.wait_s is not None and failure.wait_s > self._backoff.patience_s
        return not failure.retry or too_long or n_failed > self.settings.retries

    def _wait(self, failure: Failure, n_failed: int, listener: _Listener) -> None:
        wait_s = self._backoff.wait_s(n_failed, failure.wait_s, self._jitter)
        self._tell(
            f'{self._who} {failure.what}; trying again in {wait_s:.1f} s '
            f'({n_failed} of {self.settings.retries}).'
        )
        try:
            while wait_s > 0:
                listener.beat()
                self._sleep(min(wait_s, BEAT_S))
                wait_s -= BEAT_S
            return
        except _HeardError as heard:
            raised = heard.error
        raise raised

    def _error(self, failure: Failure, n_failed: int, spent_s: float) -> ModelError:
        from bbllm.llm.failures import with_models

        if failure.status == 404 and self._connection is not None:
            failure = with_models(failure, self.settings, self._connection.models_or_none())
        tried = ''
        if n_failed > 1:
            tried = f' (asked {n_failed} times in {spent_s:.1f} s)'
        text = f'{self._who} {failure.what.rstrip(".")}{tried}.'
        if failure.wait_s is not None and failure.wait_s > self._backoff.patience_s:
            text += f' It asks to wait {failure.wait_s:.0f} s, which is too long.'
        return failure.kind(self._redactor.hide(f'{text} {failure.hint}'.strip()))

    def _empty(self, n_empty: int) -> str:
        return (
            f'{self._who} gave an empty reply {n_empty} times. Try another model '
            '(`--brain NAME`, `--body NAME`), or raise `max_tokens` in config/llm.yaml if it '
            'thinks before it writes.'
        )

    def _endless(self, text: ReplyText) -> str:
        if not text.text.strip():
            return (
                f'{self._who} used up max_tokens = {self.settings.max_tokens} before it wrote an '
                'answer. Raise `max_tokens` in config/llm.yaml: this model thinks first.'
            )
        return (
            f'The reply of {self._who} did not end within max_tokens = '
            f'{self.settings.max_tokens} ({text.received} characters came). Raise `max_tokens` in '
            'config/llm.yaml if it has to be that long, or try another model.'
        )


@dataclass(frozen=True, slots=True)
class _Answer:
    """One reply to its end, which may be empty."""

    text: str
    model: str
    usage: Usage


class _HeardError(Exception):
    """What `on_text` raised: the caller's own, to be passed on untouched."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error


class _Listener:
    """Passes text on to `on_text` unless it already heard an earlier try of the same reply."""

    def __init__(self, on_text: Callable[[str], None] | None):
        self._on_text = on_text
        self._heard = False
        self._muted = False

    def restart(self) -> None:
        """Begin another try."""
        self._muted = self._heard

    def hear(self, text: str) -> None:
        if text and not self._muted:
            self._heard = True
            self._call(text)

    def beat(self) -> None:
        self._call('')

    def _call(self, text: str) -> None:
        if self._on_text is None:
            return
        try:
            self._on_text(text)
        except Exception as error:
            # Whatever the listener raised is its own, a cancel above all: never to be retried.
            raise _HeardError(error) from None
