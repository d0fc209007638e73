"""Similarity of texts by their embeddings."""

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import mul

from bbllm.planning import Embedder

Vector = Sequence[float]


class Similarity:
    """Compares texts by the cosine between their vectors; each text is embedded once."""

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        """Vectors of length 1, so that a product is a cosine: a house has thousands of pairs."""

    def of(self, text: str, others: Iterable[str]) -> Mapping[str, float]:
        """Return the similarity of each of other texts to a text, from -1 to 1."""
        others = [*dict.fromkeys(others)]
        self.embed([text, *others])
        wanted = self._known[text]
        return {other: sum(map(mul, wanted, self._known[other])) for other in others}

    def ranked(self, text: str, others: Iterable[str]) -> list[str]:
        """Return texts by their similarity to a text, the highest first; the sort is stable."""
        near = self.of(text, others := [*others])
        return sorted(others, key=lambda other: -near[other])

    def embed(self, texts: Iterable[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._embedder.embed(new).vectors
            self._known.update(zip(new, map(_unit, vectors), strict=True))


def _unit(vector: Vector) -> Vector:
    length = math.hypot(*vector)
    return tuple(value / length for value in vector) if length else vector
