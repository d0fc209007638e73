"""`lexical`: texts compared by their letters, where no embeddings server is to be had."""

import math
import re
import time
import zlib
from collections import defaultdict
from collections.abc import Sequence

from bbllm.core.cancel import CancelToken
from bbllm.core.protocols import Embeddings

DIMENSIONS = 1024
"""A step has some dozens of features, so few of them meet in one place."""
NGRAM = 3
"""Length of the pieces of words [characters]."""
WORD_WEIGHT = 2.0
"""What a whole word counts, where a piece of one counts 1."""
ARTICLES = frozenset({'the', 'an'})
"""They are in most sentences without meaning; `a` may be the name of a place."""


class LexicalEmbedder:
    """
    Counts words and pieces of words, hashed into a vector of unit length.

    The hash is CRC-32, so that every process and every machine gets the same vectors.
    """

    name = 'lexical'

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        """Embed texts; see `Embedder.embed`. It costs no tokens, so that none are counted."""
        begun_s = time.perf_counter()
        vectors = tuple(_vector(text) for text in texts)
        return Embeddings(
            vectors=vectors, model=self.name, duration_s=time.perf_counter() - begun_s
        )


def _vector(text: str) -> tuple[float, ...]:
    vector = [0.0] * DIMENSIONS
    for feature, weight in _features(text).items():
        code = zlib.crc32(feature.encode())
        # The sign lets features that meet in one place cancel out as often as add up.
        vector[code % DIMENSIONS] += weight if code & 0x8000_0000 else -weight
    norm = math.sqrt(math.fsum(value * value for value in vector))
    return tuple(value / norm for value in vector) if norm else tuple(vector)


def _features(text: str) -> dict[str, float]:
    features: dict[str, float] = defaultdict(float)
    for word in re.findall(r'[^\W_]+', text.lower()):
        if word in ARTICLES:
            continue
        features[word] += WORD_WEIGHT
        padded = f'<{word}>'
        for i in range(len(padded) - NGRAM + 1):
            features[f'#{padded[i : i + NGRAM]}'] += 1
    return features
