"""The file `config/llm.yaml`: what it may hold, and what is refused."""

from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.prompt_size import prompt_limit
from bbllm.llm.config import GOAL_SUFFIX
from bbllm.llm.models.factory import (
    LlmConfig,
    Models,
    load_config,
    make_models,
    parse_config,
    probe_models,
)
from bbllm.testing import ModelServer

SHIPPED = Path(__file__).parents[2] / 'config' / 'llm.yaml'
KEY = {'OPENAI_API_KEY': 'sk-test-0123456789'}
DEFAULTS = parse_config('', 'llm.yaml')


def test_the_shipped_file_has_the_defaults() -> None:
    assert load_config(SHIPPED) == LlmConfig()


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('brain: {modle: x}', "brain: unknown field 'modle'; did you mean 'model'"),
        ('brains: {}', "unknown field 'brains'; did you mean 'brain'"),
        ('brain: {provider: opanai}', r"brain, provider: must be one of auto, openai.*'opanai'"),
        ('brain: {temperature: 3}', "temperature = '3' .*less than or equal to 2"),
        ('brain: {temperature: .nan}', "temperature = 'nan' .*finite"),
        ('body: {schema: maybe}', "body: schema = 'maybe' .*'auto', 'json_.* or 'text'"),
        ('body: [1]', r'body = .*dictionary'),
        ('embeddings: {api_key_env: my key}', r'embeddings\.api_key_env'),
        ('- brain', 'expected the sections'),
        ('brain: {', 'line 1'),
        ('brain: \x00', 'YAML does not allow'),
        ('brain: {context_tokens: 4047}', 'brain, context_tokens: .* least 4048, .*not 4047'),
        ('brain: {max_tokens: 100, context_tokens: 99}', 'at least 2100, which is max_tokens'),
    ],
)
def test_a_bad_file_is_explained(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_config(text, 'my/llm.yaml')
    assert str(caught.value).startswith('my/llm.yaml')


URL = {'OPENAI_BASE_URL': 'http://localhost:11434/v1'}
NAMED = 'brain: {model: m}'  # and the Body on the same server
HTTP = {**KEY, 'OPENAI_BASE_URL': 'http://far.example/v1'}


@pytest.mark.parametrize(
    ('text', 'environ', 'names', 'notices'),
    [
        ('', {}, 'offline offline', [('Brain and Body are `offline`', 'not a language model')]),
        ('', {'OPENAI_API_KEY': ' '}, 'offline offline', [('`offline`', '')]),
        (NAMED, URL, 'm m', [('localhost', '')]),
        (NAMED, KEY, 'm m', [('Brain and Body are m at api.openai.com.', '')]),
        (NAMED, HTTP, 'm m', [('far.example', ''), ('unencrypted', '')]),
        *[
            (
                f'brain: {{provider: {name}, goal: {{seed: 1}}}}\nbody: {{provider: offline}}',
                *({}, f'{name} offline'),
                [(f'`{name}` is a deterministic stand-in that receives the goal', 'not planning')],
            )
            for name in ('expert', 'uninformed')
        ],
    ],
)
def test_notices_name_the_models_that_answer(
    text: str, environ: dict[str, str], names: str, notices: list[tuple[str, str]]
) -> None:
    models = make_models(parse_config(text, 'f', with_goal=True), environ=environ)

    assert f'{models.brain.name} {models.body.name}' == names
    for notice, (first, second) in zip(models.notices, notices, strict=True):
        assert first in notice and second in notice


@pytest.mark.parametrize('name', ['expert', 'uninformed'])
def test_a_model_that_needs_the_goal_works_in_the_bench_only(name: str) -> None:
    with pytest.raises(ConfigError, match=rf'`{name}` works in `bbllm bench` only.*goal'):
        make_models(DEFAULTS, overrides={'brain': name, 'body': 'offline'}, environ={})


@pytest.mark.parametrize(
    ('choice', 'message'),
    [
        ('ofline', r'did you mean offline\?.*openai:ofline'),
        ('', 'takes a provider'),
        ('openai:', 'after the colon'),
        ('sk-proj-abcdefgh12345678', 'Keys come from the environment'),
    ],
)
def test_a_bad_override_is_explained(choice: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        make_models(DEFAULTS, overrides={'brain': choice}, environ=KEY)
    assert 'abcdefgh' not in str(caught.value)


NO_KEY = 'brain: {api_key_env: GROQ_KEY, base_url: "https://g.example/v1"}'


@pytest.mark.parametrize(
    ('text', 'environ', 'message'),
    [
        (NO_KEY, KEY, r'\$GROQ_KEY is not set'),
        ('brain: {provider: replay}', {}, '--replay FILE'),
        *[
            ('', {'OPENAI_BASE_URL': url}, 'http://localhost:11434/v1')
            for url in ('localhost:1/v1', 'http://', 'http://h:x/v1')
        ],
    ],
)
def test_models_that_cannot_be_had_are_explained(
    tmp_path: Path, text: str, environ: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make_models(parse_config(text, 'f'), environ=environ)
    with pytest.raises(ConfigError, match=r'nowhere\.yaml: No such file'):
        load_config(tmp_path / 'nowhere.yaml')


def embedder_of(choice: str | None, environ: dict[str, str]) -> Models:
    overrides = {'brain': 'offline'} | ({} if choice is None else {'embeddings': choice})
    return make_models(DEFAULTS, overrides=overrides, embedding=True, environ=environ)


@pytest.mark.parametrize(
    ('choice', 'environ', 'name'),
    [
        (None, {}, 'lexical'),
        ('offline', KEY, 'lexical'),
        ('lexical', KEY, 'lexical'),
        ('nomic-embed-text', URL, 'nomic-embed-text'),
        ('openai:lexical-2', KEY, 'lexical-2'),
    ],
)
def test_the_embedder_is_the_chosen_one_or_one_that_is_available(
    choice: str | None, environ: dict[str, str], name: str
) -> None:
    embedder = embedder_of(choice, environ).embedder

    assert embedder is not None
    assert embedder.name == name


@pytest.mark.parametrize(
    ('schema', 'form'), [('true', 'json_schema'), ('false', 'text'), ('tool', 'tool')]
)
def test_a_schema_may_be_wanted_or_not_in_one_word(schema: str, form: str) -> None:
    assert parse_config(f'brain: {{schema: {schema}}}', 'f').brain.reply_format == form


@pytest.mark.parametrize(
    ('role', 'listed', 'message'),
    [
        ('brain', ('b', 'a'), 'the server lists 2 models: a, b. Use --brain NAME'),
        ('brain', (), 'the server lists no models. Use --brain NAME'),
        ('brain', None, r'answered 404 .*no such page. Use --brain NAME.*--brain offline'),
        ('brain', [f'm{i:03}' for i in range(99)], 'lists 99 models: m000, .*m029 and 69 more'),
        ('body', ('a', 'b'), 'the server lists 2 models: a, b. Use --body NAME.*--body offline'),
        ('embeddings', ('a',), 'the server lists 1 model: a. Use --body NAME.*--body lexical'),
    ],
)
def test_no_model_of_several_is_chosen_for_the_user_but_all_are_listed(
    server: ModelServer, role: str, listed: tuple[str, ...] | None, message: str
) -> None:
    server.models = listed
    roles = {'brain': 'offline', 'body': 'offline', role: 'openai'}
    roles.pop('body' if role == 'embeddings' else 'embeddings', None)

    with pytest.raises(ConfigError, match=message):
        make_models(
            DEFAULTS,
            overrides=roles,
            embedding=role == 'embeddings',
            environ={'OPENAI_BASE_URL': server.url},
        )
    assert server.bodies == []


def test_the_only_model_of_a_server_is_taken_for_both_and_named(server: ModelServer) -> None:
    server.models = ('llama-3',)

    models = make_models(DEFAULTS, environ={'OPENAI_BASE_URL': server.url})
    found = probe_models(DEFAULTS, environ={'OPENAI_BASE_URL': server.url})

    assert (models.brain.name, models.body.name) == ('llama-3', 'llama-3')
    assert models.brain is models.body
    assert models.notices[0].startswith('Brain and Body are llama-3 at ')
    assert [(each.role, each.ok) for each in found] == [('brain', True), ('body', True)]
    assert 'llama-3' in found[0].sentence


def test_equal_sections_share_one_client_so_that_it_learns_once() -> None:
    models = make_models(parse_config(NAMED, 'f'), environ=URL)
    apart = make_models(parse_config(f'{NAMED}\nbody: {{effort: low}}', 'f'), environ=URL)

    assert models.brain is models.body
    assert apart.brain is not apart.body
    assert (apart.brain.name, apart.body.name) == ('m', 'm')


def test_a_stand_in_that_nobody_chose_is_in_a_notice() -> None:
    assert [text for text in embedder_of(None, {}).notices if 'lexical' in text]
    assert embedder_of('lexical', {}).notices == ()


@pytest.mark.parametrize(
    ('choice', 'message'),
    [
        ('text-embedding-3-large', r'\$OPENAI_API_KEY.*--body lexical'),
        ('lexcal', r'--body lexcal: did you mean lexical\?'),
        ('replay', 'no file to answer from'),
        ('', r'--body takes a provider \(auto, lexical, openai, replay\).*name of a model'),
    ],
)
def test_an_embedder_that_cannot_be_had_is_explained(choice: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        embedder_of(choice, {})


def test_a_recording_is_never_written_into_another(tmp_path: Path) -> None:
    path = tmp_path / 'talk.jsonl'
    path.write_text('{}\n')

    with pytest.raises(ConfigError, match='is a recording already'):
        make_models(DEFAULTS, record=path, environ={})
    with pytest.raises(ConfigError, match='exclude each other'):
        make_models(DEFAULTS, record=path, replay=path, environ={})


TEXT = 'brain: {model: small, max_tokens: 1000, context_tokens: 8192}\nbody: {model: small}'


def test_prompts_have_what_the_reply_leaves_of_the_context(tmp_path: Path) -> None:
    record = tmp_path / 'talk.jsonl'
    models = make_models(parse_config(TEXT, 'f'), environ=URL, record=record)

    assert prompt_limit(models.brain) == 7192
    assert prompt_limit(models.body) is None


GOAL_TEXT = '{role}: {{provider: expert, goal: {{seed: 1}}}}'


@pytest.mark.parametrize('role', ['brain', 'body'])
def test_a_goal_that_somebody_wrote_is_refused_with_what_works(tmp_path: Path, role: str) -> None:
    file = tmp_path / 'llm.yaml'
    file.write_text(GOAL_TEXT.format(role=role))

    with pytest.raises(ConfigError) as caught:
        load_config(file)

    assert str(caught.value).startswith(f'{file}: `{role}.goal` cannot be set')
    assert str(caught.value).endswith('Take it out.')


def test_a_goal_that_the_bench_wrote_for_a_node_reaches_the_model(tmp_path: Path) -> None:
    file = tmp_path / f'llm{GOAL_SUFFIX}'
    file.write_text(GOAL_TEXT.format(role='brain') + '\nbody: {provider: offline}')

    assert make_models(load_config(file)).brain.name == 'expert'
