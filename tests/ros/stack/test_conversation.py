"""A conversation with a running stack: its turns, its questions, and who may answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from bbllm.api.chat import Chat
from bbllm.core.errors import TaskError
from bbllm.core.events import EventKind, QuestionAsked
from bbllm.testing import ModelServer
from bbllm_ros.stack.session import StackSession
from tests.ros.asking import served_by
from tests.ros.stacks import PATIENCE_S, Running, started, until
from tests.twenty_turns import LINES, scripted

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def stack(ros_domain: int, tmp_path_factory: Any) -> Iterator[Running]:
    with ModelServer(scripted) as server:
        config = served_by(server, tmp_path_factory.mktemp('llm'))
        params = config['params']
        params['brain_planner'] = {**params['brain_planner'], 'goal': 'no', 'turns': 20}
        with started(**config) as running:
            yield running


def test_twenty_lines_over_ros(stack: Running) -> None:
    session = StackSession(stack.client, {'goal': 'no'})
    chat = Chat(session)
    for line in LINES:
        chat.begin(line.text)
        if not line.ending:
            until(lambda: chat.question is not None, 'the question of the planner')
            continue
        running = session.running
        assert running is not None and running.future is not None
        turn = chat.reply_of(running.future.result(PATIENCE_S)).turn
        assert turn is not None
        assert (turn.ending, line.says in turn.reply) == (line.ending, True), turn
    until(lambda: len(chat.turns) == 18, 'the last turn on the topic conversation')
    assert any(turn.moved for turn in chat.turns)


def test_a_question_is_answered_once_and_by_who_reads_it(stack: Running) -> None:
    task = stack.begin('put a cube on location_B', ask='yes')
    question = stack.wait_for(EventKind.QUESTION).data
    assert isinstance(question, QuestionAsked)
    assert question.options == ('red_cube', 'blue_cube')
    with pytest.raises(TaskError, match='does not wait'):
        stack.client.send_remark('1', question='Another question?')
    stack.client.send_remark('1', question=question.text)
    with pytest.raises(TaskError, match=r'does not wait|No task'):
        stack.client.send_remark('2', question=question.text)
    assert task.result().ending.is_success


def test_a_client_that_does_not_answer_is_not_asked(stack: Running) -> None:
    result = stack.run('stack something')
    assert result.ending.name in ('MODEL_FAILED', 'GAVE_UP')
    assert not any(isinstance(event.data, QuestionAsked) for event in stack.events[-12:])
