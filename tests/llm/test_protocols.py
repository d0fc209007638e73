"""Differences between servers, each played over HTTP: what is sent, and what comes of it."""

from dataclasses import replace

import pytest

from bbllm.testing import ModelServer
from tests.llm.chat_clients import ASK, SCHEMA, Client
from tests.llm.protocol_fixtures import FIXTURES, Fixture


@pytest.mark.parametrize('fixture', FIXTURES, ids=lambda fixture: fixture.name)
def test_a_server_is_understood(server: ModelServer, fixture: Fixture) -> None:
    server.will(*fixture.answers)
    client = Client(server, **fixture.settings)

    if fixture.error is not None:
        with pytest.raises(fixture.error, match=fixture.message) as caught:
            client.model.ask(replace(ASK, schema=SCHEMA))
        assert caught.type is fixture.error
    else:
        reply = client.model.ask(replace(ASK, schema=SCHEMA))
        assert reply.text == fixture.text
        assert fixture.usage in (None, reply.usage)

    assert len(server.bodies) == len(fixture.answers)
    last = server.bodies[-1]
    assert {name: last.get(name) for name in fixture.sent} == fixture.sent
    for report, words in zip(client.reports, fixture.reports, strict=True):
        assert words in report


def test_what_a_server_refused_is_not_sent_again(server: ModelServer) -> None:
    (fixture,) = (each for each in FIXTURES if each.name.startswith('vllm: neither'))
    server.will(*fixture.answers)
    client = Client(server)

    for _ in range(2):
        assert client.model.ask(replace(ASK, schema=SCHEMA)).text == '<pass>'

    assert len(server.bodies) == len(fixture.answers) + 1
    assert len(client.reports) == 2
    assert not client.model.supports_schema


def test_a_prompt_has_the_schema_in_json_object_only(
    server: ModelServer,
) -> None:
    server.will(*FIXTURES[-1].answers)
    Client(server, reply_format='json_object').ask(schema=SCHEMA)

    asked = server.bodies[0]['messages']
    assert asked[0]['content'] == ASK.messages[0].content
    assert asked[-1]['content'].startswith(
        f'{ASK.messages[-1].content}\n\nReply with one JSON object'
    )
    assert '"enum": ["pick"]' in asked[-1]['content']
