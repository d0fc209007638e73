"""
A ChatModel on any server that speaks OpenAI's chat protocol, through the `openai` package.

Retries, errors and what is hidden: llm.openai_tries.
"""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bbllm.core.errors import ModelError
from bbllm.core.protocols import JsonSchema, Message, Reply, Usage
from bbllm.llm.openai.backoff import Backoff
from bbllm.llm.openai.capabilities import Dialect
from bbllm.llm.openai.retry import Tries, call_theirs, log_warning
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.openai.timeouts import BEAT_S, Bounded
from bbllm.llm.reply_text import ReplyText, mend

if TYPE_CHECKING:
    from bbllm.llm.openai.connection import Connection, Piece
    from bbllm.llm.openai.failures import Failure

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
        settings: Which model and where; see `bbllm.llm.models.factory` for how people set it up.
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
        tell: Callable[[str], None] = log_warning,
    ):
        self.name = settings.model
        self.supports_schema = settings.schema is not False
        self.prompt_limit_tokens = settings.prompt_limit_tokens
        self.settings = settings
        self._tries = Tries(settings, backoff=backoff, sleep=sleep, jitter=jitter, tell=tell)
        self._tell = tell
        self._who = self._tries.who
        self._redactor = self._tries.redactor
        self._dialect = Dialect(settings)

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
        self._tries.prepare()
        begun_s = time.monotonic()
        listener = _Listener(on_text, self._notice(begun_s))
        n_failed = n_empty = n_adapted = 0
        while True:
            body = self._dialect.body(stop, schema)
            first_s = self._first_s(begun_s, again=n_failed > 0)
            result = self._tries.once(
                functools.partial(self._ask, messages, stop, body, listener, first_s)
            )
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
            listener.told = True
            self._tries.wait_after(result, n_failed, begun_s, listener.beat)

    def _ask(
        self,
        messages: Sequence[Message],
        stop: Sequence[str],
        body: Mapping[str, object],
        listener: _Listener,
        first_s: float,
        connection: Connection,
    ) -> _Answer:
        listener.restart()
        stream = self._dialect.stream
        pieces = Bounded(
            lambda on_open: connection.ask(messages, body, stream=stream, on_open=on_open),
            first_s=first_s,
            gap_s=self.settings.first_token_timeout_s,
            total_s=self.settings.timeout_s,
            beat=listener.beat,
        )
        return self._collect(iter(pieces), stop, listener)

    def _first_s(self, begun_s: float, *, again: bool) -> float:
        """Return how long a try may take to its first word; one that is not the first, less."""
        settings = self.settings
        limit_s = settings.first_token_timeout_s if self._dialect.stream else settings.timeout_s
        left_s = begun_s + settings.hang_timeout_s - time.monotonic()
        return min(limit_s, max(round(left_s, 1), BEAT_S)) if again else limit_s

    def _notice(self, begun_s: float) -> Callable[[], bool]:
        """Return what tells people once that the model is waited for, and whether it has."""
        limit_s = max(self.settings.hang_timeout_s, self._first_s(begun_s, again=False))

        def notice() -> bool:
            if time.monotonic() - begun_s < self.settings.notice_s:
                return False
            self._tell(
                f'Waiting for {self._who} for {self.settings.notice_s:g} s; time-out after '
                f'{limit_s:g} s.'
            )
            return True

        return notice

    def _collect(
        self, pieces: Iterator[Piece], stop: Sequence[str], listener: _Listener
    ) -> _Answer:
        from bbllm.llm.openai.failures import CutReplyError

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
            said = self._redactor.hide(mend(refusal).strip())[:300]
            # Not ModelRefusedError: the server serves, and what the model says is its own doing.
            raise ModelError(f'{self._who} declined to answer: {said}')
        if finish == 'content_filter':
            raise ModelError(f'{self._who} withheld its reply: the content filter stopped it.')
        if not finish and not text.stopped:
            raise CutReplyError(f'the stream ended after {text.received} characters')
        listener.hear(text.finish())
        return _Answer(text.text, self._redactor.hide(mend(model)), usage)

    def _adapted(self, failure: Failure, sent: Mapping[str, object]) -> bool:
        if failure.status not in (400, 404, 415, 422, 501):
            return False
        change = self._dialect.adapt(failure.said, failure.param, sent)
        if change is None:
            return False
        self.supports_schema = self._dialect.schema
        self._tell(f'{self._who} {change}.')
        return True

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


class _Listener:
    """Passes text on to `on_text` unless it already heard an earlier try of the same reply."""

    def __init__(self, on_text: Callable[[str], None] | None, notice: Callable[[], bool]):
        self._on_text = on_text
        self._notice = notice
        self.told = False
        """Whether people know that the model is waited for, or has answered."""
        self._heard = False
        self._muted = False

    def restart(self) -> None:
        """Begin another try."""
        self._muted = self._heard

    def hear(self, text: str) -> None:
        self.told = True
        if text and not self._muted:
            self._heard = True
            self._call(text)

    def beat(self) -> None:
        self.told = self.told or self._notice()
        self._call('')

    def _call(self, text: str) -> None:
        if self._on_text is not None:
            call_theirs(functools.partial(self._on_text, text))
