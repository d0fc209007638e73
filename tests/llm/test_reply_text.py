from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bbllm.llm.redaction import HIDDEN, Redactor
from bbllm.llm.reply_text import ReplyText

PIECES = st.lists(st.text(alphabet='abST\n', max_size=6), max_size=8)


def feed(reply: ReplyText, pieces: list[str]) -> str:
    return ''.join([reply.add(piece) for piece in pieces] + [reply.finish()])


@given(PIECES, st.lists(st.text(alphabet='aST', min_size=1, max_size=4), max_size=3))
def test_however_it_is_cut_into_pieces_a_text_ends_at_its_first_stop_string(
    pieces: list[str], stops: list[str]
) -> None:
    whole = ''.join(pieces)
    ends = [at for at in (whole.find(stop) for stop in stops) if at >= 0]
    reply = ReplyText(stops)

    shown = feed(reply, pieces)

    # A stop string that is complete earlier wins over one that only began earlier.
    assert whole.startswith(shown)
    assert shown == reply.text
    assert not any(stop in shown for stop in stops)
    assert bool(ends) == reply.stopped
    if len(stops) == 1:
        assert shown == (whole[: ends[0]] if ends else whole)


@given(PIECES)
def test_text_without_stop_strings_is_shown_at_once(pieces: list[str]) -> None:
    reply = ReplyText()

    for piece in ['x', *pieces]:
        assert reply.add(piece) == piece


def test_what_could_become_a_stop_string_is_held_back_until_it_does_not() -> None:
    reply = ReplyText(['STOP'])

    assert reply.add('go ST') == 'go '
    assert reply.add('AY') == 'STAY'


@given(st.lists(st.sampled_from(list('sk-123456 ')), max_size=40))
def test_a_key_is_never_shown_in_part_before_it_is_known(pieces: list[str]) -> None:
    key = 'sk-123456'
    reply = ReplyText((), Redactor([key]))

    shown = feed(reply, pieces)

    assert key not in shown
    assert shown == ''.join(pieces).replace(key, HIDDEN)


def test_a_tag_that_is_no_thought_stays() -> None:
    assert feed(ReplyText(), ['<pa', 'ss>']) == '<pass>'


def test_thoughts_in_any_pieces_are_dropped() -> None:
    text = '\n<think>a </th b</think>\n\n<pass>'
    for size in range(1, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        # White space after the thoughts may come in a later piece.
        assert feed(ReplyText(), pieces).strip() == '<pass>'
