"""How near texts are to each other, by what an embedder makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bbllm.core.protocols import Embedder
from bbllm.planners.body_matching import Vector, cosine


class Nearness:
    """
    Compares texts by the cosine between their vectors; each text is embedded once.

    Args:
        embedder: What makes vectors.
    """

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def of(self, text: str, others: Iterable[str]) -> Mapping[str, float]:
        """
        Return how near each of other texts is to a text, from -1 to 1.

        Raises:
            ModelError: The embedder could not be reached.
        """
        others = [*dict.fromkeys(others)]
        self.look_up([text, *others])
        wanted = self._known[text]
        return {other: cosine(wanted, self._known[other]) for other in others}

    def ranked(self, text: str, others: Iterable[str]) -> list[str]:
        """Sort texts by how near they are to a text; of equals the first stays first."""
        near = self.of(text, others := [*others])
        return sorted(others, key=lambda other: -near[other])

    def look_up(self, texts: Iterable[str]) -> None:
        """Embed the texts that are new, all in one request."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new).vectors, strict=True))
