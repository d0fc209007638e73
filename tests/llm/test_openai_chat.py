from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from fake_server import (
    FakeServer,
    chunk,
    cuts,
    drips,
    hangs,
    rambles,
    refuses,
    says,
    sends,
    status,
    streams,
)
from pydantic import SecretStr

from bbllm.core.errors import (
    CancelledError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
)
from bbllm.core.protocols import ChatModel, Message, Usage
from bbllm.llm.backoff import Backoff
from bbllm.llm.openai_chat import OpenAIChat
from bbllm.llm.openai_settings import OpenAISettings

ASK = [Message('system', 'You plan.'), Message('user', 'Stack the cubes.')]
SCHEMA = {'type': 'object', 'properties': {'skill': {'enum': ['pick']}}}


class Client:
    """A model on the fake server with short limits, and what it told and slept."""

    def __init__(self, server: FakeServer, **changes: object):
        self.told: list[str] = []
        self.slept: list[float] = []
        settings = OpenAISettings(
            model='gpt-4o',
            base_url=server.url,
            api_key=SecretStr('sk-test-0123456789abcdef'),
            timeout_s=5.0,
            first_token_timeout_s=5.0,
            retries=2,
        )
        self.model = OpenAIChat(
            replace(settings, **changes),  # type: ignore[arg-type]
            backoff=Backoff(first_s=1.0),
            sleep=self.slept.append,
            jitter=lambda: 1.0,
            tell=self.told.append,
        )

    def ask(self, **options: object) -> str:
        return self.model.complete(ASK, **options).text  # type: ignore[arg-type]


def test_a_streamed_reply_comes_whole_and_piece_by_piece(server: FakeServer) -> None:
    server.will(says('0: pick ', 'the red cube\n', '1: Done'))
    heard: list[str] = []
    client = Client(server)

    reply = client.model.complete(ASK, on_text=heard.append)

    assert reply.text == '0: pick the red cube\n1: Done'
    assert [text for text in heard if text] == ['0: pick ', 'the red cube\n', '1: Done']
    assert reply.usage == Usage(7, 3)
    assert reply.model == 'fake-1'
    assert reply.retries == 0
    assert reply.duration_s > 0.0


@pytest.mark.parametrize('can_stream', [True, False])
@pytest.mark.parametrize(
    ('pieces', 'text'),
    [
        (('0: wave \ud83d',), '0: wave \ufffd'),
        (('0: wave \ude00', ' now'), '0: wave \ufffd now'),
        (('0: wave \ud83d', '! now'), '0: wave \ufffd! now'),
        (('0: wave \ud83d', '\ude00 now'), '0: wave \U0001f600 now'),
    ],
)
def test_half_a_character_is_text_and_the_halves_of_one_belong_together(
    server: FakeServer, can_stream: bool, pieces: tuple[str, ...], text: str
) -> None:
    server.will(says(*pieces, can_stream=can_stream))
    heard: list[str] = []

    reply = Client(server).model.complete(ASK, on_text=heard.append)

    assert (reply.text, ''.join(heard)) == (text, text)
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


def test_it_is_a_chat_model(server: FakeServer) -> None:
    assert isinstance(Client(server).model, ChatModel)


def test_a_stop_string_ends_the_reply_when_the_server_ignores_it(server: FakeServer) -> None:
    server.will(says('one\nST', 'OP two'))
    heard: list[str] = []

    assert Client(server).ask(stop=['STOP'], on_text=heard.append) == 'one\n'
    assert ''.join(heard) == 'one\n'


def test_a_server_that_answers_in_one_piece_is_understood(server: FakeServer) -> None:
    server.will(says('0: wait', can_stream=False))
    heard: list[str] = []

    reply = Client(server).model.complete(ASK, on_text=heard.append)

    assert reply.text == ''.join(heard) == '0: wait'
    assert reply.usage == Usage(7, 3)
    assert len(server.bodies) == 1


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
        ('response_format', 'guided decoding with json_schema is not supported here', None),
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
    assert len(client.told) == 1
    assert 'gpt-4o at 127.0.0.1' in client.told[0]
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
        Client(server, schema=True).ask(schema=SCHEMA)


