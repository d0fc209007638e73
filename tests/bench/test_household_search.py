"""The expert's search solves every task of the suite in every house, and says where it cannot."""

from __future__ import annotations

import sys

import pytest

from bbllm.bench.household_expert.lessons import Lessons
from bbllm.bench.household_expert.moves import Standing
from bbllm.bench.household_expert.search import NoPlanError, holds, search
from bbllm.bench.household_expert.wording import said
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.bench.suites.household import judge_household
from bbllm.bench.suites.situation import Verdict
from bbllm.bench.suites.suite import load_suite
from bbllm.worlds.household.derived import DerivedStates, derived
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import build, load_house
from bbllm.worlds.household.vocabulary import Action

searching = sys.modules[search.__module__]  # the package gives its name to the function

SUITE = load_suite('household')
N_HOUSES = max(len(houses) for houses in SUITE.houses.values())


def case_of(task: str, trial: int) -> Case:
    return make_case(SUITE, task, seed=0, trial=trial)


def goal_of(**words: object) -> HouseholdGoal:
    return HouseholdGoal(kind='household', all=(HouseCondition.model_validate(words),))


def studio(mode: Mode = Mode.SANE) -> Household:
    return Household(load_house('studio').graph, mode=mode)


@pytest.mark.parametrize('mode', Mode)
@pytest.mark.parametrize('trial', range(N_HOUSES))
@pytest.mark.parametrize('task', [task.name for task in SUITE.tasks])
def test_every_task_is_solved_in_every_house_by_the_rules_of_each_mode(
    task: str, trial: int, mode: Mode
) -> None:
    case = case_of(task, trial)
    assert isinstance(case.house_goal, HouseholdGoal)
    household = Household(case.house.build(), mode=mode)

    lines = search(household, case.house_goal)

    seen = DerivedStates()
    for line in lines:
        result = household.step(line)
        assert result.succeeded, (line, result)
        seen.look(household.graph)
    assert judge_household(case.house_goal, household.graph, seen.now).verdict is Verdict.PASSED


@pytest.mark.parametrize('task', [task.name for task in SUITE.tasks])
def test_a_plan_told_in_classes_means_the_same_things_again(task: str) -> None:
    case = case_of(task, 1)
    assert isinstance(case.house_goal, HouseholdGoal)
    household = Household(case.house.build())
    lines = search(household, case.house_goal)

    standing = Standing(household, derived(household.graph))
    for item in said(lines):
        after = standing.after(item)
        assert after is not None, item
        standing = after

    assert standing.lines == lines


def test_a_search_leaves_the_household_as_it_was() -> None:
    household = studio()
    before = household.graph.copy()

    assert search(household, goal_of(thing='milk', on='desk'))

    assert household.graph == before


def test_nothing_is_done_where_the_goal_is_reached() -> None:
    assert search(studio(), goal_of(thing='milk', inside='fridge')) == ()


@pytest.mark.parametrize(
    'words',
    [
        {'thing': 'book', 'on': 'sofa', 'count': 3},
        {'thing': 'milk', 'inside': 'microwave'},
        {'thing': 'fridge', 'is': 'open'},
        {'thing': 'lightswitch', 'is': 'off', 'count': 2},
        {'thing': 'wallphone', 'is': 'used'},
        {'person': 'sitting', 'on': 'chair'},
    ],
)
def test_conditions_of_every_kind_are_reached(words: dict[str, object]) -> None:
    household, goal = studio(), goal_of(**words)

    lines = search(household, goal)

    seen = DerivedStates()
    assert lines
    for line in lines:
        assert household.step(line).succeeded
        seen.look(household.graph)
    assert judge_household(goal, household.graph, seen.now).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    'words',
    [
        {'thing': 'sofa', 'on': 'desk'},  # cannot be grabbed
        {'thing': 'plate', 'is': 'dirty'},
        {'thing': 'book', 'is': 'toasted'},  # is no food
    ],
)
def test_what_cannot_be_is_a_typed_error_that_names_it(words: dict[str, object]) -> None:
    goal = goal_of(**words)

    with pytest.raises(NoPlanError) as caught:
        search(studio(), goal)

    assert f'so that {goal.all[0]}' in str(caught.value)
    assert '--tasks' in str(caught.value)


