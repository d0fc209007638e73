"""The stack with models behind a server: what goes wrong there ends in words here."""

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from bbllm.core.events import Ending, EventKind
from bbllm.testing import Handler, ModelServer, chunk, replies, status
from tests.ros.asking import BODY_MARK, GOAL_MARK, models, prompt_of, served_by
from tests.ros.stacks import PATIENCE_S, Running, started, until

pytestmark = pytest.mark.ros

PLAN = '0: wait for 20 seconds\n1: return to base\n2: Done'
BODY = {
    'wait for': '<rob0>[wait] <1>',
    'rest': '<rob0>[wait] <1>',
    'return': '<rob0>[return_to_base]',
}


@pytest.fixture(scope='module')
def server() -> Iterator[ModelServer]:
    with ModelServer(replies(PLAN)) as server:
        yield server


@pytest.fixture(scope='module')
def stack(ros_domain: int, server: ModelServer, tmp_path_factory: Any) -> Iterator[Running]:
    with started(**served_by(server, tmp_path_factory.mktemp('llm'))) as running:
        yield running


def prompts(server: ModelServer) -> list[str]:
    return [prompt_of(body) for body in server.bodies]


def test_a_remark_in_mid_task_is_in_the_next_feedback_prompt(
    stack: Running, server: ModelServer
) -> None:
    answer = models(['0: rest a little\n1: rest a little\n2: Done', PLAN], BODY)
    output = Event()

    def answer_once_sent(handler: Handler, request: dict[str, Any]) -> None:
        if BODY_MARK in prompt_of(request):
            assert output.wait(PATIENCE_S)  # or the task is over before anybody can speak
        answer(handler, request)

    server.will(answer_once_sent)
    server.bodies.clear()
    task = stack.begin('rest twice')
    stack.wait_for(EventKind.PLAN)

    stack.client.send_remark('leave the green cube alone')

    stack.wait_for(EventKind.HUMAN_FEEDBACK)
    output.set()
    stack.wait_for(EventKind.REPAIR)
    task.result()
    received = [text for text in prompts(server) if 'leave the green cube alone' in text]
    assert received
    assert BODY_MARK not in received[0]
    repair = stack.wait_for(EventKind.REPAIR)
    assert 'leave the green cube alone' in str(repair.data.cause)


def test_a_plan_begins_before_all_of_it_is_written(stack: Running, server: ModelServer) -> None:
    called = Event()

    def slow(handler: Handler, request: dict[str, Any]) -> None:
        if GOAL_MARK in prompt_of(request):
            replies('none')(handler, request)
            return
        handler.begin_stream()
        handler.send_event(chunk('0: wait for 1 seconds\n1: wait for'))
        assert called.wait(PATIENCE_S)
        handler.send_event(chunk(' 2 seconds\n2: Done', finish='stop'))
        handler.end_stream()

    server.will(slow)
    stack.events.clear()
    task = stack.begin('wait twice')
    stack.wait_for(EventKind.CALL)
    called.set()

    assert task.result().ending is Ending.FINISHED
    kinds = [event.kind for event in stack.events]
    assert kinds.index(EventKind.CALL) < kinds.index(EventKind.PLAN_GROWN)
    assert kinds.count(EventKind.CALL) == 2


def test_calls_of_the_body_are_on_the_account_of_the_episode(
    stack: Running, server: ModelServer
) -> None:
    server.will(models(['0: go home\n1: Done'], {'home': BODY['return']}))
    stack.events.clear()

    result = stack.run('go home')

    assert result.ending is Ending.FINISHED, result.message
    calls = [event.data for event in stack.events if event.kind is EventKind.MODEL_CALL]
    assert [call.role for call in calls] == ['brain', 'body', 'brain']  # plan, its step, goal
    assert {call.model for call in calls} == {'fake-1'}
    assert (result.model_calls, result.prompt_tokens, result.completion_tokens) == (3, 21, 9)
    started_event = stack.wait_for(EventKind.STARTED)
    assert (started_event.data.brain, started_event.data.body) == ('fake', 'fake')


@pytest.mark.parametrize(
    ('behaviour', 'states_what'),
    [(status(401, 'no such key'), '401'), (replies(''), 'empty')],
    ids=['401', 'empty'],
)
def test_failing_model_ends_the_episode_in_words(
    stack: Running, server: ModelServer, behaviour: Any, states_what: str
) -> None:
    server.will(behaviour)

    result = stack.run('put the red cube on location_B')

    assert result.ending is Ending.MODEL_FAILED
    assert states_what in result.message
    assert 'sk-test-never-shown' not in result.message


@pytest.mark.parametrize('who', ['brain', 'body'])
def test_cancel_does_not_wait_for_a_model_that_hangs(
    stack: Running, server: ModelServer, who: str
) -> None:
    asked: list[str] = []
    cancelled = Event()

    def hang(handler: Handler, body: dict[str, Any]) -> None:
        role = 'body' if BODY_MARK in prompt_of(body) else 'brain'
        asked.append(role)
        if role == who:
            cancelled.wait(2 * PATIENCE_S)
        replies('0: go home\n1: Done')(handler, body)

    server.will(hang)
    task = stack.begin('go home')
    until(lambda: who in asked, f'question to the {who}')

    stack.client.cancel()

    result = task.result()  # while the model still hangs
    cancelled.set()
    assert result.ending is Ending.CANCELLED


def test_key_is_in_no_log_and_no_journal(stack: Running) -> None:
    from bbllm.core.paths import episodes_dir

    files = [*stack.stack.log_folder.rglob('*'), *episodes_dir().glob('*')]
    texts = [path.read_text(errors='replace') for path in files if path.is_file()]

    assert len(texts) > 5
    assert not [text for text in texts if 'sk-test-never-shown' in text]
