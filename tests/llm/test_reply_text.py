"""Replies as text: pieces, stop strings, reasoning; and models that follow a script."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ModelError, ModelUnavailableError
from bbllm.core.protocols import ChatModel, Message, ModelRequest
from bbllm.core.redaction import HIDDEN, Redactor
from bbllm.llm.reply_text import ReplyText
from bbllm.testing import ScriptedModel

PIECES = st.lists(st.text(alphabet='abST\n', max_size=6), max_size=8)


def feed(reply: ReplyText, pieces: list[str]) -> str:
    for piece in pieces:
        reply.add(piece)
    return reply.text


@given(PIECES, st.lists(st.text(alphabet='aST', min_size=1, max_size=4), max_size=3))
def test_however_it_is_cut_into_pieces_a_text_ends_at_its_first_stop_string(
    pieces: list[str], stops: list[str]
) -> None:
    whole = ''.join(pieces)
    ends = [at for at in (whole.find(stop) for stop in stops) if at >= 0]
    reply = ReplyText(stops)

    assert feed(reply, pieces) == whole[: min(ends, default=None)]
    assert reply.stopped == bool(ends and whole.strip())


@given(st.lists(st.sampled_from(list('sk-123456 ')), max_size=40))
def test_a_key_is_hidden_however_it_is_cut_into_pieces(pieces: list[str]) -> None:
    key = 'sk-123456'

    assert feed(ReplyText((), Redactor([key])), pieces) == ''.join(pieces).replace(key, HIDDEN)


def test_thoughts_in_any_pieces_are_dropped() -> None:
    text = '\n<think>a </th b</think>\n\n<pass>\nand'
    for size in range(1, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        reply = ReplyText(['</th', 'an'])

        assert feed(reply, pieces) == '<pass>\n'
        assert reply.stopped


ASK = ModelRequest([Message('user', 'what now')])


def test_replies_are_given_in_order_and_requests_are_remembered() -> None:
    model = ScriptedModel(['one', lambda request: request.prompt.upper()])

    assert [model.ask(replace(ASK, stop=['.'])).text, model.ask(ASK).text] == [
        'one',
        'WHAT NOW',
    ]
    assert [request.stop for request in model.requests] == [('.',), ()]
    assert isinstance(model, ChatModel)

    failing = ScriptedModel([ModelUnavailableError('down'), 'up'])
    with pytest.raises(ModelUnavailableError, match='down'):
        failing.ask(ASK)
    assert failing.ask(ASK).text == 'up'
    with pytest.raises(ModelError, match=r'asked 3 times but has 2 replies.*what now'):
        failing.ask(ASK)
