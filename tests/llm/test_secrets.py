import base64
import json
import logging
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bbllm.core.errors import ConfigError, ModelError
from bbllm.core.protocols import Message, ModelRequest
from bbllm.core.redaction import HIDDEN, Redactor, is_key_like
from bbllm.llm.models.factory import make_models, openai_settings, parse_config
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.probe import probe
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.testing import (
    Behaviour,
    ModelServer,
    echoes_key,
    replies,
    sends,
    status,
    streams,
)
from tests.llm.chat_clients import Client

# No known shape, so that only knowing the key itself can hide it.
KEY = 'correct+horse/battery="staple"-77'
ASK = ModelRequest([Message('user', 'hello')])


def client_of(server: ModelServer) -> Client:
    return Client(server, model='m', api_key=SecretStr(KEY), retries=1)


def everything(error: BaseException) -> str:
    """Return all that can be printed of an error and of those it came from."""
    seen: list[str] = []
    todo: list[BaseException | None] = [error]
    while todo:
        item = todo.pop()
        if item is None:
            continue
        seen += traceback.format_exception(item)
        seen += [str(item), repr(item), repr(item.__dict__), repr(item.args)]
        todo += [item.__cause__, item.__context__]
    return '\n'.join(seen)


@pytest.mark.parametrize('embeds', [False, True])
@pytest.mark.parametrize('code', [401, 404, 500])
def test_a_key_that_the_server_echoes_is_nowhere_to_be_seen(
    server: ModelServer, code: int, embeds: bool, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(echoes_key(code))
    client = client_of(server)
    model = client.model

    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        client.embedder.embed(['a']) if embeds else model.ask(ASK)

    seen = everything(caught.value) + repr(model) + repr(model.settings) + ''.join(client.reports)
    seen += caplog.text + ''.join(repr(record.args) for record in caplog.records)
    for form in (KEY, json.dumps(KEY)[1:-1], repr(KEY)[1:-1], 'battery'):
        assert form not in seen
    assert HIDDEN in str(caught.value)
    assert server.headers[0]['authorization'] == f'Bearer {KEY}'


def test_a_key_in_a_reply_is_hidden_also_when_it_comes_in_two_pieces(server: ModelServer) -> None:
    server.will(replies('your key: ', KEY[:10], KEY[10:], '!', model=f'model-{KEY}'))

    reply = client_of(server).model.ask(ASK)

    assert reply.text == f'your key: {HIDDEN}!'
    assert KEY not in reply.model


@pytest.mark.parametrize(
    'behaviour',
    [
        sends(json.dumps({'got': KEY}), 'application/json'),
        sends(f'<p>{KEY}</p>', 'text/html', 500),
        streams({'error': {'message': f'no {KEY}'}}),
        streams(f'{{"a": "{KEY}'),
        status(401, 'x' * 290 + ' ' + KEY),
    ],
)
def test_a_key_in_an_odd_answer_is_hidden(server: ModelServer, behaviour: Behaviour) -> None:
    server.will(behaviour)

    with pytest.raises(ModelError) as caught:
        client_of(server).model.ask(ASK)
    assert not any(part in everything(caught.value) for part in ('battery', 'correct'))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_password_in_the_base_url_is_sent_and_never_shown(server: ModelServer) -> None:
    url = server.url.replace('://', '://ann:p%40ssw0rd@')
    settings = OpenAISettings(model='m', base_url=url, retries=0, timeout_s=5.0)
    server.will(echoes_key(403))

    with pytest.raises(ModelError) as caught:
        OpenAIChat(settings).ask(ASK)

    expected = base64.b64encode(b'ann:p@ssw0rd').decode()
    assert server.headers[0]['authorization'] == f'Basic {expected}'
    seen = everything(caught.value) + repr(settings) + settings.host
    assert 'ssw0rd' not in seen
    assert expected not in seen


def test_the_probe_shows_no_key_either(server: ModelServer) -> None:
    server.models = None
    server.will(echoes_key())

    with pytest.raises(ModelError) as caught:
        probe(client_of(server).model.settings)
    assert 'battery' not in everything(caught.value)


def test_a_recording_holds_no_key(server: ModelServer, tmp_path: Path) -> None:
    server.will(replies(f'I saw {KEY}'))
    environ = {'OPENAI_API_KEY': KEY, 'OPENAI_BASE_URL': server.url}
    models = make_models(
        parse_config('brain: {model: m}', 'x'), record=tmp_path / 'r.jsonl', environ=environ
    )

    models.brain.ask(ASK)

    text = (tmp_path / 'r.jsonl').read_text()
    assert 'I saw' in text
    assert 'battery' not in text + repr(models)


@pytest.mark.parametrize(
    'text',
    [
        'brain: {api_key: sk-proj-abcdefgh12345678}',
        'brain: {api_key: hunter2}',
        'brain: {model: sk-proj-abcdefgh12345678}',
        'body: {api_key_env: sk-proj-abcdefgh12345678}',
        'body: {api_key_env: 9f86d081884c7d659a2feaa0c55ad015}',
        'brain: {base_url: "http://ann:hunter2@host/v1"}',
        'OPENAI_API_KEY: hunter2',
        'sk-proj-abcdefgh12345678: {}',
        'brain: {headers: [Bearer hunter2]}',
        'brain: {token: 12345}',
    ],
)
def test_a_file_with_a_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ConfigError, match='Keep secrets in the environment') as caught:
        parse_config(text, 'llm.yaml')
    seen = everything(caught.value)
    for secret in ('abcdefgh', 'hunter2', '9f86d0', '12345'):
        assert secret not in seen.replace('test_secrets', '')


