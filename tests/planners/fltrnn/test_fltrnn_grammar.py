"""The grammar of FLTRNN's replies, and what is made of lists of sub-goals."""

from collections.abc import Callable

import pytest

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import SkillCall
from bbllm.planners.common.reply_diagnostics import LostReplyError
from bbllm_planners.fltrnn.grammar import MAX_REPORTED, parse_calls, parse_sub_goals
from bbllm_planners.fltrnn.sub_goals import Goal, decompose
from bbllm_planners.goal_predicates import parse_goal

CLASSES = ('milk', 'table', 'microwave', 'pie')


def test_a_plan_is_calls_on_numbered_objects_whatever_surrounds_them() -> None:
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


@pytest.mark.parametrize(
    'line',
    [
        *("grab('milk')", "grab('milk(id:3)') and then", 'open(fridge(id:x))'),
        *("robot.grab('tv(id:3)')", "Grab('tv(id:3)')", "yield grab('tv(id:3)')"),
        *("grab('milk(id:3)',)", "x = grab('tv(id:3)')"),
    ],
)
def test_a_line_that_only_resembles_a_call_is_omitted_with_the_form_of_one(line: str) -> None:
    plan = parse_calls(f"walk('milk(id:3)')\n{line}")

    assert len(plan.calls) == 1
    ((text, why),) = ((line.text, line.why) for line in plan.discarded)
    assert text == line and "putin('milk(id:21)'" in why
    with pytest.raises(LostReplyError) as lost:
        parse_calls(f'{line}\n# done')
    assert [each.text for each in lost.value.discarded] == [line]


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        ("walk('kitchen')", 'kitchen has no id; it is written kitchen(id:2); a plan is calls'),
        ('1. walk(kitchen_2)', 'kitchen_2 has no id; it is written kitchen(id:2)'),
        ("grab('plate')", 'plate has no id; it is written plate(id:3) or plate(id:4)'),
        ("putin('plate(id:3)', 'oven')", 'nothing that is told of is named oven'),
    ],
)
def test_a_refusal_quotes_the_line_and_names_the_missing_id(line: str, why: str) -> None:
    with pytest.raises(LostReplyError) as lost:
        parse_calls(f'{line}\n# done', ('kitchen_2', 'plate_3', 'plate_4'))

    assert str(lost.value).startswith('There is no call in the reply. The line `')
    assert f'{line}`: {why}' in str(lost.value)


def test_a_plan_ends_where_it_only_repeats_itself_or_begins_anew() -> None:
    once = "walk('milk(id:3)')\n"

    assert len(parse_calls(once * 5000).calls) == 2
    (line,) = parse_calls(once * 3).discarded
    assert 'more than 2 times in a row' in line.why
    two = f'def task():\n    {once}def task():\n    {once}'
    assert len(parse_calls(two).calls) == 1


def test_long_lines_and_those_of_a_lost_plan_are_reported_in_short() -> None:
    (long,) = parse_calls("walk('milk(id:3)')\n" + 'x' * 10_000).discarded
    assert len(long.text) <= 200 and '10000 characters' in long.why

    for reply, lengths in ((f'open(door, {"x" * 400})\n# done', [MAX_REPORTED]), ('Well.', [])):
        with pytest.raises(LostReplyError) as caught:
            parse_calls(reply)
        assert [len(line.text) for line in caught.value.discarded] == lengths


