"""What `expert` and `uninformed` are told of cases, and how a run comes by it."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.llm.models.factory import Models
from bbllm.testing import ScriptedModel
from bbllm_bench.oracle.case_goals import brief_of, check_goals, with_goal
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import Prepared, prepare
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite
from tests.bench.suite_files import STANDING, generated, suite

PARTIAL = load_suite('partial')
EXPERT = Models(brain=ScriptedModel(name='expert'), body=ScriptedModel())


HOUSE = {'suite': 'household', 'planner': 'brain_body', 'body': 'expert'}


def case_of(task: str, trial: int = 0) -> Case:
    return make_case(PARTIAL, task, seed=1, trial=trial)


def prepared(folder: Path, **changes: Any) -> Prepared:
    values: dict[str, Any] = {
        'suite': 'partial',
        'planner': 'llm_pop',
        'brain': 'expert',
        'body': 'offline',
    }
    return prepare(BenchRequest(**{**values, **changes}), folder)


@pytest.mark.parametrize('task', [task.name for task in PARTIAL.tasks])
def test_a_brief_states_the_goal_and_nothing_that_has_to_be_found_out(task: str) -> None:
    case = case_of(task)
    other = make_case(PARTIAL, task, seed=1, trial=1)

    brief = brief_of(case, 1)

    assert (brief.goal, brief.needs) == (case.goal, case.needs)
    assert brief.gather
    # Of two tables on which other things weigh more, or are fixed, it says the same; guesses
    # differ by case and by seed.
    assert brief_of(other, 1).model_copy(update={'seed': brief.seed}) == brief
    assert len({brief.seed, brief_of(case, 2).seed, brief_of(other, 1).seed}) == 3
    assert not any(item.name in brief.model_dump_json() for item in case.scene.objects)


def test_the_number_of_fixed_blocks_is_handed_over_as_in_the_instruction() -> None:
    case = case_of('movable_to_corner')
    fixed = tuple(item.model_copy(update={'fixed': True}) for item in case.scene.objects)
    scene = case.scene.model_copy(update={'objects': fixed})

    assert brief_of(case, 1).n_fixed == 1
    assert brief_of(dataclasses.replace(case, scene=scene), 1).n_fixed == len(fixed) > 1
    assert brief_of(case_of('stack'), 1).n_fixed == GoalBrief().n_fixed


@pytest.mark.parametrize(
    'goal',
    [
        {'kind': 'tower', 'height': 2, 'order': 'any', 'near_m': 0.02, 'still_m': 0.01},
        {'kind': 'hold', 'which': 'heaviest', 'raised_m': 0.05},
    ],
)
def test_fixed_blocks_are_refused_for_goals_that_ignore_them(goal: dict[str, object]) -> None:
    cubes = [{'kind': 'cube', 'count': 3, 'mass': [0.05, 0.1], 'mass_ratio': 1.2, 'fixed': 1}]
    made = suite(generated(objects=cubes) | {'goal': {**goal, **STANDING}, 'needs': 'movable'})

    with pytest.raises(ConfigError, match='order: on_fixed and for corners with which: movable'):
        check_goals(made.tasks, EXPERT, 'llm_pop')


def test_only_models_that_need_the_goal_receive_it() -> None:
    case = case_of('stack')
    plain = LlmConfig(brain=ModelConfig(provider='offline'))

    assert with_goal(plain, case) is plain
    told = with_goal(LlmConfig(brain=ModelConfig(provider='expert')), case)
    assert GoalBrief.model_validate(told.brain.goal) == brief_of(case, case.seed)


def test_a_run_states_that_it_measures_the_plumbing(tmp_path: Path) -> None:
    (both,) = (text for text in prepared(tmp_path / 'h', **HOUSE).notices if 'plumbing' in text)
    assert both.startswith('The Brain and the Body `expert` is a deterministic stand-in')
    run = prepared(tmp_path)

    assert run.plan.settings.brain == 'expert'
    assert run.plan.settings.llm['brain'] == {'provider': 'expert'}
    assert any('measures the plumbing, not planning' in notice for notice in run.notices)


def test_a_run_whose_planner_asks_no_body_needs_and_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL'):
        monkeypatch.delenv(name, raising=False)

    run = prepared(tmp_path, body=None)
    other = prepared(tmp_path, planner='brain_body', brain='offline', body=None)

    assert not any('Body' in notice for notice in run.notices)
    assert run.plan.settings.body == 'offline'
    assert any('the Body is `offline`' in notice for notice in other.notices)


@pytest.mark.parametrize(
    ('changes', 'reported'),
    [
        ({'planner': 'brain_body'}, 'brain_body cannot work with `expert`'),
        ({'planner': 'brain_body', 'brain': 'uninformed'}, 'llm_pop'),
        ({'suite': 'tabletop', 'tasks': ('letter_l',)}, 'letter_l has the goal letter_l'),
        (
            {'suite': 'tabletop'},
            'They reach tower, corners, hold, layout, those of benchmarks, and conditions',
        ),
        (
            {'suite': 'table_sorting', 'planner': 'brain_body', 'body': 'uninformed'},
            '`uninformed` can only be the Brain. Use --body offline',
        ),
        ({'suite': 'table_sorting'}, 'answers prog_prompt, lang_prompt, brain_body'),
        ({**HOUSE, 'planner': 'llm_pop'}, 'plays in no world of the kind household'),
        ({**HOUSE, 'brain': 'offline'}, 'answers nothing in houses'),
        ({**HOUSE, 'planner': 'lang_prompt', 'body': 'offline'}, 'give --body expert'),
        ({**HOUSE, 'brain': 'uninformed'}, '`uninformed` works in'),
        (
            {**HOUSE, 'planner': 'llm_state', 'brain': 'offline'},
            'cannot work with `offline`',
        ),
    ],
)
def test_unplayable_tasks_are_refused_before_anything_starts(
    tmp_path: Path, changes: dict[str, Any], reported: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        prepared(tmp_path / 'out', **changes)

    assert reported in str(raised.value)
    assert not (tmp_path / 'out').exists()


def test_the_body_of_expert_is_expert_where_none_is_named(tmp_path: Path) -> None:
    values = {'suite': 'table_sorting', 'planner': 'brain_body', 'body': None}

    assert prepared(tmp_path, **values).plan.settings.body == 'expert'
