"""The oracle's plans reach the goals of the suites in every house, and name what they cannot."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from household_cases import SUITE, case_of

from bbllm.bench.optimal.house_state import HouseState, NoPlanError
from bbllm.bench.oracle.household.subplan import plan_for
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.household import judge_household
from bbllm.bench.suites.scores import Verdict
from bbllm.bench.suites.suite import load_suite
from bbllm.worlds.household.derived import DerivedStates
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import build, load_house
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import SEEN

GOALS = load_suite('household_goals')


def goal_of(*conditions: dict[str, object], same: Sequence[str] = ()) -> HouseholdGoal:
    return HouseholdGoal.model_validate(
        {'kind': 'household', 'all': conditions, 'same': tuple(same)}
    )


def studio() -> Household:
    return Household(load_house('studio').graph)


def lines_for(
    household: Household, goal: HouseholdGoal, **words: object
) -> tuple[ScriptLine, ...]:
    state = HouseState.beginning(household, **words)  # type: ignore[arg-type]
    return plan_for(state, goal, shortest=False).lines


def reaches(household: Household, goal: HouseholdGoal, lines: Sequence[ScriptLine]) -> bool:
    """Whether lines succeed one after the other in a household and end in a goal."""
    copy, seen = household.copy(), DerivedStates()
    seen.look(copy.graph)
    for line in lines:
        if not copy.step(line).succeeded:
            return False
        seen.look(copy.graph, line)
    return judge_household(goal, copy.graph, seen.now).verdict is Verdict.PASSED


@pytest.mark.parametrize('mode', Mode)
@pytest.mark.parametrize('by_class', [False, True])
@pytest.mark.parametrize('task', [task.name for task in SUITE.tasks])
def test_every_task_is_solved_in_every_house_by_the_rules_of_each_mode(
    task: str, by_class: bool, mode: Mode
) -> None:
    for trial in range(len(SUITE.houses[task])):
        case = case_of(task, trial)
        goal = case.house_goal
        assert isinstance(goal, HouseholdGoal)
        household = Household(case.house.build(), mode=mode)

        lines = lines_for(household, goal, by_class=by_class)

        assert reaches(household, goal, lines), (trial, lines)


@pytest.mark.parametrize('name', [task.name for task in GOALS.tasks[::20]])
def test_sampled_goals_are_reached_in_no_fewer_steps_than_proven(name: str) -> None:
    case = make_case(GOALS, name, seed=1, trial=0)
    goal, household = case.house_goal, case.house.household()
    assert isinstance(goal, HouseholdGoal)

    lines = lines_for(household, goal)

    least = next(task.least_steps for task in GOALS.tasks if task.name == name)
    assert reaches(household, goal, lines)
    assert least is not None and len(lines) >= least
    assert len(plan_for(HouseState.beginning(household), goal, shortest=True).lines) == least


@pytest.mark.parametrize(
    'words',
    [
        {'thing': 'book', 'on': 'sofa', 'count': 3},
        {'thing': 'milk', 'inside': 'microwave'},
        {'thing': 'fridge', 'is': 'open'},
        {'thing': 'lightswitch', 'is': 'off', 'count': 2},
        {'thing': 'wallphone', 'is': 'used'},
        {'person': 'sitting', 'on': 'chair'},
        {'thing': 'milk', 'is': 'heated', 'by': 'microwave'},
        {'thing': 'anything', 'on': 'desk', 'not': True},
    ],
)
def test_conditions_of_every_kind_are_reached(words: dict[str, object]) -> None:
    household, goal = studio(), goal_of(words)
    before = household.graph.copy()

    lines = lines_for(household, goal)

    assert lines
    assert reaches(household, goal, lines)
    assert household.graph == before  # planning changes nothing


def test_nothing_is_done_where_the_goal_is_reached() -> None:
    assert lines_for(studio(), goal_of({'thing': 'milk', 'inside': 'fridge'})) == ()


@pytest.mark.parametrize(
    'words',
    [
        {'thing': 'sofa', 'on': 'desk'},  # cannot be grabbed
        {'thing': 'plate', 'is': 'dirty'},
        {'thing': 'book', 'is': 'toasted'},  # is no food
    ],
)
def test_a_goal_without_a_plan_is_an_error_that_names_the_condition(
    words: dict[str, object],
) -> None:
    goal = goal_of(words)

    with pytest.raises(NoPlanError, match='so that') as caught:
        lines_for(studio(), goal)

    assert str(goal.all[0]) in str(caught.value)


def test_a_room_is_entered_before_its_objects_are_named() -> None:
    case = make_case(load_suite('household_long'), 'open_fridge', seed=1, trial=0)
    goal = case.house_goal
    assert isinstance(goal, HouseholdGoal)

    lines = lines_for(case.house.household(), goal, sight=SEEN['rooms_seen'], by_class=True)

    assert [line.objects[0][0] for line in lines] == ['kitchen', 'fridge', 'fridge']


def test_one_object_fits_all_conditions_that_share_it_though_others_fit_each() -> None:
    graph = build(
        {'rooms': {
            'bathroom': [{'stool': {'on': ['toothbrush']}}],
            'bedroom': [{'desk': {'on': [{'toothbrush': {'inside': ['toothpaste']}}]}}],
        }},
        'made up',
    )  # fmt: skip
    both = ({'held': 'toothbrush'}, {'thing': 'toothpaste', 'inside': 'toothbrush'})
    tied = goal_of(*both, same=['toothbrush'])
    household = Household(graph)

    assert reaches(household, tied, lines_for(household, tied))


def test_conditions_keep_what_those_before_them_reached() -> None:
    goal = goal_of(
        {'thing': 'fridge', 'is': 'open'},
        {'thing': 'milk', 'inside': 'microwave'},
        {'thing': 'microwave', 'is': 'on'},
        {'held': 'book'},
    )
    household = studio()

    assert reaches(household, goal, lines_for(household, goal))
