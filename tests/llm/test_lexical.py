import math
import subprocess
import sys
from operator import mul

import pytest

from bbllm.llm.embedding.lexical import DIMENSIONS, LexicalEmbedder


def nearness(left: str, right: str) -> float:
    a, b = LexicalEmbedder().embed([left, right]).vectors
    return sum(map(mul, a, b))


def test_every_text_becomes_a_vector_of_unit_length() -> None:
    found = LexicalEmbedder().embed(['pick red cube', 'Ä', 'a' * 500])

    assert [len(vector) for vector in found.vectors] == [DIMENSIONS] * 3
    assert [math.hypot(*vector) for vector in found.vectors] == pytest.approx([1.0] * 3)
    assert found.model == 'lexical'
    assert found.usage.prompt_tokens == 0


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    step = 'place the red cube on location B'

    assert nearness(step, 'location B') > nearness(step, 'location C') > 0.1
    assert abs(nearness('pick', 'wait')) < 0.1


def test_other_processes_get_the_same_vectors() -> None:
    code = (
        'from bbllm.llm.embedding.lexical import LexicalEmbedder as L;'
        'print(repr(L().embed(["pick red_cube"]).vectors))'
    )
    said = [
        subprocess.run(
            [sys.executable, '-c', code],
            env={'PYTHONHASHSEED': seed, 'PYTHONPATH': ':'.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.strip()
        for seed in ('1', '2')
    ]

    assert said == [repr(LexicalEmbedder().embed(['pick red_cube']).vectors)] * 2
