"""Conversations over HTTP: what is asked, and replies that are cut, empty, endless or none."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bbllm.core.errors import (
    EndlessReplyError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    PromptTooLongError,
)
from bbllm.core.protocols import ModelRequest, Usage
from bbllm.testing import (
    Behaviour,
    Handler,
    ModelServer,
    chunk,
    drips,
    rambles,
    refuses,
    replies,
    sends,
    status,
    streams,
)
from tests.llm.chat_clients import ASK, SCHEMA, Client


def test_a_streamed_reply_comes_whole(server: ModelServer) -> None:
    server.will(replies('0: pick ', 'the red cube\n', '1: Done'))

    reply = Client(server).model.ask(ASK)

    assert reply.text == '0: pick the red cube\n1: Done'
    assert (reply.usage, reply.model, reply.retries) == (Usage(7, 3), 'fake-1', 0)
    assert reply.duration_s > 0.0


def test_the_reply_so_far_is_passed_on_whenever_a_line_of_it_has_ended(
    server: ModelServer,
) -> None:
    server.will(
        replies('<think>0: sit', '\n</think>0: pick ', 'it\n', '1: put ', 'it\n2: D', 'one')
    )
    received: list[tuple[str, str]] = []

    def on_text(text: str) -> None:
        received.append((text, threading.current_thread().name))

    reply = Client(server).model.ask(ASK, on_text)

    here = threading.current_thread().name
    assert received[-2:] == [('0: pick it\n', here), ('0: pick it\n1: put it\n2: D', here)]
    assert not any('sit' in text for text, _ in received)
    assert reply.text == '0: pick it\n1: put it\n2: Done'


def test_requests_beside_each_other_meet_one_refusal_each_and_are_sent_again(
    server: ModelServer,
) -> None:
    taken = refuses('temperature', 'Unsupported parameter: temperature', replies('ok'))
    both = threading.Barrier(2, timeout=10.0)

    def at_once(handler: Handler, body: dict[str, Any]) -> None:
        if body.get('temperature') is not None:
            both.wait()
        taken(handler, body)

    server.will(at_once)
    client = Client(server, temperature=0.25)
    with ThreadPoolExecutor() as threads:
        futures = [threads.submit(client.ask) for _ in range(2)]

    assert [reply.result() for reply in futures] == ['ok', 'ok']
    assert len(client.reports) == 1


@pytest.mark.parametrize('can_stream', [True, False])
@pytest.mark.parametrize(
    ('pieces', 'text'),
    [
        (('0: wave \ud83d', '! now'), '0: wave \ufffd! now'),
        (('0: wave \ud83d', '\ude00 now'), '0: wave \U0001f600 now'),
    ],
)
def test_half_a_character_is_text_and_the_halves_of_one_belong_together(
    server: ModelServer, can_stream: bool, pieces: tuple[str, ...], text: str
) -> None:
    server.will(replies(*pieces, can_stream=can_stream))

    reply = Client(server).model.ask(ASK)

    assert reply.text == text
    assert reply.retries == 0


def test_the_request_has_what_is_configured(server: ModelServer) -> None:
    server.will(replies('ok'))

    Client(server, temperature=0.25, max_tokens=99).ask(stop=['\n\n'], schema=SCHEMA)

    body = server.bodies[0]
    assert {'model': 'gpt-4o', 'temperature': 0.25, 'max_tokens': 99}.items() <= body.items()
    assert body['stop'] == ['\n\n']
    assert [(each['role'], each['content']) for each in body['messages']] == [
        ('system', 'You plan.'),
        ('user', 'Stack the cubes.'),
    ]
    assert body['response_format']['json_schema']['schema'] == SCHEMA
    assert server.headers[0]['authorization'] == 'Bearer sk-test-0123456789abcdef'


def test_a_server_that_refuses_streams_is_asked_without(server: ModelServer) -> None:
    server.will(refuses('stream', "Unsupported parameter: 'stream'", replies('0: wait')))
    client = Client(server)

    assert client.ask() == '0: wait'
    assert client.ask() == '0: wait'
    assert [body['stream'] for body in server.bodies] == [True, False, False]


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HTTP_PROXY', 'http://127.0.0.1:9')
    monkeypatch.delenv('NO_PROXY', raising=False)
    server.will(replies('yes'))

    assert Client(server).ask() == 'yes'


@pytest.mark.parametrize(
    ('pieces', 'reply'),
    [
        (['one\nST', 'OP two'], 'one\n'),
        (['<th', 'ink>Should I stop? ST', 'OP</thi', 'nk>\n\n0: pick'], '0: pick'),
        (['0: pick\n<reasoning>or not?</reasoning>1: wait'], '0: pick\n1: wait'),
        (['or not?\n</thought>\n0: pick'], '0: pick'),
    ],
)
def test_a_reply_ends_at_a_stop_string_and_has_no_thoughts(
    server: ModelServer, pieces: list[str], reply: str
) -> None:
    server.will(replies(*pieces))

    assert Client(server).ask(stop=['STOP']) == reply


PATIENT = {'timeout_s': 60.0, 'first_token_timeout_s': 60.0, 'hang_timeout_s': 60.0}


@pytest.mark.parametrize(
    ('broken', 'changes', 'report'),
    [
        (streams(chunk('0: pi'), then=Handler.hang_up), {}, 'cut'),
        (replies('0: pi', finish=None), {}, 'cut'),
        (streams(chunk('0: '), {'error': {'message': 'lost a GPU'}}), {}, 'lost a GPU'),
        (replies(''), {'retries': 0}, 'empty reply'),
        (
            streams(chunk('0: pi'), then=Handler.hang),
            {'first_token_timeout_s': 1.0},
            'did not come within 1 s',
        ),
        (status(500, 'hiccup'), {'hang_timeout_s': 0.001}, 'hiccup'),
        (status(409, 'hiccup'), {}, 'hiccup'),
        (status(503, 'hiccup'), {}, 'hiccup'),
    ],
)
def test_what_may_pass_is_asked_again_and_reported(
    server: ModelServer,
    broken: Behaviour,
    changes: dict[str, Any],
    report: str,
) -> None:
    server.will(broken, replies('0: pick it'))
    client = Client(server, **changes)
    # Only the first attempt is to end by its limit, also on a busy machine.
    client.changes_in_wait = PATIENT

    reply = client.model.ask(ASK)

    assert (reply.text, reply.retries) == ('0: pick it', 1)
    assert report in client.reports[0]


ENDLESS = {'timeout_s': 0.2, 'max_tokens': 1_000_000_000, 'retries': 0}
FEW = {'max_tokens': 3}
HURRIED = {'first_token_timeout_s': 0.3, 'retries': 0}


@pytest.mark.parametrize(
    ('behaviour', 'changes', 'error', 'message', 'n_asked'),
    [
        (sends('<p>Log in', 'text/html'), {}, ModelUnavailableError, 'web page .*ends in /v1', 1),
        (sends('{"detail": "Hm"}', 'application/json'), {}, ModelUnavailableError, 'Hm', 1),
        (replies(' \n'), {}, ModelError, 'empty reply 2 times', 2),
        (rambles(), {'max_tokens': 20}, EndlessReplyError, 'not end within max_tokens = 20 ', 1),
        (replies('<think>hm', finish='length'), FEW, EndlessReplyError, 'before it wrote an', 1),
        (rambles(), ENDLESS, ModelUnavailableError, 'reply was not there after 0.2 s', 1),
        (drips(), HURRIED, ModelUnavailableError, 'did not come within 0.3 s', 1),
        (status(429, '', retry_after='3600'), {}, ModelRefusedError, 'asks to wait 3600 s', 1),
        (
            *(status(429, '', kind='insufficient_quota'), {}, ModelRefusedError),
            *('quota behind .OPENAI_API_KEY is used up', 1),
        ),
        (status(401, ''), {'api_key_env': 'MY_KEY'}, ModelRefusedError, r'Check \$MY_KEY', 1),
        (
            *(status(400, 'max_tokens: the context length is 4096', param='max_tokens'), {}),
            *(PromptTooLongError, 'context length is 4096', 1),
        ),
        (status(413, 'reduce the length of it'), {}, PromptTooLongError, 'longer context', 1),
    ],
)
def test_what_is_no_reply_ends_with_what_it_was(
    server: ModelServer,
    behaviour: Behaviour,
    changes: dict[str, Any],
    error: type[ModelError],
    message: str,
    n_asked: int,
) -> None:
    server.will(behaviour)

    with pytest.raises(error, match=message) as caught:
        Client(server, **changes).ask(schema=SCHEMA)
    assert (caught.type, len(server.bodies)) == (error, n_asked)


def test_a_prompt_that_cannot_fit_is_not_sent(server: ModelServer) -> None:
    server.will(replies('yes'))
    client = Client(server, context_tokens=4096)
    words = ' '.join(['word'] * 2048)

    assert client.model.ask(ModelRequest.of(words)).text == 'yes'
    with pytest.raises(PromptTooLongError, match=r'at least 2049 tokens, .*= 4096 leaves 2048'):
        client.model.ask(ModelRequest.of(f'{words} more'))
    assert len(server.bodies) == 1
