"""Requests that fail, hang or are refused: what is tried again, how long, and the messages."""

import gc
import subprocess
import sys
import threading
from typing import Any

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import (
    CancelledError,
    LostNodeError,
    ModelRefusedError,
    ModelUnavailableError,
)
from bbllm.llm.models.factory import parse_config, probe_models
from bbllm.llm.openai.client import wait_before
from bbllm.llm.openai.failures import retry_after_s
from bbllm.llm.openai.probe import probe, probe_images
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.testing import Behaviour, ModelServer, hangs, rambles, replies, status
from tests.llm.chat_clients import ASK, Client


def test_429_is_waited_out_as_long_as_the_server_asks(server: ModelServer) -> None:
    server.will(status(429, 'slow down', retry_after='7'), replies('yes'))
    client = Client(server)

    reply = client.model.ask(ASK)

    assert (reply.text, reply.retries) == ('yes', 1)
    assert sum(client.slept) == pytest.approx(7.0)
    assert '429 (too many requests): slow down; trying again in 7.0 s (1 of' in client.reports[0]


def test_a_server_that_stays_broken_ends_with_what_was_tried(server: ModelServer) -> None:
    server.will(status(500, 'boom'))

    with pytest.raises(ModelUnavailableError) as caught:
        Client(server).ask()

    text = str(caught.value)
    name = f'gpt-4o at 127.0.0.1:{server.server_port}'
    assert text.startswith(f'{name} answered 500 (internal server error): boom')
    assert 'asked 3 times' in text and '--brain offline' in text
    assert len(server.bodies) == 3


def test_an_unknown_model_is_answered_with_those_there_are(server: ModelServer) -> None:
    server.will(status(404, 'The model does not exist'))

    with pytest.raises(ModelRefusedError) as caught:
        Client(server, model='gpt-4o-mimi').ask()

    assert 'Did you mean gpt-4o-mini?' in str(caught.value)
    assert 'The server has: gpt-4o, gpt-4o-mini' in str(caught.value)


@pytest.mark.parametrize('host', ['127.0.0.1', 'localhost'])
def test_a_server_that_is_down_is_named(host: str) -> None:
    with ModelServer() as server:
        client = Client(server, base_url=f'http://{host}:{server.server_port}/v1', retries=1)

    with pytest.raises(ModelUnavailableError) as caught:
        client.ask()

    assert 'could not be reached: [Errno 111] Connection refused' in str(caught.value)
    assert f'Is a server running at {host}:{server.server_port}?' in str(caught.value)
    assert 'asked 2 times' in str(caught.value)


def test_a_hang_is_reported_while_it_lasts_and_ends_after_a_limit_for_all_tries(
    server: ModelServer,
) -> None:
    server.will(hangs())
    client = Client(
        server, first_token_timeout_s=0.3, hang_timeout_s=1.5, notice_s=0.1, retries=100
    )

    with pytest.raises(ModelUnavailableError, match=r'`hang_timeout_s`'):
        client.ask()
    name = f'gpt-4o at 127.0.0.1:{server.server_port}'
    assert client.reports[0] == f'Waiting for {name} for 0.1 s; time-out after 1.5 s.'
    assert sum('Waiting for' in text for text in client.reports) == 1
    assert len(server.bodies) < 10


@pytest.mark.parametrize('behaviour', [hangs(), rambles()])
def test_a_cancel_ends_the_wait_for_a_server_that_is_silent_or_endless(
    server: ModelServer, behaviour: Behaviour
) -> None:
    server.will(behaviour)
    token = CancelToken(lambda: token.cancel('enough') if server.bodies else None)
    limits = {'first_token_timeout_s': 3600.0, 'timeout_s': 3600.0, 'max_tokens': 1_000_000_000}
    client = Client(server, **limits)

    for _ in range(2):  # the second time nothing is sent
        with pytest.raises(CancelledError, match='enough'):
            client.ask(cancel=token)
    assert len(server.bodies) == 1


def test_what_a_check_of_the_token_raises_comes_out_as_it_is(server: ModelServer) -> None:
    server.will(hangs())

    def check() -> None:
        if server.bodies:
            raise LostNodeError('fr3_executor has gone')

    with pytest.raises(LostNodeError, match='fr3_executor'):
        Client(server).ask(cancel=CancelToken(check))


