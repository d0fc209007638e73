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


def recording_embedder(inner: Embedder, path: Path, *, episode: str = '') -> Embedder:
    """Return an embedder whose exchanges are appended to a file; see `RecordingModel`."""
    return _OfModel(RecordingModel(_AsModel(inner), path, ROLE, episode=episode), path)


def replay_embedder(path: Path, *, text: str | None = None) -> Embedder:
    """Return what answers from a recording, without a server or a key; see `ReplayModel`."""
    return _OfModel(ReplayModel(path, ROLE, text=text), path)


class _OfModel:
    """An embedder on a model that answers a list of texts with a list of vectors."""

    def __init__(self, model: ChatModel, path: Path):
        self.name = model.name
        self._model = model
        self._path = path

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        """Embed texts; see `Embedder.embed`."""
        question = json.dumps(list(texts), ensure_ascii=False)
        reply = self._model.complete([Message('user', question)], cancel=cancel)
        try:
            vectors = tuple(_unpacked(item) for item in json.loads(reply.text))
        except (ValueError, TypeError, zlib.error, struct.error):
            vectors = ()
        if len(vectors) != len(texts):
            raise ReplayError(f'{self._path} holds a reply without the vectors that were to come.')
        return Embeddings(
            vectors=vectors,
            model=reply.model,
            usage=reply.usage,
            duration_s=reply.duration_s,
            retries=reply.retries,
        )


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


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(zlib.compress(struct.pack(f'<{len(vector)}f', *vector))).decode()


def _unpacked(text: str) -> tuple[float, ...]:
    raw = zlib.decompress(base64.b64decode(text, validate=True))
    return struct.unpack(f'<{len(raw) // 4}f', raw)
