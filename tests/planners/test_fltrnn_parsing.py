"""The grammar of FLTRNN's replies, and what is made of lists of sub-goals."""

from __future__ import annotations

import pytest

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import SkillCall
from bbllm.planners.common.goal_predicates import parse_goal
from bbllm.planners.common.reply_diagnostics import LostReplyError
from bbllm.planners.fltrnn.grammar import (
    MAX_CALLS,
    MAX_REPORTED,
    parse_calls,
    parse_sub_goals,
    parse_thing,
    shown,
)
from bbllm.planners.fltrnn.sub_goals import decompose

CLASSES = ('milk', 'table', 'microwave', 'pie')


def test_a_plan_is_calls_on_things_with_numbers_whatever_stands_around_them() -> None:
    reply = """Here it is:
```python
def task():
    # 1. Sub-goal thought: fetch it, with open('fridge(id:4)')
    find('milk(id:3)')
    putin("milk(id:3)", 'kitchen_cabinet(id:4)')  # there
    standup()
    # done
    grab('juice(id:5)')
```"""

    plan = parse_calls(reply)

    assert plan.calls == (
        SkillCall('walk', ('milk_3',)),  # all is in sight, so that to find is to walk
        SkillCall('putin', ('milk_3', 'kitchen_cabinet_4')),
        SkillCall('standup'),
    )
    assert plan.discarded == ()


def test_a_plan_ends_where_a_second_one_begins() -> None:
    text = "def task():\ngrab('milk(id:3)')\ndef task():\ngrab('juice(id:5)')"

    assert [call.args for call in parse_calls(text).calls] == [('milk_3',)]


@pytest.mark.parametrize(
    'line',
    ["grab('milk')", "grab('milk(id:3)') and then", 'open(fridge(id:x))', "grab('milk(id:3)',)"],
)
def test_what_only_looks_like_a_call_is_left_out_with_what_would_do(line: str) -> None:
    plan = parse_calls(f"walk('milk(id:3)')\n{line}")

    assert len(plan.calls) == 1
    ((text, why),) = ((line.text, line.why) for line in plan.discarded)
    assert text == line and "putin('milk(id:21)'" in why


def test_a_line_of_ten_thousand_characters_is_left_out_and_told_of_in_short() -> None:
    plan = parse_calls("walk('milk(id:3)')\n" + 'x' * 10_000)

    ((text, why),) = ((line.text, line.why) for line in plan.discarded)
    assert len(text) <= 200 and '10000 characters' in why


def test_nothing_left_to_do_is_a_plan_and_nothing_at_all_is_none() -> None:
    assert parse_calls('# done').calls == ()
    with pytest.raises(ParseError, match='no call in the reply'):
        parse_calls('I would rather not.')
    with pytest.raises(ParseError, match='201 calls'):
        parse_calls("walk('milk(id:3)')\n" * 201)
    with pytest.raises(GaveUpError, match='no milk'):
        parse_calls('cannot: there is no milk')


def test_sub_goals_stand_in_round_or_square_brackets() -> None:
    text = 'return subgoal{on_milk_table: 1, closed_microwave: 1}, subgoal[make toast]'

    assert parse_sub_goals(text) == ('on_milk_table: 1, closed_microwave: 1', 'make toast')


def test_no_sub_goals_and_too_many_are_refused() -> None:
    with pytest.raises(ParseError, match='no sub-goal in the reply'):
        parse_sub_goals('subgoal{}')
    with pytest.raises(ParseError, match='41 sub-goals'):
        parse_sub_goals('subgoal{make toast} ' * 41)
    with pytest.raises(GaveUpError, match='the tv is broken'):
        parse_sub_goals('cannot: the tv is broken')


def test_a_thing_is_read_as_it_is_shown() -> None:
    assert shown('kitchen_cabinet_12') == 'kitchen_cabinet(id:12)'
    assert parse_thing(shown('kitchen_cabinet_12')) == 'kitchen_cabinet_12'
    assert parse_thing('hand') is None


