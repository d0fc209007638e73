"""A planner is found by its name, with options or without, and keeps saying what it is."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from bbllm.core import registry
from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.core.registry import (
    EVERYWHERE,
    asks_body,
    feels,
    find_planner,
    load_planners,
    needs_embedder,
    options_of,
    planner_names,
    plays_in,
    stand_ins,
    uses_feedback,
)


@pytest.fixture(autouse=True)
def varied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a planner with options beside those there are."""
    points = registry._points()
    points['varied'] = EntryPoint('varied', 'varied_planner:Varied', registry.GROUP)
    monkeypatch.setattr(registry, '_points', lambda: points)


def built(spec: str) -> Any:
    nobody: Any = None
    planner: Any = find_planner(spec)(nobody, nobody, k=2)
    return planner.built


@pytest.mark.parametrize(
    ('spec', 'expected'),
    [
        ('varied', (2, 'model', 'random')),
        ('varied:check=graph', (2, 'graph', 'random')),
        ('varied:check=graph,grounding=nearest', (2, 'graph', 'nearest')),
        ('varied: grounding = held_first , check = model', (2, 'model', 'held_first')),
    ],
)
def test_options_after_a_colon_reach_the_planner(spec: str, expected: tuple[Any, ...]) -> None:
    assert built(spec) == expected


@pytest.mark.parametrize('spec', ['varied', 'varied:check=graph'])
def test_a_planner_with_options_says_of_itself_what_it_says_without(spec: str) -> None:
    factory = find_planner(spec)

    assert not uses_feedback(factory)
    assert feels(factory)
    assert asks_body(factory)
    assert not needs_embedder(factory)
    assert stand_ins(factory) == {'expert'}
    assert plays_in(factory) == {'household'}
    assert options_of(factory)['check'] == ('model', 'graph')


@pytest.mark.parametrize(
    ('spec', 'kind', 'told'),
    [
        ('varied:chek=graph', UnknownNameError, "option of varied named 'chek'. Did you mean 'ch"),
        ('varied:check=grph', UnknownNameError, "Did you mean 'graph'? Known: graph, model"),
        ('varied:check', ConfigError, 'varied:check=graph'),
        ('varied:', ConfigError, 'check=model|graph; grounding=random|nearest|held_first'),
        ('varied:check=graph,', ConfigError, 'varied:check=graph'),
        ('varied:check=graph,check=model', ConfigError, 'there twice'),
        ('varied:=graph', ConfigError, 'varied:check=graph'),
        ('vared:check=graph', UnknownNameError, "Did you mean 'varied'"),
        ('llm_pop:check=graph', UnknownNameError, "option of llm_pop named 'check'"),
        ('llm_pop:', ConfigError, 'has no options; write just llm_pop'),
    ],
)
def test_an_option_that_is_none_is_answered_with_those_there_are(
    spec: str, kind: type[BbllmError], told: str
) -> None:
    with pytest.raises(kind) as caught:
        find_planner(spec)

    assert told in str(caught.value)


@pytest.mark.parametrize('name', planner_names())
def test_every_option_of_an_installed_planner_can_be_chosen(name: str) -> None:
    for key, values in options_of(find_planner(name)).items():
        assert len(set(values)) == len(values) > 1
        for value in values:
            find_planner(f'{name}:{key}={value}')


def test_a_planner_that_says_nothing_of_worlds_plays_in_all() -> None:
    assert plays_in(find_planner('brain_body')) == EVERYWHERE


@pytest.mark.parametrize(
    ('value', 'told'),
    [
        ('no_such_module:Planner', 'ModuleNotFoundError'),
        ('varied_planner:Nobody', 'AttributeError'),
    ],
)
def test_a_planner_that_cannot_be_imported_is_refused_and_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, value: str, told: str
) -> None:
    points = registry._points()
    points['broken'] = EntryPoint('broken', value, registry.GROUP)
    monkeypatch.setattr(registry, '_points', lambda: points)

    with pytest.raises(ConfigError, match=f'broken is installed, but {value} .*{told}'):
        find_planner('broken')
    factories, faults = load_planners()

    assert 'brain_body' in factories
    assert 'broken' not in factories
    assert told in str(faults['broken'])


def test_options_of_which_one_makes_nothing_of_the_other_are_refused_together_only() -> None:
    with pytest.raises(
        ConfigError, match=r'exclude each other in fltrnn.*`fltrnn:paper_code=yes`'
    ):
        find_planner('fltrnn:verify=yes,demos=fixed,paper_code=yes')

    for spec in ('verify=yes', 'paper_code=yes', 'verify=no,paper_code=yes'):
        assert options_of(find_planner(f'fltrnn:{spec}'))
