"""
An Embedder on any server that speaks OpenAI's embeddings protocol, through the `openai` package.

Retries, errors and what is hidden: llm.openai_tries.
"""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from bbllm.core.errors import ModelError
from bbllm.core.protocols import Embeddings, Usage
from bbllm.llm.openai.backoff import Backoff
from bbllm.llm.openai.retry import Tries, call_theirs, log_warning
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.openai.timeouts import Bounded

if TYPE_CHECKING:
    from bbllm.llm.openai.connection import Connection

BATCH = 32
"""Texts in one request: servers of one's own often take no more by default, OpenAI 2048."""

_Vectors = tuple[tuple[float, ...], ...]
_Answer = tuple[_Vectors, str, Usage | None]


class OpenAIEmbedder:
    """
    One embedding model on one server.

    The arguments are those of `OpenAIChat`.
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
        self.settings = settings
        self._tries = Tries(settings, backoff=backoff, sleep=sleep, jitter=jitter, tell=tell)

    def __repr__(self) -> str:
        return f'OpenAIEmbedder({self._tries.who})'

    def embed(
        self, texts: Sequence[str], *, on_wait: Callable[[], None] | None = None
    ) -> Embeddings:
        """Embed texts; see `Embedder.embed`."""
        self._tries.prepare()
        begun_s = time.monotonic()

        def beat() -> None:
            if on_wait is not None:
                call_theirs(on_wait)

        vectors: list[tuple[float, ...]] = []
        model, tokens, retries = self.name, 0, 0
        for first in range(0, len(texts), BATCH):
            (found, said, usage), n_failed = self._ask(texts[first : first + BATCH], beat)
            vectors += found
            model = self._tries.redactor.hide(said) or model
            tokens += usage.prompt_tokens if usage else 0
            retries += n_failed
        if len({len(vector) for vector in vectors}) > 1:
            raise ModelError(f'{self._tries.who} answered with vectors of several lengths.')
        return Embeddings(
            vectors=tuple(vectors),
            model=model,
            usage=Usage(prompt_tokens=tokens),
            duration_s=time.monotonic() - begun_s,
            retries=retries,
        )

    def _ask(self, texts: Sequence[str], beat: Callable[[], None]) -> tuple[_Answer, int]:
        """Embed one batch; return it and how many tries failed before."""
        begun_s = time.monotonic()
        n_failed = 0
        while True:
            result = self._tries.once(functools.partial(self._embed, texts, beat))
            if isinstance(result, tuple):
                return result, n_failed
            n_failed += 1
            self._tries.wait_after(result, n_failed, begun_s, beat)

    def _embed(
        self, texts: Sequence[str], beat: Callable[[], None], connection: Connection
    ) -> _Answer:
        def make(_: Callable[[Callable[[], None]], None]) -> Iterator[_Answer]:
            yield connection.embed(texts)

        limit_s = self.settings.timeout_s
        bounded = Bounded(make, first_s=limit_s, gap_s=limit_s, total_s=limit_s, beat=beat)
        return next(iter(bounded))