def test_a_prompt_that_is_too_long_is_no_reason_to_drop_the_limit(server: FakeServer) -> None:
    server.will(status(400, "'max_tokens' is too large: the context length is 4096", param=None))

    with pytest.raises(ModelRefusedError, match='context length is 4096'):
        Client(server).ask()
    assert len(server.bodies) == 1


def test_429_is_waited_out_as_long_as_the_server_asks(server: FakeServer) -> None:
    server.will(status(429, 'slow down', retry_after='7'), says('yes'))
    client = Client(server)

    reply = client.model.complete(ASK)

    assert reply.text == 'yes'
    assert reply.retries == 1
    assert sum(client.slept) == pytest.approx(7.0)
    assert '429 (too many requests): slow down; trying again in 7.0 s (1 of 2)' in client.told[0]


def test_a_server_that_asks_to_wait_for_an_hour_is_not_waited_for(server: FakeServer) -> None:
    server.will(status(429, 'come back later', retry_after='3600'))
    client = Client(server)

    with pytest.raises(ModelRefusedError, match='asks to wait 3600 s'):
        client.ask()
    assert client.slept == []


def test_a_used_up_quota_is_not_asked_again(server: FakeServer) -> None:
    server.will(status(429, 'You exceeded your quota', kind='insufficient_quota'))

    with pytest.raises(ModelRefusedError, match='quota behind \\$OPENAI_API_KEY is used up'):
        Client(server).ask()
    assert len(server.bodies) == 1


@pytest.mark.parametrize('code', [408, 409, 429, 500, 502, 503])
def test_passing_trouble_is_tried_again(server: FakeServer, code: int) -> None:
    server.will(status(code, 'hiccup'), status(code, 'hiccup'), says('yes'))
    client = Client(server)

    assert client.model.complete(ASK).retries == 2
    assert sum(client.slept) == pytest.approx(1.0 + 2.0)


def test_a_server_that_stays_broken_ends_with_what_was_tried(server: FakeServer) -> None:
    server.will(status(500, 'boom'))

    with pytest.raises(ModelUnavailableError) as caught:
        Client(server).ask()

    text = str(caught.value)
    assert text.startswith(
        f'gpt-4o at 127.0.0.1:{server.port} answered 500 (internal error): boom'
    )
    assert 'asked 3 times' in text
    assert '--brain offline' in text
    assert len(server.bodies) == 3


def test_401_says_which_variable_to_check(server: FakeServer) -> None:
    server.will(status(401, 'Incorrect API key provided'))

    with pytest.raises(ModelRefusedError, match='Check \\$MY_KEY'):
        Client(server, key_env='MY_KEY').ask()
    assert len(server.bodies) == 1


def test_401_without_a_key_says_that_none_was_sent(server: FakeServer) -> None:
    server.will(status(401, 'who are you'))

    with pytest.raises(ModelRefusedError, match='No key was sent: set \\$OPENAI_API_KEY'):
        Client(server, api_key=None).ask()


def test_an_unknown_model_is_answered_with_those_there_are(server: FakeServer) -> None:
    server.will(status(404, 'The model does not exist'))

    with pytest.raises(ModelRefusedError) as caught:
        Client(server, model='gpt-4o-mimi').ask()

    assert 'Did you mean gpt-4o-mini?' in str(caught.value)
    assert 'The server has: gpt-4o, gpt-4o-mini' in str(caught.value)


def test_404_from_a_server_without_a_list_hints_at_the_base_url(server: FakeServer) -> None:
    server.will(status(404, 'nothing here'))
    server.models = None

    with pytest.raises(ModelRefusedError, match='usually ends in /v1'):
        Client(server).ask()


def test_a_server_that_is_down_is_named() -> None:
    with FakeServer() as server:
        client = Client(server, retries=1)

    with pytest.raises(ModelUnavailableError) as caught:
        client.ask()

    assert f'Is a server running at 127.0.0.1:{server.port}?' in str(caught.value)
    assert 'asked 2 times' in str(caught.value)


def test_a_hang_ends(server: FakeServer) -> None:
    server.will(hangs())

    with pytest.raises(ModelUnavailableError, match=r'first word .* did not come within 0\.2 s'):
        Client(server, first_token_timeout_s=0.2, retries=0).ask()


