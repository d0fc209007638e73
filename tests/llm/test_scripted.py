from __future__ import annotations

import pytest

from bbllm.core.errors import ModelError, ModelUnavailableError
from bbllm.core.protocols import ChatModel, Message, Reply, Usage
from bbllm.core.types import ModelCall
from bbllm.llm.accounting import MeteredModel
from bbllm.llm.scripted import ScriptedModel

ASK = [Message('user', 'what now')]


def test_replies_are_given_in_order_and_requests_are_remembered() -> None:
    model = ScriptedModel(['one', lambda request: request.prompt.upper()])

    assert [model.complete(ASK, stop=['.']).text, model.complete(ASK).text] == ['one', 'WHAT NOW']
    assert [request.stop for request in model.requests] == [('.',), ()]
    assert isinstance(model, ChatModel)


def test_an_exception_in_the_script_is_raised() -> None:
    model = ScriptedModel([ModelUnavailableError('down'), 'up'])

    with pytest.raises(ModelUnavailableError, match='down'):
        model.complete(ASK)
    assert model.complete(ASK).text == 'up'


def test_a_question_too_many_says_so() -> None:
    with pytest.raises(ModelError, match=r'asked 1 times but has 0 replies.*what now'):
        ScriptedModel().complete(ASK)


def test_stop_strings_are_obeyed_and_lines_streamed() -> None:
    heard: list[str] = []

    reply = ScriptedModel(['a\nb\nEND c']).complete(ASK, stop=['END'], on_text=heard.append)

    assert reply.text == 'a\nb\n'
    assert heard == ['a\n', 'b\n']


def test_a_metered_model_tells_what_each_call_cost() -> None:
    calls: list[ModelCall] = []
    given = Reply(text='x', model='m-2', usage=Usage(5, 2), duration_s=1.5, retries=1)
    model = MeteredModel(ScriptedModel([given]), 'brain', calls.append)

    assert model.complete(ASK) is given
    assert calls == [
        ModelCall(
            role='brain',
            model='m-2',
            prompt_tokens=5,
            completion_tokens=2,
            duration_s=1.5,
            retries=1,
        )
    ]


@pytest.mark.parametrize('error', [ModelUnavailableError('down'), RuntimeError('bug')])
def test_a_metered_model_counts_failures_too(error: Exception) -> None:
    calls: list[ModelCall] = []
    model = MeteredModel(ScriptedModel([error], name='s'), 'body', calls.append)

    with pytest.raises(type(error)):
        model.complete(ASK)
    assert [(call.role, call.model, call.prompt_tokens) for call in calls] == [('body', 's', 0)]
