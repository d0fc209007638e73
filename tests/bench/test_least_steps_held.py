"""What is shut in, however deep, is opened first, and the proof counts each of these steps."""

from __future__ import annotations

from typing import Any

import pytest

from bbllm.bench.house_goals import HouseCondition, HouseholdGoal
from bbllm.bench.least_steps import least_steps
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.house_building import build
from bbllm.worlds.household.household import Household

STEADY = (Constraint(puts_only_on='furniture'),)
SHUT_TOASTER = {'kitchencabinet': {'inside': ['toaster']}}
SHUT_MICROWAVE = {'closet': {'inside': ['microwave']}}


def steps(items: list[Any], *conditions: dict[str, Any]) -> list[str]:
    """Return what a shortest plan does, each step as the action and the first thing's class."""
    house = Household(build({'rooms': {'kitchen': items}}, 'made up'), constraints=STEADY)
    goal = HouseholdGoal(
        kind='household', all=tuple(map(HouseCondition.model_validate, conditions))
    )
    lines = least_steps(house, goal).lines
    copy = house.copy()
    assert all(copy.step(line).succeeded for line in lines)
    return [f'{line.action.value.lower()} {line.objects[0][0]}' for line in lines]


def test_a_device_in_a_closed_cabinet_is_switched_on_when_that_is_open() -> None:
    found = steps([SHUT_TOASTER], {'thing': 'toaster', 'is': 'on'})

    assert len(found) == 3
    assert found[1:] == ['open kitchencabinet', 'switchon toaster']


def test_a_door_behind_a_door_is_the_second_that_is_opened() -> None:
    found = steps([SHUT_MICROWAVE], {'thing': 'microwave', 'is': 'open'})

    assert found[1:] == ['open closet', 'open microwave']


@pytest.mark.parametrize('closed', [False, True])
def test_what_is_put_behind_two_doors_takes_both_to_be_opened(closed: bool) -> None:
    goal = [{'thing': 'plum', 'inside': 'microwave'}]
    if closed:
        goal.append({'thing': 'closet', 'is': 'closed'})

    found = steps(['plum', SHUT_MICROWAVE], *goal)

    assert [item for item in found if item.startswith('open')] == ['open closet', 'open microwave']
    assert ('close closet' in found) is closed
    assert len(found) == 6 + closed
