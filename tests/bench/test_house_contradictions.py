"""Goals that no household can fulfil are refused with the pair; those that one can are taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bbllm.bench.optimal.house_state import HouseState
from bbllm.bench.optimal.least_steps import least_steps
from bbllm.bench.optimal.relaxed_house import NotProvenError
from bbllm.bench.oracle.household.subplan import plan_for
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.suite import Suite, parse_suite
from bbllm.bench.suites.suite_errors import SuiteFileError
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import load_house

FLAT = """
rooms:
  livingroom: [sofa, {tvstand: {on: [tv]}}, desk, toothbrush*2, salmon, plate*2]
  kitchen: [{kitchentable: {on: [microwave]}}, fridge, milk, apple, sink]
  bathroom: [bathroomcabinet, washingmachine]
"""


def suite_of(
    folder: Path, *conditions: dict[str, Any], same: tuple[str, ...] = (), **changes: Any
) -> Suite:
    (folder / 'flat.yaml').write_text(FLAT)
    task = {
        'name': 'a',
        'instruction': 'Do it.',
        'difficulty': 'easy',
        'least_loops': 0,
        'houses': ['flat.yaml'],
        'goal': {'kind': 'household', 'all': list(conditions), 'same': list(same)},
        **changes,
    }
    return parse_suite(yaml.safe_dump({'tasks': [task]}), folder / 'mine.yaml')


@pytest.mark.parametrize(
    'conditions',
    [
        # What is in the microwave is on the table that it stands on.
        [{'thing': 'milk', 'inside': 'microwave'}, {'thing': 'milk', 'on': 'kitchentable'}],
        [{'thing': 'milk', 'on': 'kitchentable'}, {'thing': 'milk', 'inside': 'kitchen'}],
        [{'thing': 'milk', 'on': 'plate'}, {'thing': 'milk', 'inside': 'fridge'}],
        # It is there already, and need not be carried.
        [{'thing': 'tv', 'is': 'on', 'on': 'tvstand'}],
        [{'thing': 'tv', 'is': 'on', 'room': 'livingroom'}],
        [{'thing': 'apple', 'is': 'washed', 'room': 'bathroom'}],
        [{'thing': 'anything', 'on': 'kitchentable', 'count': 2}],
        [{'thing': 'plate', 'on': 'desk'}, {'thing': 'plate', 'on': 'sofa'}],
    ],
)
def test_a_goal_that_the_house_can_fulfil_is_taken(
    conditions: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert suite_of(tmp_path, *conditions)


@pytest.mark.parametrize(
    ('conditions', 'same', 'told'),
    [
        ([{'thing': 'milk', 'inside': 'microwave'}, {'thing': 'milk', 'inside': 'fridge'}], (),
         'milk inside microwave and milk inside fridge: both can never hold at once in flat, '
         'which has only 1 milk'),
        ([{'thing': 'tv', 'is': 'plugged_in'}, {'thing': 'tv', 'is': 'plugged_out'}], (),
         'tv is plugged_in and tv is plugged_out: both can never hold at once'),
        ([{'thing': 'tv', 'is': 'on', 'on': 'tvstand'}, {'thing': 'tv', 'is': 'off'}], (),
         'tv is on on tvstand and tv is off: both can never hold at once'),
        ([{'held': 'toothbrush'}, {'thing': 'toothbrush', 'inside': 'bathroomcabinet'}],
         ('toothbrush',), 'since `same` asks for one toothbrush'),
        ([{'thing': 'tv', 'is': 'on', 'room': 'bathroom'}], (),
         'no tv of flat is in the bathroom or can be carried there'),
        ([{'thing': 'sofa', 'is': 'clean', 'inside': 'kitchen'}], (),
         'no sofa of flat can be carried anywhere'),
    ],
)  # fmt: skip
def test_a_goal_that_the_house_cannot_fulfil_is_refused_with_the_reason(
    conditions: list[dict[str, Any]], same: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteFileError) as caught:
        suite_of(tmp_path, *conditions, same=same)

    assert told in str(caught.value)


def test_what_is_told_to_be_missing_is_not_told_to_contradict_itself_too(tmp_path: Path) -> None:
    on_desk = {'thing': 'milk', 'on': 'desk', 'count': 2}

    with pytest.raises(SuiteFileError, match='has only 1 milk') as caught:
        suite_of(tmp_path, on_desk, {'thing': 'milk', 'inside': 'fridge'})
    assert 'never hold' not in str(caught.value)


def test_what_a_start_adds_can_be_asked_for(tmp_path: Path) -> None:
    at_first = [{'thing': 'salmon', 'on': 'desk', 'count': 3}]
    held = {'held': 'salmon', 'count': 2}

    assert suite_of(tmp_path, held, at_first=at_first)
    assert suite_of(tmp_path, held, {'thing': 'salmon', 'inside': 'fridge'}, at_first=at_first)
    with pytest.raises(SuiteFileError, match='has only 3 salmon'):
        suite_of(
            tmp_path, held, {'thing': 'salmon', 'inside': 'fridge', 'count': 2}, at_first=at_first
        )


def test_a_goal_of_one_and_the_same_thing_is_not_taken_for_proven() -> None:
    goal = HouseholdGoal.model_validate({
        'kind': 'household',
        'all': [{'thing': 'milk', 'inside': 'fridge'}, {'thing': 'milk', 'on': 'desk'}],
        'same': ['milk'],
    })  # fmt: skip

    with pytest.raises(NotProvenError, match='one and the same thing'):
        least_steps(
            Household(
                load_house('studio').graph, constraints=(Constraint(puts_only_on='furniture'),)
            ),
            goal,
        )


def test_conditions_that_say_the_same_on_the_way_are_searched_for() -> None:
    goal = HouseholdGoal.model_validate({
        'kind': 'household',
        'all': [{'held': 'magazine'}, {'held': 'magazine', 'count': 2}],
    })  # fmt: skip

    start = HouseState.beginning(Household(load_house('studio').graph))
    assert len(plan_for(start, goal, shortest=False).lines) > 1
