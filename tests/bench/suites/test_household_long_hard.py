"""The suite `household_long_hard`: solvable cases, and verdicts that refuse near misses."""

from functools import cache

import pytest

from bbllm.worlds.household.derived import derived
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.vocabulary import Relation
from bbllm_bench.oracle.household.house_state import HouseState
from bbllm_bench.oracle.household.subplan import plan_for
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.house_goals import HouseholdGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.suite import load_suite

SUITE = load_suite('household_long_hard')
TASKS = [task.name for task in SUITE.tasks]


def case_of(task: str, seed: int, trial: int = 0) -> Case:
    return make_case(SUITE, task, seed=seed, trial=trial)


def solved(case: Case) -> HouseState:
    """Return the house at the end of a plan in classes, by one who knows the constraints."""
    goal = case.house_goal
    assert isinstance(goal, HouseholdGoal)
    sight = Visibility(reach=case.house.visibility)
    start = HouseState.beginning(case.house.household(), sight=sight, by_class=True)
    return plan_for(start, goal)


@cache
def end_of(task: str) -> HouseState:
    """Return the end of the first case of a task, for tests that change copies of its graph."""
    return solved(case_of(task, seed=0))


@pytest.mark.parametrize('seed', [0, 1, 2])
@pytest.mark.parametrize('task', TASKS)
def test_each_case_is_solved_within_its_limit_by_a_plan_in_classes(task: str, seed: int) -> None:
    case = case_of(task, seed, trial=seed)
    before = case.house.build()

    end = solved(case)

    assert not judge_household(case.house_goal, before, derived(before)).passed
    judged = judge_household(case.house_goal, end.graph, end.derived)
    assert judged.passed, judged.reason
    assert len(end.lines) <= (case.limit_steps or 0)


@pytest.mark.parametrize(
    ('task', 'item', 'place', 'reported'),
    [
        ('toast_for_six', 'breadslice', 'fridge', 'Only 5: breadslice is toasted on kitchentable'),
        ('toast_for_six', 'plate', 'fridge', 'Only 5: plate is washed by faucet on kitchentable'),
        ('wash_up_by_kind', 'wineglass', 'kitchentable', 'Only 4: wineglass is washed by faucet'),
        ('laundry_by_kind', 'clothespants', 'dresser', 'Only 3: clothespants is washed by'),
        ('find_what_was_hidden', 'lime', 'sofa', 'It is not so: lime on coffeetable'),
        ('table_for_six', 'cutleryknife', 'sink', 'Only 5: cutleryknife on kitchentable'),
        ('hot_meal_for_eight', 'milk', 'fridge', 'Only 1: milk is heated on kitchentable'),
    ],
)
def test_one_object_that_is_elsewhere_is_named_with_the_figure(
    task: str, item: str, place: str, reported: str
) -> None:
    case = case_of(task, seed=0)
    end = end_of(case.task)
    goal, graph = case.house_goal, end.graph.copy()
    [where] = [n for n in graph.nodes if graph.nodes[n].class_name == place][:1]
    good = [each for each in goal.all if isinstance(goal, HouseholdGoal) and each.thing == item]
    moved = end.view.fitting(good[0])[0]

    for relation in (Relation.ON, Relation.INSIDE):
        graph.remove_from(moved, relation)
    graph.add(moved, Relation.INSIDE, where)
    judged = judge_household(goal, graph, end.derived)

    assert not judged.passed
    assert reported in judged.reason


def test_the_seed_deals_the_hiding_places_anew_one_object_to_each() -> None:
    def hidden(seed: int) -> tuple[tuple[str, str], ...]:
        graph = case_of('find_what_was_hidden', seed).house.build()
        places = SUITE.task('find_what_was_hidden').at_first[:6]
        names = [str(each.thing) for each in places]
        return tuple(
            (node.class_name, graph.nodes[place].class_name)
            for node in graph.nodes.values()
            if node.class_name in names
            for place in graph.targets(node.id, Relation.INSIDE)
            if not graph.nodes[place].is_room
        )

    assert hidden(0) == hidden(0)
    assert len({hidden(seed) for seed in range(4)}) > 1
    assert len({place for _, place in hidden(0)}) == 6