def test_a_hang_in_mid_reply_is_asked_again_and_heard_once(server: FakeServer) -> None:
    server.will(hangs('0: pi'), says('0: pick', ' it'))
    heard: list[str] = []

    text = Client(server, first_token_timeout_s=0.2).ask(on_text=heard.append)

    assert text == '0: pick it'
    assert ''.join(heard) == '0: pi'


def test_a_server_that_only_says_that_it_is_busy_runs_into_the_limit(server: FakeServer) -> None:
    server.will(drips())
    begun_s = time.monotonic()

    with pytest.raises(ModelUnavailableError, match=r'did not come within 0\.3 s'):
        Client(server, first_token_timeout_s=0.3, retries=0).ask()
    assert time.monotonic() - begun_s < 5.0
    for thread in threading.enumerate():
        if thread.name == 'model request':
            thread.join(5.0)
            assert not thread.is_alive()


def test_the_whole_reply_has_a_limit_too(server: FakeServer) -> None:
    server.will(rambles())

    with pytest.raises(ModelUnavailableError, match=r'whole reply was not there after 0\.2 s'):
        Client(server, timeout_s=0.2, max_tokens=1_000_000_000, retries=0).ask()


@pytest.mark.parametrize('broken', [cuts('0: pi'), says('0: pi', finish=None)])
def test_a_cut_reply_is_asked_for_again(server: FakeServer, broken: object) -> None:
    server.will(broken, says('0: pick it'))  # type: ignore[arg-type]
    client = Client(server)

    assert client.ask() == '0: pick it'
    assert 'cut' in client.told[0]


def test_a_reply_that_is_always_cut_ends_with_an_error(server: FakeServer) -> None:
    server.will(cuts('0: pi'))

    with pytest.raises(ModelUnavailableError, match=r'cut .*asked 3 times'):
        Client(server).ask()


def test_an_error_in_mid_stream_is_tried_again(server: FakeServer) -> None:
    server.will(streams([chunk('0: '), {'error': {'message': 'lost a GPU'}}]), says('yes'))
    client = Client(server)

    assert client.ask() == 'yes'
    assert 'lost a GPU' in client.told[0]


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


def test_thoughts_are_no_part_of_the_reply(server: FakeServer) -> None:
    server.will(says('<th', 'ink>Should I stop? ST', 'OP</thi', 'nk>\n\n0: pick'))

    assert Client(server).ask(stop=['STOP']) == '0: pick'


def test_a_model_that_declines_is_quoted(server: FakeServer) -> None:
    delta = {'index': 0, 'delta': {'refusal': 'I will not.'}, 'finish_reason': 'stop'}
    server.will(streams([{'model': 'm', 'choices': [delta]}]))

    with pytest.raises(ModelError, match='declined to answer: I will not'):
        Client(server).ask()


def test_a_content_filter_is_named(server: FakeServer) -> None:
    server.will(says('0: ', finish='content_filter'))

    with pytest.raises(ModelError, match='content filter'):
        Client(server).ask()


def test_what_on_text_raises_comes_out_as_it_is(server: FakeServer) -> None:
    server.will(says('0: pick'))

    def cancel(text: str) -> None:
        if text:
            raise CancelledError('stop')

    with pytest.raises(CancelledError, match='stop'):
        Client(server).ask(on_text=cancel)


def test_a_silent_server_can_be_given_up_on_before_its_limit(server: FakeServer) -> None:
    server.will(hangs())

    def cancel(text: str) -> None:
        raise CancelledError('enough')

    begun_s = time.monotonic()
    with pytest.raises(CancelledError, match='enough'):
        Client(server).ask(on_text=cancel)
    assert time.monotonic() - begun_s < 4.0


def test_a_wait_between_tries_can_be_given_up_on(server: FakeServer) -> None:
    server.will(status(503, 'overloaded'))
    client = Client(server)

    def cancel(text: str) -> None:
        if client.told:
            raise CancelledError('enough')

    with pytest.raises(CancelledError):
        client.ask(on_text=cancel)
    assert client.slept == []


def test_no_usage_counts_as_nothing(server: FakeServer) -> None:
    server.will(says('yes', tokens=None))

    assert Client(server).model.complete(ASK).usage == Usage(0, 0)


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HTTP_PROXY', 'http://127.0.0.1:9')
    monkeypatch.delenv('NO_PROXY', raising=False)
    server.will(says('yes'))

    assert Client(server).ask() == 'yes'
