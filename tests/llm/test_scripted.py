from __future__ import annotations

import pytest

from bbllm.core.errors import ModelError, ModelUnavailableError
from bbllm.core.protocols import ChatModel, Message
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


def test_stop_strings_are_obeyed() -> None:
    assert ScriptedModel(['a\nb\nEND c']).complete(ASK, stop=['END']).text == 'a\nb\n'
