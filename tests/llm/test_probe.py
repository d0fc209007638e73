"""The probe of a model: who answers, and in which sentence nobody does."""

from __future__ import annotations

from fake_server import FakeServer, says, status

from bbllm.llm.models.factory import parse_config, probe_models
from bbllm.llm.openai.chat import probe
from bbllm.llm.openai.settings import OpenAISettings

DEFAULTS = parse_config('', 'llm.yaml')


def test_the_probe_names_model_and_host(server: FakeServer) -> None:
    settings = OpenAISettings(model='gpt-4o', base_url=server.url)

    assert probe(settings).startswith(f'gpt-4o at 127.0.0.1:{server.port} answers in')
    assert server.bodies == []


def test_the_probe_asks_where_there_is_no_list(server: FakeServer) -> None:
    server.models = None
    server.will(says('OK'))

    assert 'answers in' in probe(OpenAISettings(model='m', base_url=server.url))
    assert len(server.bodies) == 1


def test_the_probe_of_both_roles_tells_the_good_from_the_bad(server: FakeServer) -> None:
    server.will(status(404, 'no such model'))
    environ = {'OPENAI_BASE_URL': server.url}

    brain, body = probe_models(
        DEFAULTS, overrides={'brain': 'gpt-4x', 'body': 'offline'}, environ=environ
    )

    assert not brain.ok
    assert 'Did you mean gpt-4o?' in brain.sentence
    assert body.ok
    assert 'not a language model' in body.sentence


def test_the_probe_of_a_server_that_is_down_does_not_raise() -> None:
    with FakeServer() as server:
        environ = {'OPENAI_BASE_URL': server.url}

    for result in probe_models(DEFAULTS, environ=environ):
        assert not result.ok
        assert 'Is a server running at' in result.sentence
