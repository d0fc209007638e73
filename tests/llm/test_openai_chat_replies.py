"""Replies that are cut, empty, endless or none at all."""

from __future__ import annotations

import pytest
from chat_clients import ASK, Client
from fake_faults import cuts, rambles, sends
from fake_server import Behaviour, FakeServer, chunk, says, streams

from bbllm.core.errors import ModelError, ModelUnavailableError


@pytest.mark.parametrize('broken', [cuts('0: pi'), says('0: pi', finish=None)])
def test_a_cut_reply_is_asked_for_again(server: FakeServer, broken: Behaviour) -> None:
    server.will(broken, says('0: pick it'))
    client = Client(server)

    assert client.ask() == '0: pick it'
    assert 'cut' in client.reports[0]


def test_a_reply_that_is_always_cut_ends_with_an_error(server: FakeServer) -> None:
    server.will(cuts('0: pi'))

    with pytest.raises(ModelUnavailableError, match=r'cut .*asked 3 times'):
        Client(server).ask()


def test_an_error_in_mid_stream_is_tried_again(server: FakeServer) -> None:
    server.will(streams([chunk('0: '), {'error': {'message': 'lost a GPU'}}]), says('yes'))
    client = Client(server)

    assert client.ask() == 'yes'
    assert 'lost a GPU' in client.reports[0]


def test_a_stream_of_rubbish_is_an_error(server: FakeServer) -> None:
    server.will(streams(['{"choices": [']))

    with pytest.raises(ModelUnavailableError, match='not JSON'):
        Client(server, retries=0).ask()


def test_a_web_page_is_no_reply(server: FakeServer) -> None:
    server.will(sends('<html>Log in</html>', 'text/html'))

    with pytest.raises(ModelUnavailableError, match=r'web page .*ends in /v1'):
        Client(server).ask()


def test_json_that_is_no_reply_is_shown(server: FakeServer) -> None:
    server.will(sends('{"detail": "use the other port"}', 'application/json'))

    with pytest.raises(ModelUnavailableError, match='use the other port'):
        Client(server).ask()


def test_an_empty_reply_is_asked_for_once_more(server: FakeServer) -> None:
    server.will(says(''), says('yes'))

    assert Client(server, retries=0).model.complete(ASK).retries == 1


def test_a_model_that_stays_silent_is_an_error(server: FakeServer) -> None:
    server.will(says(' \n'))

    with pytest.raises(ModelError, match='empty reply 2 times'):
        Client(server).ask()
    assert len(server.bodies) == 2


def test_an_endless_reply_ends_at_the_servers_limit(server: FakeServer) -> None:
    server.will(says('and so on', finish='length'))

    with pytest.raises(ModelError, match='did not end within max_tokens = 2048'):
        Client(server).ask()
    assert len(server.bodies) == 1


def test_an_endless_reply_ends_when_the_server_knows_no_limit(server: FakeServer) -> None:
    server.will(rambles())

    with pytest.raises(ModelError, match='did not end within max_tokens = 20 '):
        Client(server, max_tokens=20).ask()


def test_a_model_that_only_thinks_is_told_apart(server: FakeServer) -> None:
    server.will(says('<think>hm, hm', finish='length'))

    with pytest.raises(ModelError, match='before it wrote an answer'):
        Client(server).ask()


def test_a_model_that_declines_is_quoted(server: FakeServer) -> None:
    delta = {'index': 0, 'delta': {'refusal': 'I will not.'}, 'finish_reason': 'stop'}
    server.will(streams([{'model': 'm', 'choices': [delta]}]))

    with pytest.raises(ModelError, match='declined to answer: I will not'):
        Client(server).ask()


def test_a_content_filter_is_named(server: FakeServer) -> None:
    server.will(says('0: ', finish='content_filter'))

    with pytest.raises(ModelError, match='content filter'):
        Client(server).ask()
