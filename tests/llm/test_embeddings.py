import json
import math
import subprocess
import sys
from operator import mul

import pytest

from bbllm.core.errors import ModelError, ModelUnavailableError
from bbllm.llm.embedding.lexical import DIMENSIONS, LexicalEmbedder
from bbllm.llm.openai.chat import BATCH
from bbllm.testing import ModelServer, embeds, hangs, sends
from tests.llm.chat_clients import Client


def test_vectors_come_in_the_order_of_many_texts_that_are_counted_together(
    server: ModelServer,
) -> None:
    server.will(embeds())
    texts = ['x' * (i + 1) for i in range(2 * BATCH + 1)]

    found = Client(server).embedder.embed(texts)

    assert [len(body['input']) for body in server.bodies] == [BATCH, BATCH, 1]
    assert [vector[0] for vector in found.vectors] == [float(len(text)) for text in texts]
    assert (found.model, found.usage.prompt_tokens) == ('fake-embedding-1', len(texts))
    assert (found.retries, server.bodies[0]['model']) == (0, 'gpt-4o')


def answer(*vectors: object) -> str:
    data = [{'index': i, 'embedding': vector} for i, vector in enumerate(vectors)]
    return json.dumps({'data': data, 'model': 'm'})


@pytest.mark.parametrize(
    ('raw', 'message'),
    [
        (answer([1.0, 2.0]), 'answered 2 texts with 1 vectors'),
        (answer([1.0, 2.0], [1.0]), 'several lengths'),
        (answer([], []), 'empty'),
        (answer('AACAPw==', 'AACAPw=='), 'no embeddings'),
        (answer([1.0], [float('nan')]), 'no embeddings'),
        ('{"data": [{"index": 5, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', 'vectors'),
        ('{"hello": 1}', 'no embeddings'),
        ('<html>', 'no embeddings'),
    ],
)
def test_an_answer_that_is_none_is_refused(server: ModelServer, raw: str, message: str) -> None:
    server.will(sends(raw, 'application/json'))

    with pytest.raises(ModelError, match=message):
        Client(server).embedder.embed(['a', 'b'])


def test_silence_ends_in_an_error_that_names_the_limit(server: ModelServer) -> None:
    server.will(hangs())

    with pytest.raises(ModelUnavailableError, match=r'0\.3 s'):
        Client(server, timeout_s=0.3, retries=0).embedder.embed(['a'])


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
    environ = {'PYTHONHASHSEED': '1', 'PYTHONPATH': ':'.join(sys.path)}
    printed = subprocess.check_output([sys.executable, '-c', code], env=environ, text=True)
    assert printed.strip() == repr(LexicalEmbedder().embed(['pick red_cube']).vectors)
