"""How near texts are: each is embedded once, and of equals the first stays first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bbllm.core.protocols import Embeddings
from bbllm.planners.common.similarity import Similarity


class Lengths:
    """An embedder that turns a vector by the length of a text; it counts what it is asked."""

    name = 'lengths'

    def __init__(self) -> None:
        self.requests: list[list[str]] = []

    def embed(self, texts: Sequence[str], *, on_wait: Any = None) -> Embeddings:
        self.requests.append([*texts])
        vectors = tuple((float(len(text)), 3.0) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def test_each_text_is_embedded_once_and_new_ones_in_one_request() -> None:
    embedder = Lengths()
    nearness = Similarity(embedder)

    nearness.look_up(['a', 'bb', 'a'])
    nearness.of('a', ['bb', 'ccc', 'dddd', 'ccc'])
    nearness.ranked('bb', ['a', 'dddd'])

    assert embedder.requests == [['a', 'bb'], ['ccc', 'dddd']]


def test_the_nearest_comes_first_and_of_equals_the_one_that_was_first() -> None:
    nearness = Similarity(Lengths())

    assert nearness.ranked('abc', ['a', 'xyz', 'bb', 'uvw']) == ['xyz', 'uvw', 'bb', 'a']
    assert nearness.of('abc', ['xyz'])['xyz'] > nearness.of('abc', ['a'])['a'] > 0


class Zeros(Lengths):
    """An embedder that knows nothing of a text without letters."""

    def embed(self, texts: Sequence[str], *, on_wait: Any = None) -> Embeddings:
        vectors = tuple((3.0, 4.0) if text else (0.0, 0.0) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def test_length_says_nothing_and_what_has_no_direction_is_near_to_nothing() -> None:
    near = Similarity(Zeros()).of('a', ['b', ''])

    assert near == {'b': pytest.approx(1.0), '': 0.0}