def test_a_search_looks_at_no_more_situations_whatever_the_number_of_orders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = []
    monkeypatch.setattr(searching, 'EFFORT', 40)
    monkeypatch.setattr(searching, 'holds', lambda *args: looked.append(1) or holds(*args))
    monkeypatch.setattr(searching, '_cost', lambda *args: 1)  # none is hopeless, none is better
    conditions = [
        {'thing': 'milk', 'inside': 'fridge'},
        {'thing': 'milk', 'inside': 'microwave'},  # there is one milk only
        {'thing': 'tv', 'is': 'on'},
        {'held': 'book'},
    ]
    goal = HouseholdGoal(
        kind='household', all=tuple(map(HouseCondition.model_validate, conditions))
    )

    with pytest.raises(NoPlanError):
        search(studio(), goal)

    assert 20 < len(looked) <= 40  # more than one order was tried


def test_a_copy_of_a_household_goes_on_by_itself_and_with_what_it_remembers() -> None:
    household = studio(Mode.PERSISTENT)
    walk, grab = search(household, goal_of(held='guitar'))
    household.step(walk)
    household.step(grab)
    copy = household.copy()

    again = copy.step(grab)

    assert again.broken == 'already_grabbed'  # which is known beside the graph
    (thing,) = grab.objects
    assert copy.graph == household.graph
    assert copy.graph is not household.graph
    assert thing[0] == 'guitar'


def test_one_thing_fits_all_conditions_that_share_it_though_others_fit_each() -> None:
    graph = build(
        {'rooms': {
            'bathroom': [{'stool': {'on': ['toothbrush']}}],
            'bedroom': [{'desk': {'on': [{'toothbrush': {'inside': ['toothpaste']}}]}}],
        }},
        'made up',
    )  # fmt: skip
    household = Household(graph)
    both = ({'held': 'toothbrush'}, {'thing': 'toothpaste', 'inside': 'toothbrush'})
    apart = HouseholdGoal.model_validate({'kind': 'household', 'all': both})
    tied = apart.model_copy(update={'same': ('toothbrush',)})

    def ends_well(goal: HouseholdGoal) -> bool:
        after = household.copy()
        assert all(after.step(line).succeeded for line in search(household, goal))
        return judge_household(tied, after.graph, frozenset()).verdict is Verdict.PASSED

    assert not ends_well(apart)  # any other brush is nearer
    assert ends_well(tied)


def test_who_names_things_takes_two_at_once_of_which_something_is_made() -> None:
    case = make_case(load_suite('household_long'), 'six_toasts', seed=0, trial=0)
    assert isinstance(case.house_goal, HouseholdGoal)
    household = Household(case.house.build())

    named = search(household, case.house_goal, in_classes=False)
    in_classes = search(household, case.house_goal)

    seen = DerivedStates()
    for line in named:
        assert household.step(line).succeeded, line
        seen.look(household.graph)
    assert judge_household(case.house_goal, household.graph, seen.now).verdict is Verdict.PASSED
    assert len(named) < len(in_classes)


def test_what_slipped_out_of_the_hand_is_no_way_to_a_goal_where_another_thing_is() -> None:
    household, goal = studio(), goal_of(held='book')
    first = search(household, goal)[-1].objects[0][1]

    again = search(household, goal, lessons=Lessons(gripless=frozenset({first})))

    assert again[-1].action is Action.GRAB
    assert again[-1].objects[0][1] != first


def test_what_failed_is_tried_again_where_nothing_else_would_do() -> None:
    household, goal = studio(), goal_of(held='guitar')
    lines = search(household, goal)

    again = search(household, goal, lessons=Lessons(gripless=frozenset({lines[-1].objects[0][1]})))

    assert again == lines
