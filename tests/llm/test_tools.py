"""Tools on a server: declared, called, answered, recorded; in text where a server has none."""

import json
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ModelRefusedError
from bbllm.core.events import Limits, ModelCall, ModelReplied
from bbllm.core.protocols import Message, ModelRequest, Reply, Tool, ToolCall
from bbllm.core.types import Task
from bbllm.llm.recording.replay import RecordingModel, ReplayModel
from bbllm.llm.tool_text import call_in_text, with_tools_in_text
from bbllm.testing import ModelServer, ScriptedModel, calls, refuses, replies, status
from tests.llm.chat_clients import KEY, Client

PICK = Tool('pick', 'Takes an object.', {'type': 'object', 'properties': {'object': {}}})
LOOK = Tool('look', 'Looks.', {'type': 'object', 'properties': {}})
CALL = ToolCall('pick', '{"object": "red_cube"}')
TALK = (
    Message('system', 'You act.'),
    Message('user', 'Take the cube.'),
    Message('assistant', 'So.', calls=(ToolCall('look', '{}', 'call00001'),)),
    Message('tool', 'red_cube', call_id='call00001'),
)
ASKED = ModelRequest(TALK, tools=[PICK, LOOK])


def test_tools_calls_and_results_are_sent_as_the_protocol_has_them() -> None:
    with ModelServer(calls(CALL)) as server:
        reply = Client(server).model.ask(ASKED)

    (body,) = server.bodies
    assert [each['function']['name'] for each in body['tools']] == ['pick', 'look']
    assert body['tools'][0]['function']['parameters'] == PICK.parameters
    assert body['tool_choice'] == 'required'
    assert body['messages'][2]['tool_calls'] == [
        {'id': 'call00001', 'type': 'function', 'function': {'name': 'look', 'arguments': '{}'}}
    ]
    assert body['messages'][3] == {
        'role': 'tool',
        'content': 'red_cube',
        'tool_call_id': 'call00001',
    }
    assert (reply.calls, reply.text) == ((CALL,), '')
    assert reply.in_words == '-> pick {"object": "red_cube"}'


@pytest.mark.parametrize('can_stream', [True, False])
def test_calls_come_in_pieces_or_whole_and_several_stay_apart(can_stream: bool) -> None:
    second = ToolCall('look', '{}')

    with ModelServer(calls(CALL, second, text='I look.', can_stream=can_stream)) as server:
        reply = Client(server).model.ask(ASKED)

    assert reply.calls == (CALL, second)
    assert reply.text == 'I look.'


def test_a_server_that_refuses_tools_is_asked_in_text_and_remembered() -> None:
    text = '{"name": "pick", "arguments": {"object": "red_cube"}}'
    server = ModelServer(refuses('tools', 'tools is not supported by this model', replies(text)))
    with server:
        client = Client(server)
        first = client.model.ask(ASKED)
        client.model.ask(ASKED)

    assert call_in_text(first.text) == ('', CALL)
    assert len(server.bodies) == 3
    assert 'tools' not in server.bodies[1]
    roles = [message['role'] for message in server.bodies[1]['messages']]
    assert roles == ['system', 'user', 'assistant', 'user']
    sent = json.dumps(server.bodies[1]['messages'])
    assert 'Takes an object.' in sent
    assert 'Result of the call' in sent
    assert any('declared, and called, in text' in report for report in client.reports)


def test_a_server_that_refuses_only_the_choice_of_a_tool_keeps_the_tools() -> None:
    refusing = refuses('tool_choice', 'tool_choice required is not supported', calls(CALL))
    with ModelServer(refusing) as server:
        reply = Client(server).model.ask(ASKED)

    assert reply.calls == (CALL,)
    assert 'tools' in server.bodies[1]
    assert 'tool_choice' not in server.bodies[1]


def test_native_tools_alone_are_an_error_where_a_server_has_none() -> None:
    with ModelServer(status(400, 'tools is not supported by this model')) as server:
        client = Client(server, tools='native')
        with pytest.raises(ModelRefusedError, match='tools'):
            client.model.ask(ASKED)


def test_tools_in_text_are_asked_for_without_trying_others() -> None:
    with ModelServer(replies('{"name": "look", "arguments": {}}')) as server:
        Client(server, tools='text').model.ask(ASKED)

    assert 'tools' not in server.bodies[0]


def test_a_key_in_the_arguments_of_a_call_is_hidden() -> None:
    with ModelServer(calls(ToolCall('pick', json.dumps({'object': KEY})))) as server:
        reply = Client(server).model.ask(ASKED)

    assert KEY not in reply.in_words


@pytest.mark.parametrize(
    'text',
    [
        '{"name": "pick", "arguments": {"object": "red_cube"}}',
        'I take it.\n```json\n{"name": "pick", "arguments": {"object": "red_cube"}}\n```',
        '<tool_call>{"name": "pick", "arguments": "{\\"object\\": \\"red_cube\\"}"}</tool_call>',
        'As {this} says: {"name": "pick", "parameters": {"object": "red_cube"}}',
    ],
)
def test_a_call_in_text_is_found(text: str) -> None:
    found = call_in_text(text)

    assert found is not None
    assert found[1] == CALL


@pytest.mark.parametrize(
    'text', ['', 'pick(red_cube)', '{"name": 3}', '{' * 50_001, '{"a": ' * 20]
)
def test_other_text_is_no_call(text: str) -> None:
    assert call_in_text(text) is None


def test_in_text_no_two_messages_in_a_row_have_one_role() -> None:
    talk = [*TALK, Message('user', 'Wait.')]

    roles = [message.role for message in with_tools_in_text(talk, [PICK])]

    assert roles == ['system', 'user', 'assistant', 'user']


def test_calls_are_recorded_and_replayed_and_other_tools_are_another_request(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'talk.jsonl'
    reply = Reply(text='', model='m', calls=(CALL,))
    RecordingModel(ScriptedModel([reply]), path, 'brain').ask(ASKED)

    assert ReplayModel(path, 'brain').ask(ASKED).calls == (CALL,)
    assert ReplayModel(path, 'brain').find(ModelRequest(TALK, tools=[PICK])) is None
    other = (*TALK[:2], Message('assistant', 'So.', calls=(CALL,)), TALK[3])
    assert ReplayModel(path, 'brain').find(ModelRequest(other, tools=[PICK, LOOK])) is None


def test_tools_and_calls_are_on_record_and_count_as_a_part_of_the_prompt() -> None:
    hidden = Reply(text='', model='m', calls=(ToolCall('pick', '{"object": "red\\u202ecube"}'),))
    run = EpisodeRun(Task('t', 't'), planner='p', brain='b', body='b', limits=Limits())

    reply = run.model(ScriptedModel([hidden]), 'brain').ask(ASKED)

    made: list[Any] = [e.data for e in run.events]
    (call,) = [item for item in made if isinstance(item, ModelCall)]
    (said,) = [item for item in made if isinstance(item, ModelReplied)]
    assert reply.calls[0].arguments == '{"object": "redcube"}'
    assert said.text == '-> pick {"object": "redcube"}'
    assert call.prompt_chars == sum(map(len, ASKED.texts))
    assert any('Takes an object.' in part.text for part in call.prompt)


def test_a_request_has_tools_or_a_schema() -> None:
    with pytest.raises(ValueError, match='both'):
        ModelRequest(TALK, tools=[PICK], schema={})