@pytest.mark.parametrize(
    ('texts', 'parts', 'faults'),
    [
        (['on_milk_table: 3', 'turnon_microwave: 1'], None, []),
        # One by one: each part is reached with one more.
        (
            ['on_milk_table: 1', 'on_milk_table: 2', 'turnon_microwave: 1'],
            ['on_milk_table: 1', 'on_milk_table: 3', 'turnon_microwave: 1'],
            [],
        ),
        (['on_milk_table: 3'], ['on_milk_table: 3', 'turnon_microwave: 1'], ['in no part']),
        (
            ['on_milk_table: 2', 'turnon_microwave: 1'],
            ['on_milk_table: 2', 'turnon_microwave: 1', 'on_milk_table: 3'],
            ['in no part'],
        ),
        (
            ['on_milk_table: 3, on_pie_table: 1', 'turnon_microwave: 1'],
            ['on_milk_table: 3', 'turnon_microwave: 1'],
            ['on_pie_table: 1'],
        ),
        (['on_milk: 3', 'turnon_microwave: 1, on_milk_table: 3'], None, ['names no place']),
    ],
)
def test_the_parts_of_a_goal_in_predicates_are_all_of_it_and_nothing_else(
    texts: list[str], parts: list[str] | None, faults: list[str]
) -> None:
    goal = 'on_milk_table: 3, turnon_microwave: 1'

    found = decompose(texts, goal, parse_goal(goal, CLASSES), CLASSES)

    if parts is not None:
        assert [part.text for part in found.sub_goals] == parts
    assert len(found.faults) == len(faults)
    assert all(text in str(fault) for text, fault in zip(faults, found.faults, strict=True))
    reached = {p.relation: p.count for part in found.sub_goals for p in part.predicates}
    assert set(reached.values()) == {3, 1}


def test_what_belongs_to_one_appliance_is_mended_as_one_part() -> None:
    goal = 'on_milk_table: 1, inside_pie_microwave: 1, closed_microwave: 1'

    found = decompose(['on_milk_table: 1'], goal, parse_goal(goal, CLASSES), CLASSES)

    assert found.sub_goals[1].text == 'inside_pie_microwave: 1, closed_microwave: 1'


def test_a_goal_in_words_may_be_split_into_words_but_not_into_things_that_are_not_there() -> None:
    found = decompose(['make toast', 'turnon_unicorn: 1'], 'breakfast', None, CLASSES)

    assert [part.text for part in found.sub_goals] == ['make toast']
    assert 'names unicorn' in str(found.faults[0])
    nothing = decompose(['turnon_unicorn: 1'], 'breakfast', None, CLASSES)
    assert [part.text for part in nothing.sub_goals] == ['breakfast']


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
    assert len([line.text for line in plan.discarded if line.text == OPEN]) == 3
    assert plan.has_blocks


def test_that_there_was_a_block_is_known_also_when_another_line_is_left_out_behind_it() -> None:
    plan = parse_calls('\n'.join(['if dark:', f'    {OPEN}', WALK, 'open(door)']))

    assert plan.has_blocks
    assert plan.discarded[-1].text == 'open(door)'
    assert not parse_calls(f'{WALK}\nopen(door)').has_blocks


def test_the_first_reason_is_why_it_cannot_be_done_and_none_is_where_calls_are() -> None:
    with pytest.raises(GaveUpError, match='there is no tv'):
        calls('cannot: there is no tv', 'cannot: it is late')
    assert calls('cannot: there is no tv', WALK) == ['walk(tv_2)']


def test_lines_of_a_plan_that_is_lost_are_known_and_cut() -> None:
    with pytest.raises(LostReplyError) as caught:
        calls(f'open(door, {"x" * 2 * MAX_REPORTED})', '# done')

    (text,) = (line.text for line in caught.value.discarded)
    assert len(text) == MAX_REPORTED
    with pytest.raises(LostReplyError) as silent:
        calls('Well.')
    assert silent.value.discarded == ()
    assert calls('# done') == []


def test_several_calls_behind_each_other_are_all_done_in_order() -> None:
    assert calls(WALK, OPEN, '', '# a thought', CLOSE) == [
        'walk(tv_2)',
        'open(tv_2)',
        'close(tv_2)',
    ]
