"""How near texts are to each other, by what an embedder makes of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from operator import mul

from bbllm.core.protocols import Embedder
from bbllm.planners.common.matching import Vector


class Similarity:
    """
    Compares texts by the cosine between their vectors; each text is embedded once.

    Args:
        embedder: What makes vectors.
    """

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        """Of length 1, so that a product is a cosine: a house has thousands of pairs."""

    def of(self, text: str, others: Iterable[str]) -> Mapping[str, float]:
        """
        Return how near each of other texts is to a text, from -1 to 1.

        Raises:
            ModelError: The embedder could not be reached.
        """
        others = [*dict.fromkeys(others)]
        self.look_up([text, *others])
        wanted = self._known[text]
        return {other: sum(map(mul, wanted, self._known[other])) for other in others}

    def ranked(self, text: str, others: Iterable[str]) -> list[str]:
        """Sort texts by how near they are to a text; of equals the first stays first."""
        near = self.of(text, others := [*others])
        return sorted(others, key=lambda other: -near[other])

    def look_up(self, texts: Iterable[str]) -> None:
        """Embed the texts that are new, all in one request."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._embedder.embed(new).vectors
            self._known.update(zip(new, map(_unit, vectors), strict=True))


def _unit(vector: Vector) -> Vector:
    """Return a vector of the same direction and of length 1; one that is nothing stays so."""
    length = math.hypot(*vector)
    return tuple(value / length for value in vector) if length else vector
