"""Least steps and plans with something in a hand at the start: what `expert` has on its way."""

from __future__ import annotations

from typing import Any

import pytest
from least_steps_by_force import brute_force, goal, holds, house

from bbllm.bench.optimal.least_steps import least_steps, short_plan
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.suite import load_suite
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

GOALS = load_suite('household_goals')
PLUMS = [{'stool': {'on': ['plum*2']}}, 'fridge']
LIMES = [{'stool': {'on': ['plum', 'lime*2']}}, 'fridge']
TWO_IN_FRIDGE = goal({'thing': 'plum', 'inside': 'fridge', 'count': 2})
ONE_IN_FRIDGE = goal({'thing': 'plum', 'inside': 'fridge'})


def holding(*words: str, items: Any = LIMES, **rooms: Any) -> Household:
    """Return a house in which things of these classes were taken, one after the other."""
    household = house(*items, **rooms)
    nodes = household.graph.nodes
    taken: list[int] = []
    for word in words:
        node_id = next(n for n in nodes if nodes[n].class_name == word and n not in taken)
        taken.append(node_id)
        for action in (Action.WALK, Action.GRAB):
            assert household.step(ScriptLine(action, ((word, node_id),))).succeeded
    return household


STARTS = [
    # one that is wanted: the door is opened with the other hand
    (holding('plum', items=PLUMS), TWO_IN_FRIDGE),
    # both that are wanted: one is laid down so that a hand can open
    (holding('plum', 'plum', items=PLUMS), TWO_IN_FRIDGE),
    # one hand is full of what nobody asked for, and may stay so
    (holding('lime'), ONE_IN_FRIDGE),
    (holding('lime', 'plum'), ONE_IN_FRIDGE),
    # both are full of it: one has to be laid down
    (holding('lime', 'lime'), ONE_IN_FRIDGE),
    # what is to be held is held already
    (holding('lime'), goal({'held': 'lime'}, {'thing': 'fridge', 'is': 'open'})),
    (holding('lime', 'lime'), goal({'held': 'lime'}, {'thing': 'fridge', 'is': 'open'})),
    # to another room
    (holding('plum', 'lime', items=LIMES[:1], bedroom=['desk']),
     goal({'thing': 'plum', 'on': 'desk'}, {'held': 'lime'})),
]  # fmt: skip


@pytest.mark.parametrize(
    'number',
    [pytest.param(n, marks=[pytest.mark.slow] * (n == 4)) for n in range(len(STARTS))],
)
def test_with_something_in_a_hand_the_least_is_what_trying_everything_finds(number: int) -> None:
    household, wanted = STARTS[number]

    least = least_steps(household, wanted)

    assert len(least.lines) == brute_force(household, wanted, len(least.lines))
    copy = household.copy()
    assert all(copy.step(line).succeeded for line in least.lines)
    assert holds(wanted, copy)


def test_of_things_that_are_in_a_hand_for_nothing_no_other_of_their_class_is_touched() -> None:
    shut_in = {'closet': {'inside': ['lime']}}
    household = holding('lime', 'lime', items=[*LIMES, shut_in])

    lines = least_steps(household, ONE_IN_FRIDGE).lines

    assert not any(line.objects[0][0] == 'closet' for line in lines)


def case_of(task: str) -> Case:
    return make_case(GOALS, task, seed=1, trial=0)


@pytest.mark.parametrize('task', ['in_distribution_008', 'in_distribution_009'])
def test_after_each_step_of_a_long_plan_what_is_left_is_one_step_less(task: str) -> None:
    case = case_of(task)
    wanted = case.house_goal
    assert isinstance(wanted, HouseholdGoal)
    household = Household(case.house.build(), mode=case.house.mode)
    lines = short_plan(household, wanted).lines

    for n_done, line in enumerate(lines, 1):
        assert household.step(line).succeeded
        assert len(short_plan(household, wanted).lines) == len(lines) - n_done

    assert len(lines) >= 33
    assert holds(wanted, household)
