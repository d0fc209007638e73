"""The suite `household_goals`: three splits of proven goals, and what draws and groups them."""

from pathlib import Path

import pytest
import yaml

from bbllm.core.paths import config_dir
from bbllm.planners.common.goal_predicates import parse_goal
from bbllm.worlds.household.houses import list_houses
from bbllm_bench.benchmarks.goals.command import suite_text, timing
from bbllm_bench.benchmarks.goals.sampling import (
    LONG_EACH,
    NEW_HOUSES,
    OLD_HOUSES,
    SPLITS,
    sample,
    start_of,
)
from bbllm_bench.metrics.task_groups import BINS, bin_of, groups_of
from bbllm_bench.optimal.house_state import HouseState
from bbllm_bench.optimal.least_steps import least_steps
from bbllm_bench.oracle.household.subplan import plan_for
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.house_goals import HouseholdGoal
from bbllm_bench.suites.house_predicates import goal_of, predicates_of
from bbllm_bench.suites.suite import TaskSpec, load_suite, parse_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from tests.bench.made_results import make_settings

SUITE = load_suite('household_goals')
FEW = (*SUITE.tasks[::30], *SUITE.tasks[LONG_EACH - 1 :: 100])
"""Some of each split, a long one among them."""


def goal_of_task(task: TaskSpec) -> HouseholdGoal:
    goal = task.house_goal
    assert isinstance(goal, HouseholdGoal)
    return goal


def test_each_split_has_a_hundred_goals_in_its_houses_and_words() -> None:
    by_split = {name: [t for t in SUITE.tasks if t.split == name] for name in SPLITS}

    assert sum(map(len, by_split.values())) == len(SUITE.tasks)
    for name, tasks in by_split.items():
        assert len(tasks) >= 100
        houses = {house for task in tasks for house in task.houses}
        assert houses == set(NEW_HOUSES if name == 'new_houses' else OLD_HOUSES)
    assert set(OLD_HOUSES) | set(NEW_HOUSES) == set(list_houses())
    words = [
        {*split.things, *split.inside, *split.on, *(name for name, _ in split.states)}
        for split in (SPLITS['in_distribution'], SPLITS['new_tasks'])
    ]
    assert words[0].isdisjoint(words[1])
    assert words[0] == {
        *SPLITS['new_houses'].things,
        *SPLITS['new_houses'].inside,
        *SPLITS['new_houses'].on,
        *(name for name, _ in SPLITS['new_houses'].states),
    }


def test_no_goal_comes_twice_in_a_house_and_each_knows_its_least_steps() -> None:
    texts = [(task.houses, *map(str, goal_of_task(task).all)) for task in SUITE.tasks]

    assert len(set(texts)) == len(texts)
    assert all(task.least_steps for task in SUITE.tasks)
    assert len({bin_of(task.least_steps or 0) for task in SUITE.tasks}) >= 7


@pytest.mark.parametrize('task', FEW, ids=lambda task: task.name)
def test_the_least_steps_of_the_file_are_proven_again_in_any_trial(task: TaskSpec) -> None:
    case = make_case(SUITE, task.name, seed=5, trial=2)

    assert len(least_steps(case.house.household(), goal_of_task(task)).lines) == task.least_steps


@pytest.mark.parametrize('task', FEW, ids=lambda task: task.name)
def test_expert_finds_a_plan_and_none_that_is_shorter(task: TaskSpec) -> None:
    household = make_case(SUITE, task.name, seed=0, trial=0).house.household()

    start = HouseState.beginning(household)
    lines = plan_for(start, goal_of_task(task), shortest=True).lines

    assert len(lines) >= (task.least_steps or 0)
    assert all(household.step(line).succeeded for line in lines)


def test_instructions_say_the_goal_and_the_predicates_read_back() -> None:
    text = (config_dir() / 'suites' / 'household_goals.yaml').read_text()
    few = yaml.safe_load(text)
    few['tasks'] = few['tasks'][:3]
    said = parse_suite(yaml.safe_dump({**few, 'say': 'predicates'}), Path('/x/goals.yaml'))

    for plain, task in zip(SUITE.tasks, said.tasks, strict=False):
        names = [name for each in goal_of_task(task).all for name in each.classes]
        predicates = parse_goal(task.instruction, names)
        assert predicates is not None
        assert goal_of(predicates) == goal_of_task(plain)
        assert parse_goal(plain.instruction, names) is None  # a sentence
    assert said.sha256 != parse_suite(yaml.safe_dump(few), Path('/x/goals.yaml')).sha256


def test_a_goal_that_predicates_cannot_say_is_told_so() -> None:
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


@pytest.mark.slow  # goals are drawn twice, each with a search
def test_drawing_is_the_same_for_the_same_seed_and_makes_a_suite_that_loads() -> None:
    told = []
    drawing = sample(1, 11, lambda now: told.append(len(now.found)))
    text = suite_text(drawing.found, seed=11, each=1)

    again = suite_text(sample(1, 11).found, seed=11, each=1)
    suite = parse_suite(text, Path('/x/mine.yaml'))

    assert text == again
    assert told == [1, 2, 3]
    assert [task.split for task in suite.tasks] == [*SPLITS]
    for task, item in zip(suite.tasks, drawing.found, strict=True):
        case = make_case(suite, task.name, seed=0, trial=0)
        begun = start_of(item.house, item.name, item.start_seed, item.goal)
        assert case.house.build() == begun.graph
        assert task.least_steps == len(item.least.lines)
        assert predicates_of(item.goal) is not None
    assert timing(drawing)['goals'] == 3


@pytest.mark.parametrize(
    ('n', 'name'), [(1, '<= 10'), (10, '<= 10'), (11, '11-15'), (40, '36-40'), (41, '> 40')]
)
def test_bins_end_where_the_papers_do(n: int, name: str) -> None:
    assert bin_of(n) == name
    assert name in BINS


def test_episodes_are_grouped_by_split_and_by_least_steps() -> None:
    tasks = make_settings(
        tasks=[
            {'name': 'a', 'split': 'new_tasks', 'least_steps': 9},
            {'name': 'b', 'split': 'new_tasks', 'least_steps': 41},
            'c',
        ]
    ).tasks

    assert groups_of(tasks) == {
        'split': {'new_tasks': {'a', 'b'}},
        'least steps': {'<= 10': {'a'}, '> 40': {'b'}},
    }
    assert not any(groups_of(tasks[2:]).values())