def test_a_cancel_ends_a_wait_between_attempts(server: ModelServer) -> None:
    server.will(status(503, 'overloaded'))
    client = Client(server)
    client.cancel_in_wait = CancelToken()

    with pytest.raises(CancelledError, match='enough'):
        client.ask(cancel=client.cancel_in_wait)
    assert len(server.bodies) == 1


def test_the_thread_of_a_client_ends_with_it(server: ModelServer) -> None:
    server.will(replies('yes'))
    before = set(threading.enumerate())
    client = Client(server)
    client.ask()
    (thread,) = (each for each in set(threading.enumerate()) - before if 'client' in each.name)

    del client
    gc.collect()
    thread.join(60.0)

    assert not thread.is_alive()


def test_a_name_server_that_hangs_does_not_delay_the_exit() -> None:
    program = """
import socket, threading
from bbllm.core.protocols import Message, ModelRequest
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import OpenAISettings

socket.getaddrinfo = lambda *args, **options: threading.Event().wait()
settings = OpenAISettings(model='m', base_url='http://far.example/v1', timeout_s=0.1, retries=0)
OpenAIChat(settings).ask(ModelRequest.of('x'))
"""
    done = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=60, check=False
    )

    assert 'm at far.example' in done.stderr and 'did not answer in time' in done.stderr


def test_waits_double_up_to_the_longest_and_never_fall_below_what_the_server_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr('random.uniform', lambda least, most: most)
    assert [wait_before(n, None) for n in (1, 2, 3, 4, 99)] == [0.5, 1, 2, 4, 20]

    monkeypatch.setattr('random.uniform', lambda least, most: least)
    assert [wait_before(1, None), wait_before(1, 9.0)] == [0.25, 9.0]


def test_retry_after_is_read_as_seconds_milliseconds_or_date() -> None:
    date = 'Thu, 01 Jan 1970 00:01:40 GMT'

    assert retry_after_s({'retry-after': '3'}) == 3.0
    assert retry_after_s({'retry-after-ms': '250', 'retry-after': '3'}) == 0.25
    assert retry_after_s({'retry-after': date}, clock=lambda: 40.0) == 60.0
    assert retry_after_s({'retry-after': date}, clock=lambda: 400.0) == 0.0
    assert retry_after_s({'retry-after': 'nan'}) is None


DEFAULTS = parse_config('', 'llm.yaml')


def test_the_probe_names_model_and_host_and_asks_where_there_is_no_list(
    server: ModelServer,
) -> None:
    settings = OpenAISettings(model='gpt-4o', base_url=server.url)
    for listed, n_asked in ((('gpt-4o', 'gpt-4o-mini'), 0), (None, 1)):
        server.models = listed
        server.will(replies('OK'))
        assert probe(settings).startswith(f'gpt-4o at 127.0.0.1:{server.server_port} answers in')
        assert len(server.bodies) == n_asked


def test_the_probe_of_both_roles_reports_which_model_answers(server: ModelServer) -> None:
    server.will(status(404, 'no such model'))
    roles = {'brain': 'gpt-4x', 'body': 'offline'}

    brain, body = probe_models(DEFAULTS, overrides=roles, environ={'OPENAI_BASE_URL': server.url})

    assert (brain.ok, 'Did you mean gpt-4o?' in brain.sentence) == (False, True)
    assert (body.ok, 'not a language model' in body.sentence) == (True, True)


@pytest.mark.parametrize(
    ('behaviour', 'changes', 'sentence'),
    [
        (replies('Red.'), {}, 'It takes images.'),
        (replies('I see no picture.'), {}, "called a red picture 'I see no picture.'"),
        (status(400, 'this model does not support image input'), {}, 'It takes no images'),
        (status(503, 'busy'), {}, 'is not known: gpt-4o at'),
        (replies('Red.'), {'images': False}, '`images: no`'),
    ],
)
def test_the_probe_of_images_asks_for_the_colour_of_one(
    server: ModelServer, behaviour: Behaviour, changes: dict[str, Any], sentence: str
) -> None:
    server.will(behaviour)
    settings = OpenAISettings(model='gpt-4o', base_url=server.url).model_copy(update=changes)

    assert sentence in probe_images(settings)
    assert len(server.bodies) == (not changes)
