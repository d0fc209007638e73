"""An Embedder on any server that speaks OpenAI's embeddings protocol."""

import time
from collections.abc import Sequence

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ModelError
from bbllm.core.protocols import Embeddings, Usage
from bbllm.llm.openai.client import ModelClient
from bbllm.llm.openai.failures import Failure
from bbllm.llm.openai.settings import OpenAISettings

BATCH = 32
"""Texts in one request: local servers often accept no more by default, OpenAI 2048."""


class OpenAIEmbedder:
    """One embedding model on one server; the arguments are those of `OpenAIChat`."""

    def __init__(self, settings: OpenAISettings, client: ModelClient | None = None):
        self.name = settings.model
        self.settings = settings
        self._client = client or ModelClient(settings)

    def __repr__(self) -> str:
        return f'OpenAIEmbedder({self._client.label})'

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        """Embed texts; see `Embedder.embed`."""
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
