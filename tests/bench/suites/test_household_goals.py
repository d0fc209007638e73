"""The suite `household_goals`: three splits of proven goals, and what groups them."""

from pathlib import Path

import pytest
import yaml

from bbllm.core.paths import config_dir
from bbllm.worlds.household.houses import list_houses
from bbllm_bench.oracle.household.house_state import HouseState
from bbllm_bench.oracle.household.subplan import plan_for
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.house_goals import HouseholdGoal, goal_of
from bbllm_bench.suites.suite import TaskSpec, load_suite, parse_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from bbllm_planners.goal_predicates import parse_goal

SUITE = load_suite('household_goals')
FEW = (*SUITE.tasks[::30], *SUITE.tasks[9::100])
"""Some of each split, a long one among them."""


def goal_of_task(task: TaskSpec) -> HouseholdGoal:
    goal = task.house_goal
    assert isinstance(goal, HouseholdGoal)
    return goal


def test_each_split_has_a_hundred_goals_and_what_is_new_in_it_is_in_no_other() -> None:
    splits = ('in_distribution', 'new_houses', 'new_tasks')
    tasks = [[task for task in SUITE.tasks if task.split == name] for name in splits]
    houses = [{house for task in each for house in task.houses} for each in tasks]
    words = [
        {name for task in each for part in goal_of_task(task).all for name in part.classes}
        for each in tasks
    ]

    assert list(map(len, tasks)) == [100] * 3
    assert houses[0] == houses[2]
    assert houses[0].isdisjoint(houses[1])
    assert houses[0] | houses[1] == set(list_houses())
    assert words[0] == words[1]
    assert words[0].isdisjoint(words[2])


def test_no_goal_comes_twice_in_a_house_and_each_knows_its_least_steps() -> None:
    texts = [(task.houses, *map(str, goal_of_task(task).all)) for task in SUITE.tasks]

    assert len(set(texts)) == len(texts)
    assert all(task.least_steps for task in SUITE.tasks)


@pytest.mark.parametrize('task', FEW, ids=lambda task: task.name)
def test_expert_finds_a_plan_and_none_that_is_shorter(task: TaskSpec) -> None:
    household = make_case(SUITE, task.name, seed=0, trial=0).house.household()

    start = HouseState.beginning(household)
    lines = plan_for(start, goal_of_task(task)).lines

    assert len(lines) >= (task.least_steps or 0)
    assert all(household.step(line).succeeded for line in lines)


def test_predicates_in_instructions_read_back_as_the_goal() -> None:
    text = (config_dir() / 'suites' / 'household_goals.yaml').read_text()
    few = yaml.safe_load(text)
    few['tasks'] = few['tasks'][:3]
    stated = parse_suite(yaml.safe_dump({**few, 'say': 'predicates'}), Path('/x/goals.yaml'))

    for plain, task in zip(SUITE.tasks, stated.tasks, strict=False):
        names = [name for each in goal_of_task(task).all for name in each.classes]
        predicates = parse_goal(task.instruction, names)
        assert predicates is not None
        assert goal_of(predicates) == goal_of_task(plain)
        assert parse_goal(plain.instruction, names) is None  # a sentence
    assert stated.sha256 != parse_suite(yaml.safe_dump(few), Path('/x/goals.yaml')).sha256


def test_a_goal_that_predicates_cannot_express_is_refused() -> None:
    data = {
        'say': 'predicates',
        'tasks': [{
            'name': 'a', 'instruction': 'Heat it.', 'difficulty': 'easy', 'least_loops': 0,
            'houses': ['studio'],
            'goal': {'kind': 'household', 'all': [{'thing': 'milk', 'is': 'heated'}]},
        }],
    }  # fmt: skip

    with pytest.raises(SuiteFileError, match=r'tasks\[0\] \(a\): say = predicates will not do'):
        parse_suite(yaml.safe_dump(data), Path('/x/one.yaml'))
