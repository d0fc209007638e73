"""The model whose answer nobody has to wait for is otherwise the model that it wraps."""

from __future__ import annotations

import threading

import pytest

from bbllm.core.errors import LostNodeError, ModelUnavailableError
from bbllm.core.protocols import Message
from bbllm.llm.scripted import Request, ScriptedModel
from bbllm.ros.rclpy_support.interruptible import InterruptibleModel
from bbllm.ros.rclpy_support.waiting import nothing

pytestmark = pytest.mark.ros

ASK = [Message('user', 'what now?')]


def test_answer_pieces_and_stops_are_those_of_the_model() -> None:
    inner = ScriptedModel(['one\ntwo\nthree'], supports_schema=True)
    pieces: list[str] = []

    reply = InterruptibleModel(inner, nothing).complete(ASK, stop=['three'], on_text=pieces.append)

    assert reply.text == ''.join(pieces) == 'one\ntwo\n'
    assert inner.requests[0].messages == tuple(ASK)
    assert InterruptibleModel(inner, nothing).supports_schema


def test_error_of_the_model_is_raised_where_it_was_asked() -> None:
    model = InterruptibleModel(ScriptedModel([ModelUnavailableError('down')]), nothing)

    with pytest.raises(ModelUnavailableError, match='down'):
        model.complete(ASK)


def test_wait_ends_when_there_is_no_point_in_it() -> None:
    never = threading.Event()

    def hang(request: Request) -> str:
        never.wait(20.0)
        return 'too late'

    def look() -> None:
        raise LostNodeError('fr3_executor has gone')

    with pytest.raises(LostNodeError, match='fr3_executor'):
        InterruptibleModel(ScriptedModel([hang]), look).complete(ASK)
    never.set()
