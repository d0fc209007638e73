"""
Embeddings in recordings: exchanges whose texts are lists in JSON.

A recording has one form only: an embedder is recorded as a model that is asked a list of texts
and answers with a list of vectors. A vector is written in single precision, compressed and in
base64, for as decimal numbers those of one episode would take a megabyte. A
recording run and its replay get the same rounded vectors.
"""

import base64
import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ReplayError
from bbllm.core.protocols import ChatModel, Embedder, Embeddings, JsonSchema, Message, Reply
from bbllm.llm.recording.replay import RecordingModel, ReplayModel

ROLE = 'body'
"""An embedder does a Body's work: so it is called in recordings."""


class RecordingEmbedder:
    """An embedder whose exchanges are appended to a file; see `RecordingModel`."""

    def __init__(self, inner: Embedder, path: Path, *, episode: str = ''):
        self.name = inner.name
        self._model = RecordingModel(_AsModel(inner), path, ROLE, episode=episode)

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        """Embed texts and keep them; see `Embedder.embed`."""
        return _embed(self._model, texts, cancel)


class ReplayEmbedder:
    """Answers from a recording, without a server or a key; see `ReplayModel`."""

    def __init__(self, path: Path, *, text: str | None = None):
        self._path = path
        self._model = ReplayModel(path, ROLE, text=text)
        self.name = self._model.name

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        """Answer as recorded; see `Embedder.embed`."""
        try:
            return _embed(self._model, texts, cancel)
        except (ValueError, TypeError, zlib.error, struct.error):
            problem = f'{self._path} holds a reply in words where vectors were to come.'
        raise ReplayError(problem)


class _AsModel:
    """An embedder behind the seam of a language model."""

    supports_schema = False

    def __init__(self, inner: Embedder):
        self.name = inner.name
        self._inner = inner

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        cancel: CancelToken | None = None,
    ) -> Reply:
        found = self._inner.embed(json.loads(messages[0].content), cancel=cancel)
        return Reply(
            text=json.dumps([_packed(vector) for vector in found.vectors]),
            model=found.model,
            usage=found.usage,
            duration_s=found.duration_s,
            retries=found.retries,
        )


def _embed(model: ChatModel, texts: Sequence[str], cancel: CancelToken | None) -> Embeddings:
    question = json.dumps(list(texts), ensure_ascii=False)
    reply = model.complete([Message('user', question)], cancel=cancel)
    vectors = tuple(_unpacked(item) for item in json.loads(reply.text))
    if len(vectors) != len(texts):
        raise ValueError(f'{len(vectors)} vectors for {len(texts)} texts')
    return Embeddings(
        vectors=vectors,
        model=reply.model,
        usage=reply.usage,
        duration_s=reply.duration_s,
        retries=reply.retries,
    )


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(zlib.compress(struct.pack(f'<{len(vector)}f', *vector))).decode()


def _unpacked(text: str) -> tuple[float, ...]:
    raw = zlib.decompress(base64.b64decode(text, validate=True))
    return struct.unpack(f'<{len(raw) // 4}f', raw)
