"""Faithfulness: the rules of a grab are rules of no other action, and the first rule is first."""

from __future__ import annotations

import dataclasses
from typing import Any

from household_cases import case_of
from test_faithfulness import judged, rules

from bbllm.bench.suites.case import Case
from bbllm.worlds.household.houses import build

KITCHEN = {'rooms': {'kitchen': [{'closet': {'inside': ['microwave']}}, 'plum', 'lime*2']}}


def case(house: dict[str, Any]) -> Case:
    salmon = case_of('put_salmon_in_the_fridge')
    return dataclasses.replace(salmon, scene=salmon.house.model_copy(update={'graph': house}))


def test_to_open_what_is_shut_in_is_no_grab_of_it() -> None:
    start = case(build(KITCHEN, 'made up').to_dict())

    found = judged(start, 'find microwave', 'open microwave', 'switchon microwave')

    assert rules(found) == []
    assert found.steps == 3


def test_to_open_something_with_a_thing_in_the_hand_is_to_take_no_second_one() -> None:
    start = case(build(KITCHEN, 'made up').to_dict())

    found = judged(start, 'find plum', 'grab plum', 'find closet', 'open closet', 'grab lime')

    assert rules(found) == [('two_at_once', 4)]
    assert dict(found.counts) == {'two_at_once': 1}
    assert found.first == 4


def test_the_first_rule_that_was_broken_is_the_first() -> None:
    start = case(build(KITCHEN, 'made up').to_dict())

    found = judged(start, 'grab unicorn', 'find closet', 'open closet', 'open closet')

    assert rules(found) == [('unknown_object', 0), ('already_open', 3)]
    assert found.first == 0
