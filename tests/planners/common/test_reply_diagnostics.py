"""Lines of replies that are left out: of which kind they are, and how often each counts."""

import pytest

from bbllm.core.events import LineDiscarded
from bbllm.llm.reply_text import without_reasoning
from bbllm.planners.common.reply_diagnostics import (
    ReplyDiagnostics,
    is_done_line,
    reason_of,
)

FLY, SWIM = LineDiscarded('fly(mug1)', 'No.'), LineDiscarded('swim(mug1)', 'No.')


def counted(*replies: list[LineDiscarded]) -> list[str]:
    expected: list[str] = []
    left_out = ReplyDiagnostics(lambda line: expected.append(line.text))
    for reply in replies:
        left_out.of_reply(reply)
    return expected


def test_what_later_replies_repeat_counts_once_and_what_they_add_counts_too() -> None:
    assert counted([FLY, SWIM, FLY]) == ['fly(mug1)', 'swim(mug1)', 'fly(mug1)']
    assert counted([FLY], [FLY], [FLY]) == ['fly(mug1)']
    assert counted([FLY], [FLY], [FLY, FLY]) == ['fly(mug1)'] * 2
    assert counted([FLY, FLY], [SWIM], [FLY, FLY]) == ['fly(mug1)', 'fly(mug1)', 'swim(mug1)']


@pytest.mark.parametrize(
    ('line', 'reason'),
    [
        ('cannot: no tv', 'no tv'),
        ('> **Cannot**: no tv', 'no tv'),
        ('# cannot : no tv `', 'no tv'),
        ('I cannot: no tv', None),
        ('cannot open it', None),
        ('cannot:  ', None),
    ],
)
def test_the_reason_is_what_stands_behind_the_colon(line: str, reason: str | None) -> None:
    assert reason_of(line) == reason


DONE = (
    'done',
    'Done.',
    '# done',
    '**All done!**',
    'done()',
    '- done',
    'Done. (The salmon is in.)',
)
MORE = (
    *('', 'done with the salmon', 'undone', 'I am done', 'done(fridge1)', 'done: no'),
    *(f'done{" " * 100_000}x', f'done{"." * 300}'),
)


@pytest.mark.parametrize('line', [*DONE, *MORE])
def test_a_line_reports_the_end_if_it_contains_nothing_else(line: str) -> None:
    assert is_done_line(line) is (line in DONE)


@pytest.mark.parametrize(
    ('reply', 'answer'),
    [
        ('<think>0: wait</think>0: go', '0: go'),
        ('0: go\n<Thinking>\n1: stop\n</thinking>1: rest', '0: go\n1: rest'),
        ('0: wait\n</think>\n0: go', '\n0: go'),
        ('0: go\n<think>or rather', '0: go\n'),
        ('<think>0: go', ''),
        ('<think>a</think>b<reasoning>c</reasoning>d', 'bd'),
        ('{"skill": "<think>pick or place?</think>pick"}', '{"skill": "pick"}'),
        ('<rob0>[pick] <red_cube>', '<rob0>[pick] <red_cube>'),
        ('<think >0: go', '<think >0: go'),
    ],
)
def test_reasoning_of_a_model_is_no_part_of_its_reply(reply: str, answer: str) -> None:
    assert without_reasoning(reply) == answer


def test_no_number_of_tags_holds_the_reader_up() -> None:
    for text in ('<think>' * 20_000, '</think>' * 20_000, '<think><' * 20_000):
        assert len(without_reasoning(text)) <= 1
