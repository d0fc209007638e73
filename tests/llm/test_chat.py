"""Conversations over HTTP: what is asked, and replies that are cut, empty, endless or none."""

import pytest
from chat_clients import ASK, SCHEMA, Client
from fake_faults import cuts, rambles, refuses, sends
from fake_server import Behaviour, FakeServer, chunk, says, status, streams

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import CancelledError, ModelError, ModelRefusedError, ModelUnavailableError
from bbllm.core.protocols import Usage


def test_a_streamed_reply_comes_whole(server: FakeServer) -> None:
    server.will(says('0: pick ', 'the red cube\n', '1: Done'))

    reply = Client(server).model.complete(ASK)

    assert reply.text == '0: pick the red cube\n1: Done'
    assert reply.usage == Usage(7, 3)
    assert reply.model == 'fake-1'
    assert reply.retries == 0
    assert reply.duration_s > 0.0


@pytest.mark.parametrize('can_stream', [True, False])
@pytest.mark.parametrize(
    ('pieces', 'text'),
    [
        (('0: wave \ud83d', '! now'), '0: wave \ufffd! now'),
        (('0: wave \ud83d', '\ude00 now'), '0: wave \U0001f600 now'),
    ],
)
def test_half_a_character_is_text_and_the_halves_of_one_belong_together(
    server: FakeServer, can_stream: bool, pieces: tuple[str, ...], text: str
) -> None:
    server.will(says(*pieces, can_stream=can_stream))

    reply = Client(server).model.complete(ASK)

    assert reply.text == text
    assert reply.retries == 0


def test_the_request_says_what_is_configured(server: FakeServer) -> None:
    server.will(says('ok'))

    Client(server, temperature=0.25, max_tokens=99).ask(stop=['\n\n'], schema=SCHEMA)

    body = server.bodies[0]
    assert body['model'] == 'gpt-4o'
    assert body['temperature'] == 0.25
    assert body['max_tokens'] == 99
    assert body['stop'] == ['\n\n']
    assert body['messages'] == [
        {'role': 'system', 'content': 'You plan.'},
        {'role': 'user', 'content': 'Stack the cubes.'},
    ]
    assert body['response_format']['json_schema']['schema'] == SCHEMA
    assert server.headers[0]['authorization'] == 'Bearer sk-test-0123456789abcdef'


def test_a_stop_string_ends_the_reply_when_the_server_ignores_it(server: FakeServer) -> None:
    server.will(says('one\nST', 'OP two'))

    assert Client(server).ask(stop=['STOP']) == 'one\n'


def test_a_server_that_refuses_streams_is_asked_without(server: FakeServer) -> None:
    server.will(refuses('stream', "Unsupported parameter: 'stream'", says('0: wait')))
    client = Client(server)

    assert client.ask() == '0: wait'
    assert client.ask() == '0: wait'
    assert [body['stream'] for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    ('parameter', 'message', 'param'),
    [
        ('stream_options', 'Unrecognized request argument supplied: stream_options', None),
        ('response_format', "This model does not support 'response_format'", None),
        ('response_format', 'no', 'response_format'),
        (
            'temperature',
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the "
            'default (1) value is supported.',
            'temperature',
        ),
        ('stop', "Unsupported parameter: 'stop' is not supported with this model.", 'stop'),
    ],
)
def test_a_refused_parameter_is_left_out_from_then_on(
    server: FakeServer, parameter: str, message: str, param: str | None
) -> None:
    server.will(refuses(parameter, message, says('yes'), param=param))
    client = Client(server)

    assert client.ask(stop=['x'], schema=SCHEMA) == 'yes'
    assert client.ask(stop=['x'], schema=SCHEMA) == 'yes'

    assert [parameter in body for body in server.bodies] == [True, False, False]
    assert len(client.reports) == 1
    assert 'gpt-4o at 127.0.0.1' in client.reports[0]
    assert client.model.supports_schema is (parameter != 'response_format')


def test_a_reasoning_model_is_given_its_own_name_for_the_limit(server: FakeServer) -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead."
    )
    server.will(refuses('max_tokens', message, says('yes'), param='max_tokens'))

    assert Client(server).ask() == 'yes'
    assert server.bodies[1]['max_completion_tokens'] == 2048


def test_a_schema_that_is_insisted_on_is_not_given_up(server: FakeServer) -> None:
    server.will(refuses('response_format', 'response_format is not supported', says('yes')))

    with pytest.raises(ModelRefusedError, match='response_format is not supported'):
        Client(server, use_schema=True).ask(schema=SCHEMA)


def test_a_prompt_that_is_too_long_is_no_reason_to_drop_the_limit(server: FakeServer) -> None:
    server.will(status(400, "'max_tokens' is too large: the context length is 4096", param=None))

    with pytest.raises(ModelRefusedError, match='context length is 4096'):
        Client(server).ask()
    assert len(server.bodies) == 1


def test_thoughts_are_no_part_of_the_reply(server: FakeServer) -> None:
    server.will(says('<th', 'ink>Should I stop? ST', 'OP</thi', 'nk>\n\n0: pick'))

    assert Client(server).ask(stop=['STOP']) == '0: pick'


def test_a_cancel_ends_a_reply_that_is_streamed(server: FakeServer) -> None:
    server.will(rambles())
    token = CancelToken(lambda: token.cancel('stop') if server.bodies else None)

    with pytest.raises(CancelledError, match='stop'):
        Client(server, timeout_s=3600.0, max_tokens=1_000_000_000).ask(cancel=token)


def test_a_cancelled_token_sends_nothing(server: FakeServer) -> None:
    token = CancelToken()
    token.cancel('stop')

    with pytest.raises(CancelledError, match='stop'):
        Client(server).ask(cancel=token)
    assert server.bodies == []


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HTTP_PROXY', 'http://127.0.0.1:9')
    monkeypatch.delenv('NO_PROXY', raising=False)
    server.will(says('yes'))

    assert Client(server).ask() == 'yes'


@pytest.mark.parametrize('broken', [cuts('0: pi'), says('0: pi', finish=None)])
def test_a_cut_reply_is_asked_for_again(server: FakeServer, broken: Behaviour) -> None:
    server.will(broken, says('0: pick it'))
    client = Client(server)

    assert client.ask() == '0: pick it'
    assert 'cut' in client.reports[0]


def test_an_error_in_mid_stream_is_tried_again(server: FakeServer) -> None:
    server.will(streams([chunk('0: '), {'error': {'message': 'lost a GPU'}}]), says('yes'))
    client = Client(server)

    assert client.ask() == 'yes'
    assert 'lost a GPU' in client.reports[0]


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
