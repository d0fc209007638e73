"""Which characters of a text are not visible, and what they are turned into."""

import json
import sys

import pytest

from bbllm.core.text import (
    escape_hidden,
    escape_line,
    half_width,
    hidden_fault,
    is_hidden,
    json_text,
    strip_hidden,
)

PLAIN = (
    'sätt den röda kuben på plats B',
    'ضع المكعب الأحمر على الأزرق',
    'שים את הקובייה',
    '把红色方块放在蓝色方块上　谢谢',
    'put é, “quotes” – and 25 °C · 1/2 ½',
)
JOINED = ('کتاب‌ها را بردار', 'क्‍ष', 'find 👩‍🚀, ❤️‍🔥 and 1️⃣')
HIDDEN = '\x1b\x7f\x9b\t\xad\u061c\u200b\u200e\u2028\u202e\u2066\u3164\ud800\ue000\ufeff\U000e0041'


@pytest.mark.parametrize('text', PLAIN)
def test_text_of_any_script_is_accepted_and_stays_as_it_is(text: str) -> None:
    assert hidden_fault(text) == ''
    assert escape_hidden(text) == strip_hidden(text) == text


@pytest.mark.parametrize('text', JOINED)
def test_joiners_are_accepted_where_scripts_and_emoji_need_them(text: str) -> None:
    assert hidden_fault(text, joined=True) == ''
    assert escape_hidden(text) == text
    assert 'U+200' in hidden_fault(text) or 'U+FE0F' in hidden_fault(text)


@pytest.mark.parametrize(
    'text', ['pi\u200dck', 'a\ufe0f', '\u200d\u200d', 'é\u200d\u200dé', '\ufe0f']
)
def test_a_joiner_that_joins_nothing_is_hidden(text: str) -> None:
    assert hidden_fault(text, joined=True)
    assert escape_hidden(text) != text


@pytest.mark.parametrize('char', HIDDEN, ids=ascii)
def test_a_hidden_character_is_named_shown_and_stripped(char: str) -> None:
    text = f'pick{char}up'

    assert f'U+{ord(char):04X}' in hidden_fault(text)
    assert 'at position 4' in hidden_fault(text)
    assert escape_hidden(text) == f'pick{ascii(char)[1:-1]}up'
    assert strip_hidden(text) in ('pickup', 'pick\tup', 'pick\nup')


def test_an_escaped_text_has_nothing_hidden_left_whatever_it_was() -> None:
    codes = (*range(0x10000), *range(0x10000, sys.maxunicode, 97))
    everything = ''.join(f'a{chr(code)}' for code in codes)

    assert [c for c in escape_hidden(everything) if is_hidden(c)] == ['\n']
    assert hidden_fault(escape_line(everything)) == ''


def test_pieces_of_a_stream_are_stripped_to_the_same_as_the_whole() -> None:
    text = ''.join(f'a{char}b' for char in (*HIDDEN, *''.join((*PLAIN, *JOINED)), '\n'))

    assert ''.join(map(strip_hidden, text)) == strip_hidden(text)


def test_json_with_hidden_characters_means_the_same_and_shows_them() -> None:
    data = {'text': HIDDEN + '"\\\n👩‍🚀', 'é': [None, 1.5]}

    text = json_text(data)

    assert json.loads(text) == data
    assert hidden_fault(text, joined=True) == ''


def test_full_width_forms_are_written_in_ascii_and_nothing_else_is_changed() -> None:
    assert half_width('１．\u3000ｏｐｅｎ（ｄｏｏｒ＿１）；') == '1. open(door_1);'
    assert half_width('冷蔵庫を開ける, ½ 3 é') == '冷蔵庫を開ける, ½ 3 é'
