from __future__ import annotations

import json
import logging
import traceback

import pytest
from chat_clients import KEY, Client
from fake_faults import echoes_key, hangs, sends
from fake_server import FakeServer, embeds, status

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import (
    CancelledError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
)
from bbllm.llm.embedding.embeddings import BATCH


def test_vectors_come_in_the_order_of_the_texts(server: FakeServer) -> None:
    server.will(embeds(backwards=True))

    found = Client(server).embedder.embed(['a', 'bbb', 'cc'])

    assert [vector[0] for vector in found.vectors] == [1.0, 3.0, 2.0]
    assert (found.model, found.usage.prompt_tokens, found.retries) == ('fake-embedding-1', 3, 0)
    assert server.bodies[0]['model'] == 'gpt-4o'


def test_many_texts_go_in_several_requests_and_are_counted_together(server: FakeServer) -> None:
    server.will(embeds())
    texts = ['x' * (i + 1) for i in range(2 * BATCH + 1)]

    found = Client(server).embedder.embed(texts)

    assert [len(body['input']) for body in server.bodies] == [BATCH, BATCH, 1]
    assert [vector[0] for vector in found.vectors] == [float(len(text)) for text in texts]
    assert found.usage.prompt_tokens == len(texts)


def test_a_server_that_does_not_count_costs_no_tokens(server: FakeServer) -> None:
    server.will(embeds(tokens=False))

    assert Client(server).embedder.embed(['a']).usage.prompt_tokens == 0


def test_a_failure_that_may_pass_is_tried_again(server: FakeServer) -> None:
    server.will(status(503, 'warming up'), status(429, 'slow', retry_after='4'), embeds())
    client = Client(server)

    found = client.embedder.embed(['a'])

    assert found.retries == 2
    assert len(client.reports) == 2
    assert sum(client.slept) >= 4.0


def test_a_server_that_stays_down_is_given_up_with_what_was_tried(server: FakeServer) -> None:
    server.will(status(500, 'broken'))

    with pytest.raises(ModelUnavailableError, match=r'asked 3 times.*--body offline'):
        Client(server).embedder.embed(['a'])


def test_a_wrong_name_is_answered_with_those_that_there_are(server: FakeServer) -> None:
    server.will(status(404, 'no such model'))
    server.models = ('text-embedding-3-large', 'gpt-4o')

    with pytest.raises(ModelRefusedError, match=r'Did you mean text-embedding-3-large\?'):
        Client(server, model='text-embedding-3-small').embedder.embed(['a'])
    assert len(server.bodies) == 1


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
def test_an_answer_that_is_none_is_refused(server: FakeServer, raw: str, message: str) -> None:
    server.will(sends(raw, 'application/json'))

    with pytest.raises(ModelError, match=message):
        Client(server).embedder.embed(['a', 'b'])


def test_silence_ends_in_an_error_that_names_the_limit(server: FakeServer) -> None:
    server.will(hangs())

    with pytest.raises(ModelUnavailableError, match=r'0\.3 s'):
        Client(server, timeout_s=0.3, retries=0).embedder.embed(['a'])


def test_a_cancel_ends_the_wait_and_is_never_retried(server: FakeServer) -> None:
    server.will(hangs())
    token = CancelToken(lambda: token.cancel('stop') if server.bodies else None)

    with pytest.raises(CancelledError, match='stop'):
        Client(server, timeout_s=30.0).embedder.embed(['a'], cancel=token)
    assert len(server.bodies) == 1


@pytest.mark.parametrize('code', [400, 401, 500])
def test_a_key_that_the_server_echoes_is_nowhere_to_be_seen(
    server: FakeServer, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(echoes_key(code))
    client = Client(server)

    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        client.embedder.embed(['a'])

    seen = ''.join(traceback.format_exception(caught.value)) + caplog.text + str(client.reports)
    assert KEY not in seen
    assert repr(caught.value.__context__) == 'None'
