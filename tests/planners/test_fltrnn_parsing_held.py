"""FLTRNN's grammar: what of Python is no plan, how a plan ends, and what of it is told."""

from __future__ import annotations

import pytest

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.planners.fltrnn.grammar import MAX_CALLS, MAX_TOLD, LostPlanError, parse_calls

WALK = "walk('tv(id:2)')"
OPEN = "open('tv(id:2)')"
CLOSE = "close('tv(id:2)')"


def calls(*lines: str) -> list[str]:
    return [str(call) for call in parse_calls('\n'.join(lines)).calls]


def test_a_plan_of_as_many_calls_as_a_plan_may_have_is_read_and_no_longer_one() -> None:
    assert len(calls(*[WALK] * MAX_CALLS)) == MAX_CALLS
    with pytest.raises(ParseError, match=f'has {MAX_CALLS + 1} calls'):
        calls(*[WALK] * (MAX_CALLS + 1))


def test_of_several_functions_the_task_is_the_plan_and_a_helper_before_it_is_not() -> None:
    found = calls('def helper():', f'    {OPEN}', 'def task():', f'    {WALK}')

    assert found == ['walk(tv_2)']
    assert calls('def watch():', f'    {WALK}', 'def again():', f'    {OPEN}') == ['walk(tv_2)']


def test_a_block_goes_on_behind_an_empty_line_and_ends_where_the_indent_does() -> None:
    plan = parse_calls(
        '\n'.join(['if dark:', f'    {OPEN}', '', f'    {OPEN}', f'  {OPEN}', WALK])
    )

    assert [str(call) for call in plan.calls] == ['walk(tv_2)']
    assert len([text for text, _ in plan.left_out if text == OPEN]) == 3
    assert plan.has_blocks


def test_calls_in_a_string_over_lines_are_left_out_and_those_behind_it_are_not() -> None:
    plan = parse_calls('\n'.join(['"""', 'First:', OPEN, '"""', WALK]))

    assert [str(call) for call in plan.calls] == ['walk(tv_2)']
    assert [text for text, _ in plan.left_out] == [OPEN]
    assert plan.has_blocks


def test_that_there_was_a_block_is_known_also_when_another_line_is_left_out_behind_it() -> None:
    plan = parse_calls('\n'.join(['if dark:', f'    {OPEN}', WALK, 'open(door)']))

    assert plan.has_blocks
    assert plan.left_out[-1][0] == 'open(door)'
    assert not parse_calls(f'{WALK}\nopen(door)').has_blocks


def test_to_find_is_to_walk_to() -> None:
    assert calls("find('tv(id:2)')") == ['walk(tv_2)']


@pytest.mark.parametrize('mark', ['1. ', '12) ', '- ', '* '])
def test_a_call_may_have_a_number_or_a_bullet(mark: str) -> None:
    assert calls(f'{mark}{WALK}') == ['walk(tv_2)']


def test_nothing_behind_done_is_read() -> None:
    assert calls(WALK, '# done', OPEN) == ['walk(tv_2)']


def test_the_first_reason_is_why_it_cannot_be_done_and_none_is_where_calls_are() -> None:
    with pytest.raises(GaveUpError, match='there is no tv'):
        calls('cannot: there is no tv', 'cannot: it is late')
    assert calls('cannot: there is no tv', WALK) == ['walk(tv_2)']


def test_lines_of_a_plan_that_is_lost_are_known_and_cut() -> None:
    with pytest.raises(LostPlanError) as caught:
        calls(f'open(door, {"x" * 2 * MAX_TOLD})', '# done')

    ((text, _),) = caught.value.left_out
    assert len(text) == MAX_TOLD
    with pytest.raises(LostPlanError) as silent:
        calls('Well.')
    assert silent.value.left_out == ()
    assert calls('# done') == []


def test_several_calls_behind_each_other_are_all_done_in_order() -> None:
    assert calls(WALK, OPEN, '', '# a thought', CLOSE) == [
        'walk(tv_2)',
        'open(tv_2)',
        'close(tv_2)',
    ]
