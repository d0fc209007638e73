"""Lists of sub-goals: what is said once too often, of things that are not there, or too long."""

from __future__ import annotations

from bbllm.planners.common.goal_predicates import parse_goal
from bbllm.planners.fltrnn.sub_goals import MAX_SENTENCE, Decomposition, decompose

THERE = ('milk', 'table', 'tv')


def of_goal(goal: str, *parts: str) -> Decomposition:
    return decompose(parts, goal, parse_goal(goal, THERE), THERE)


def texts(found: Decomposition) -> list[str]:
    return [part.text for part in found.sub_goals]


def test_a_part_that_is_said_again_when_its_count_is_reached_is_left_out_with_its_fault() -> None:
    found = of_goal('on_milk_table: 2', *['on_milk_table: 1'] * 3)

    assert texts(found) == ['on_milk_table: 1', 'on_milk_table: 2']
    assert [str(fault) for fault in found.faults] == [
        '`on_milk_table: 1` is more than the goal wants, which is 2'
    ]


def test_a_part_of_a_sentence_may_name_what_is_out_of_sight_unless_all_is_in_sight() -> None:
    parts = ['turnon_radio: 1', 'on_milk_shelf: 1', 'turnon_tv: 1']

    some = decompose(parts, 'hear the news', None, None)
    whole = decompose(parts, 'hear the news', None, THERE)

    assert texts(some) == parts
    assert some.faults == ()
    assert texts(whole) == ['turnon_tv: 1']
    assert [fault.why for fault in whole.faults] == [
        'names radio, of which there is none',
        'names shelf, of which there is none',
    ]


def test_a_sentence_that_is_too_long_is_no_part() -> None:
    longest, longer = 'x' * MAX_SENTENCE, 'x' * (MAX_SENTENCE + 1)

    found = decompose([longest, longer], 'do it', None, THERE)

    assert texts(found) == [longest]
    assert f'has {MAX_SENTENCE + 1} characters' in found.faults[0].why


def test_where_no_part_is_left_the_goal_itself_is_the_part() -> None:
    found = decompose(['turnon_radio: 1'], 'hear the news', None, THERE)

    assert texts(found) == ['hear the news']
    assert [fault.text for fault in found.faults] == ['turnon_radio: 1', 'hear the news']


def test_classes_of_the_goal_are_known_though_nothing_of_them_is_in_sight() -> None:
    goal = parse_goal('on_wine_glass_side_table: 1', ('wine_glass', 'side_table'))

    found = decompose(['on_wine_glass_side_table: 1'], 'set it down', goal, ('tv',))

    assert texts(found) == ['on_wine_glass_side_table: 1']
    assert found.faults == ()