@pytest.mark.parametrize(
    ('read', 'reply', 'error', 'expected'),
    [
        (parse_calls, 'I would rather not.', ParseError, 'no call in the reply'),
        (parse_calls, "walk('milk(id:3)')\nwalk('pie(id:4)')\n" * 101, ParseError, '202 calls'),
        (parse_calls, 'cannot: there is no milk', GaveUpError, 'no milk'),
        (parse_sub_goals, 'subgoal{}', ParseError, 'no sub-goal in the reply'),
        (parse_sub_goals, 'subgoal{make toast} ' * 41, ParseError, '41 sub-goals'),
        (parse_sub_goals, 'cannot: the tv is broken', GaveUpError, 'the tv is broken'),
    ],
)
def test_nothing_and_too_much_are_refused_and_a_task_may_be(
    read: Callable[[str], object], reply: str, error: type[Exception], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        read(reply)


def test_a_plan_may_be_done_and_sub_goals_stand_in_round_or_square_brackets() -> None:
    text = 'return subgoal{on_milk_table: 1, closed_microwave: 1}, subgoal[make toast]'

    assert parse_calls('# done').calls == ()
    assert parse_sub_goals(text) == ('on_milk_table: 1, closed_microwave: 1', 'make toast')


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
        (
            [*['on_milk_table: 2'] * 3, 'turnon_microwave: 1'],
            ['on_milk_table: 2', 'on_milk_table: 3', 'turnon_microwave: 1'],
            ['is more than the goal wants, which is 3'],
        ),
    ],
)
def test_the_parts_of_a_goal_in_predicates_are_all_of_it_and_nothing_else(
    texts: list[str], parts: list[str] | None, faults: list[str]
) -> None:
    goal = 'on_milk_table: 3, turnon_microwave: 1'

    found, why = decompose(texts, Goal(goal, parse_goal(goal, CLASSES) or ()), CLASSES)

    if parts is not None:
        assert [part.text for part in found] == parts
    assert len(why) == len(faults)
    assert all(text in fault.text + fault.why for text, fault in zip(faults, why, strict=True))
    reached = {p.relation: p.count for part in found for p in part.predicates}
    assert set(reached.values()) == {3, 1}


def test_a_part_of_a_sentence_may_name_what_is_out_of_sight_unless_all_is_in_sight() -> None:
    goal, parts = Goal('eat'), ['turnon_radio: 1', 'on_milk_shelf: 1', 'make toast']

    some, no_faults = decompose(parts, goal, None)
    whole, faults = decompose(parts, goal, CLASSES)
    nothing, _ = decompose(parts[:1], goal, CLASSES)

    assert ([part.text for part in some], no_faults) == (parts, [])
    assert [part.text for part in whole] == ['make toast']
    assert [fault.why for fault in faults] == [
        'names radio, of which there is none',
        'names shelf, of which there is none',
    ]
    assert [part.text for part in nothing] == ['eat']  # the goal itself


WALK = "walk('tv(id:2)')"
OPEN = "open('tv(id:2)')"


def calls(*lines: str) -> list[str]:
    return [str(call) for call in parse_calls('\n'.join(lines)).calls]


def test_of_several_functions_the_task_is_the_plan_and_a_helper_before_it_is_not() -> None:
    found = calls('def helper():', f'    {OPEN}', 'def task():', f'    {WALK}')

    assert found == ['walk(tv_2)']
    assert calls('def watch():', f'    {WALK}', 'def again():', f'    {OPEN}') == ['walk(tv_2)']


@pytest.mark.parametrize(
    'block',
    [
        *(f'if False:\n    {OPEN}', f'for x in y:\n    {OPEN}', f'if x: {OPEN}'),
        *(f'def helper(y):\n    {OPEN}', f'def helper():\n    {OPEN}\ndef task():'),
        f'"""\n{OPEN}\n"""',
    ],
)
def test_nothing_is_done_of_what_stands_in_a_block(block: str) -> None:
    plan = parse_calls(f'{block}\n{WALK}\n# done')

    assert [found.skill for found in plan.calls] == ['walk']
    (found,) = [each for each in plan.discarded if OPEN in each.text]
    assert found.why.startswith('it stands in a block; a plan is calls')


def test_a_block_goes_on_behind_an_empty_line_and_ends_where_the_indent_does() -> None:
    plan = parse_calls(
        '\n'.join(['if dark:', f'    {OPEN}', '', f'    {OPEN}', f'  {OPEN}', WALK])
    )

    assert [str(call) for call in plan.calls] == ['walk(tv_2)']
    assert len([line.text for line in plan.discarded if line.text == OPEN]) == 3