def test_broken_yaml_is_refused_without_showing_its_lines() -> None:
    text = 'brain:\n  api_key: "sk-proj-abcdefgh12345678\n'

    with pytest.raises(ConfigError, match=r'llm\.yaml is not valid YAML in line 3') as caught:
        parse_config(text, 'llm.yaml')
    assert 'abcdefgh' not in everything(caught.value)


@pytest.mark.parametrize('key', ['sk-1234\nX-Evil: 1', 'sk-12\u00e934', 'two words'])
def test_a_key_with_impossible_characters_is_refused_without_repeating_it(key: str) -> None:
    section = parse_config('', 'x').brain

    with pytest.raises(ConfigError, match='characters that a key cannot have') as caught:
        openai_settings(section, 'brain', {'OPENAI_API_KEY': key})
    assert key not in everything(caught.value)


def test_a_short_key_is_hidden_as_a_word_but_stays_in_replies() -> None:
    redactor = Redactor(['none'])

    assert redactor.hide('nonetheless none') == f'nonetheless {HIDDEN}'
    assert redactor.hide_known('none') == 'none'


def test_words_after_basic_stay_and_logins_do_not() -> None:
    redactor = Redactor()

    for text in ('Use basic shapes', 'Basic geometric objects', 'basic A1'):
        assert redactor.hide(text) == text
        assert not is_key_like(text)
    assert redactor.hide('basic dXNlcjpwYXNz, b') == f'basic {HIDDEN}, b'
    assert redactor.hide('Bearer of secrets') == f'Bearer {HIDDEN} secrets'


@pytest.mark.parametrize('name', ['gpt-4o', 'Qwen/Qwen3-30B-A3B-Instruct-2507', 'qwen3:4b', '0.5'])
def test_names_of_models_are_not_taken_for_keys(name: str) -> None:
    assert not is_key_like(name)


@given(
    st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_any_long_key_is_hidden_in_plain_json_and_repr(key: str, left: str, right: str) -> None:
    redactor = Redactor([key])
    message = f'{left} {key} {right}'

    for spelled in (message, json.dumps(message), repr(message)):
        assert key not in redactor.hide(spelled).replace(HIDDEN, '\0')
