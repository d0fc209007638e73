"""Who is compared: those that were named must be able to play; of all, those play that can."""

from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import BbllmError, ConfigError
from bbllm_bench.compare.choice import Choice, choose, folder_name, read_planners
from bbllm_bench.runner.request import BenchRequest

IN_HOUSES = {
    'agent',
    'code_policy',
    *('base_llm', 'brain_body', 'fltrnn', 'inner_monologue', 'lang_prompt'),
    *('llm_state', 'planning_only', 'planning_reasoning', 'prog_prompt'),
}


def chosen(planners: str, folder: Path, **changes: Any) -> Choice:
    values: dict[str, Any] = {'suite': 'household', 'brain': 'expert', 'body': 'expert'}
    request = BenchRequest(**{**values, 'trials': 1, **changes})
    return choose(request, planners, folder / 'out')


def names(choice: Choice) -> list[str]:
    return [item.planner for item in choice.contenders]


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('a,b', ('a', 'b')),
        (' a , b ,', ('a', 'b')),
        ('all', ('all',)),
        ('b:x=1,a', ('b:x=1', 'a')),
        ('b:x=1,y=2,a', ('b:x=1,y=2', 'a')),
        ('b:x=1,b:y=2', ('b:x=1', 'b:y=2')),
        ('b: x = 1 , y = 2', ('b:x=1,y=2',)),
        ('a,b:x=1,y=2,c:z=3', ('a', 'b:x=1,y=2', 'c:z=3')),
    ],
)
def test_commas_part_planners_and_their_options(text: str, expected: tuple[str, ...]) -> None:
    assert read_planners(text) == expected


def test_all_are_those_that_play_in_the_world_and_whose_prompts_the_models_know(
    tmp_path: Path,
) -> None:
    choice = chosen('all', tmp_path)

    assert set(names(choice)) == IN_HOUSES
    reasons = {item.planner: item.reason for item in choice.left_out}
    assert set(reasons) == {'llm_pop', 'llm_pop_no_evaluator', 'pddl'}
    assert all('plays in no world of the kind household' in text for text in reasons.values())
    assert not (tmp_path / 'out').exists()


def test_each_gets_the_mapping_and_the_loops_that_it_can_use(tmp_path: Path) -> None:
    choice = chosen('lang_prompt,brain_body', tmp_path, ks=(2,))

    without, brain_body = (item.prepared.plan.settings for item in choice.contenders)
    assert (without.ks, brain_body.ks) == ((0,), (2,))
    assert without.limits == brain_body.limits
    assert (without.seed, without.tasks) == (brain_body.seed, brain_body.tasks)


def test_options_that_differ_in_a_sign_alone_have_folders_of_their_own() -> None:
    specs = ['a:x=1', 'a:x=-1', 'a:x=--1', 'a:x=+1', 'a-x:1', 'a:x=1,y=2', 'a:x=1-y=2']

    names = [folder_name(spec) for spec in specs]

    assert len(set(names)) == len(specs)
    assert all(name.startswith('a-x-') and name.replace('-', '').isalnum() for name in names)


@pytest.mark.parametrize(
    ('planners', 'changes', 'reported'),
    [
        ('prog_prompt,brain_bdy', {}, "Did you mean 'brain_body'"),
        ('prog_prompt,llm_pop', {}, 'plays in no world of the kind household'),
        ('prog_prompt:chek=graph,base_llm', {}, "Did you mean 'check'"),
        ('llm_pop,base_llm', {'suite': 'partial', 'body': None}, 'cannot work with `expert`'),
        ('prog_prompt', {}, 'nothing to compare'),
        ('', {}, 'names no planner'),
        ('base_llm,base_llm', {}, 'base_llm twice'),
        ('all', {'suite': 'houshold'}, "Did you mean 'household'"),
        ('all', {'tasks': ('watch_tvv',)}, "Did you mean 'watch_tv'"),
        ('all', {'brain': 'ofline'}, 'No planner can play household. '),
        ('all', {'brain': 'offline', 'body': 'offline'}, '--brain expert'),
    ],
)
def test_what_cannot_be_compared_is_refused_before_a_run_starts(
    tmp_path: Path, planners: str, changes: dict[str, Any], reported: str
) -> None:
    with pytest.raises(BbllmError) as caught:
        chosen(planners, tmp_path, **changes)

    assert reported in str(caught.value)
    assert not (tmp_path / 'out').exists()


def test_a_key_that_is_missing_is_an_error_and_no_reason_to_leave_all_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        chosen('all', tmp_path, brain='gpt-4o', body='gpt-4o')

    assert 'OPENAI_API_KEY' in str(caught.value)
    assert 'llm_pop' not in str(caught.value)
