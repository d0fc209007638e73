"""
An Embedder on any server that speaks OpenAI's embeddings protocol, through the `openai` package.

Retries, time limits, errors and what is hidden are those of `llm.openai_chat`, for its reasons.
"""

from __future__ import annotations

import importlib
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from bbllm.core.errors import ModelError
from bbllm.core.protocols import Embeddings, Usage
from bbllm.llm.backoff import Backoff
from bbllm.llm.bounded import BEAT_S, Bounded
from bbllm.llm.openai_settings import OpenAISettings
from bbllm.llm.redaction import Redactor

if TYPE_CHECKING:
    from bbllm.llm.failures import Failure
    from bbllm.llm.openai_connection import Connection

_log = logging.getLogger(__name__)
BATCH = 32
"""Texts in one request: servers of one's own often take no more by default, OpenAI 2048."""

_Vectors = tuple[tuple[float, ...], ...]
_Answer = tuple[_Vectors, str, Usage | None]


class OpenAIEmbedder:
    """
    One embedding model on one server.

    Args:
        settings: Which model and where.
        backoff: The waits between tries.
        sleep: Waits [s].
        jitter: Returns a number from 0 to 1, the random part of each wait.
        tell: Told in one sentence when a try failed.
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
        self.settings = settings
        self._backoff = backoff or Backoff()
        self._sleep = sleep
        self._jitter = jitter
        self._tell = tell
        self._redactor = Redactor(settings.secrets)
        self._connection: Connection | None = None
        self._who = self._redactor.hide(f'{settings.model} at {settings.host}')

    def __repr__(self) -> str:
        return f'OpenAIEmbedder({self._who})'

    def embed(
        self, texts: Sequence[str], *, on_wait: Callable[[], None] | None = None
    ) -> Embeddings:
        """Embed texts; see `Embedder.embed`."""
        # Not the server's time: importing the openai package takes most of a second.
        importlib.import_module('bbllm.llm.openai_connection')
        begun_s = time.monotonic()
        waiting = _Waiting(on_wait)
        vectors: list[tuple[float, ...]] = []
        model, tokens, retries = self.name, 0, 0
        for first in range(0, len(texts), BATCH):
            (found, said, usage), n_failed = self._ask(texts[first : first + BATCH], waiting)
            vectors += found
            model = self._redactor.hide(said) or model
            tokens += usage.prompt_tokens if usage else 0
            retries += n_failed
        if len({len(vector) for vector in vectors}) > 1:
            raise ModelError(f'{self._who} answered with vectors of several lengths.')
        return Embeddings(
            vectors=tuple(vectors),
            model=model,
            usage=Usage(prompt_tokens=tokens),
            duration_s=time.monotonic() - begun_s,
            retries=retries,
        )

    def _ask(self, texts: Sequence[str], waiting: _Waiting) -> tuple[_Answer, int]:
        """Embed one batch; return it and how many tries failed before."""
        begun_s = time.monotonic()
        n_failed = 0
        while True:
            result = self._try(texts, waiting)
            if isinstance(result, tuple):
                return result, n_failed
            n_failed += 1
            patience_s = self._backoff.patience_s
            too_long = result.wait_s is not None and result.wait_s > patience_s
            if not result.retry or too_long or n_failed > self.settings.retries:
                raise self._error(result, n_failed, time.monotonic() - begun_s)
            self._wait(result, n_failed, waiting)

    def _try(self, texts: Sequence[str], waiting: _Waiting) -> _Answer | Failure:
        """Send the request once; what goes wrong comes back as a Failure, clean of secrets."""
        from bbllm.llm.failures import failure_of
        from bbllm.llm.openai_connection import Connection

        limit_s = self.settings.timeout_s
        try:
            if self._connection is None:
                self._connection = Connection(self.settings)
            connection = self._connection

            def make(_: Callable[[Callable[[], None]], None]) -> Iterator[_Answer]:
                yield connection.embed(texts)

            bounded = Bounded(
                make, first_s=limit_s, gap_s=limit_s, total_s=limit_s, beat=waiting.beat
            )
            return next(iter(bounded))
        except _RaisedError as raised:
            error = raised.error
        except Exception as problem:
            # The SDK raises more than it documents, and the text may hold the key.
            return failure_of(problem, self.settings, self._redactor)
        raise error

    def _wait(self, failure: Failure, n_failed: int, waiting: _Waiting) -> None:
        wait_s = self._backoff.wait_s(n_failed, failure.wait_s, self._jitter)
        self._tell(
            f'{self._who} {failure.what}; trying again in {wait_s:.1f} s '
            f'({n_failed} of {self.settings.retries}).'
        )
        try:
            while wait_s > 0:
                waiting.beat()
                self._sleep(min(wait_s, BEAT_S))
                wait_s -= BEAT_S
            return
        except _RaisedError as raised:
            error = raised.error
        raise error

    def _error(self, failure: Failure, n_failed: int, spent_s: float) -> ModelError:
        from bbllm.llm.failures import with_models

        if failure.status == 404 and self._connection is not None:
            failure = with_models(failure, self.settings, self._connection.models_or_none())
        tried = f' (asked {n_failed} times in {spent_s:.1f} s)' if n_failed > 1 else ''
        text = f'{self._who} {failure.what.rstrip(".")}{tried}.'
        if failure.wait_s is not None and failure.wait_s > self._backoff.patience_s:
            text += f' It asks to wait {failure.wait_s:.0f} s, which is too long.'
        return failure.kind(self._redactor.hide(f'{text} {failure.hint}'.strip()))


class _RaisedError(Exception):
    """What `on_wait` raised: the caller's own, to be passed on untouched."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error


class _Waiting:
    """Calls `on_wait`, and marks what it raises as the caller's own."""

    def __init__(self, on_wait: Callable[[], None] | None):
        self._on_wait = on_wait

    def beat(self) -> None:
        if self._on_wait is None:
            return
        try:
            self._on_wait()
        except Exception as error:
            # Whatever it raised, a cancel above all, must never be retried.
            raise _RaisedError(error) from None
