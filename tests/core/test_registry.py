"""A planner is found by its name, with options or without, and keeps saying what it is."""

import re
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from bbllm.core import registry
from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.core.registry import (
    EVERYWHERE,
    PlannerSpec,
    load_planner,
    load_planners,
)
from tests.core.varied_planner import VariedOptions


@pytest.fixture(autouse=True)
def varied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a planner with options beside those there are."""
    points = registry._points()
    points['varied'] = EntryPoint('varied', 'tests.core.varied_planner:VARIED', registry.GROUP)
    monkeypatch.setattr(registry, '_points', lambda: points)


def built(spec: str) -> Any:
    nobody: Any = None
    planner: Any = load_planner(spec).build(nobody, nobody, k=2)
    return planner.built


@pytest.mark.parametrize(
    ('spec', 'expected'),
    [
        ('varied', (2, 'model', 'random')),
        ('varied:check=graph', (2, 'graph', 'random')),
        ('varied:check=graph,grounding=nearest', (2, 'graph', 'nearest')),
        ('varied: grounding = nearest , check = model', (2, 'model', 'nearest')),
    ],
)
def test_options_after_a_colon_reach_the_planner(spec: str, expected: tuple[Any, ...]) -> None:
    assert built(spec) == expected


@pytest.mark.parametrize(
    ('spec', 'kind', 'text'),
    [
        ('varied:chek=graph', UnknownNameError, "option of varied named 'chek'. Did you mean 'ch"),
        ('varied:check=grph', UnknownNameError, "Did you mean 'graph'? Known: graph, model"),
        ('varied:check', ConfigError, 'varied:check=graph'),
        ('varied:', ConfigError, 'check=model|graph; grounding=random|nearest'),
        ('varied:check=graph,', ConfigError, 'varied:check=graph'),
        ('varied:check=graph,check=model', ConfigError, 'there twice'),
        ('varied:=graph', ConfigError, 'varied:check=graph'),
        ('vared:check=graph', UnknownNameError, "Did you mean 'varied'"),
        ('llm_pop:check=graph', UnknownNameError, "option of llm_pop named 'check'"),
        ('planning_only:', ConfigError, 'has no options; write just planning_only'),
    ],
)
def test_an_option_that_is_none_is_answered_with_those_there_are(
    spec: str, kind: type[BbllmError], text: str
) -> None:
    with pytest.raises(kind) as caught:
        load_planner(spec)

    assert text in str(caught.value)


@pytest.mark.parametrize(
    ('value', 'why'),
    [
        ('no_such_package.module:Planner', 'is in the package no_such_package, which is not inst'),
        ('bbllm.no_such_module:Planner', 'ModuleNotFoundError'),
        ('tests.core.varied_planner:Nobody', 'is installed, but .*:Nobody .*AttributeError'),
    ],
)
def test_a_planner_that_cannot_be_imported_is_refused_and_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    points = registry._points()
    points['broken'] = EntryPoint('broken', value, registry.GROUP)
    monkeypatch.setattr(registry, '_points', lambda: points)

    with pytest.raises(ConfigError, match=f'The planner broken .*{why}'):
        load_planner('broken')
    factories, faults = load_planners()

    assert 'brain_body' in factories
    assert 'broken' not in factories
    assert re.search(why, str(faults['broken']))


class Without:
    """Finds modules as if a package were not installed."""

    def __init__(self, package: str):
        self._package = package

    def find_spec(self, name: str, *_: object) -> None:
        if name == self._package:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)


def test_without_the_package_of_other_planners_those_of_bbllm_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith('bbllm_planners')]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, 'meta_path', [Without('bbllm_planners'), *sys.meta_path])

    factories, faults = load_planners()

    assert {'base_llm', 'brain_body'} <= factories.keys()
    assert 'llm_pop' in faults
    with pytest.raises(ConfigError, match='package bbllm_planners, which is not installed'):
        load_planner('prog_prompt')


class Good:
    """As a planner should be."""

    def __init__(self, brain: Any, body: Any, *, k: int = 3, options: Any = None):
        pass

    def run(self, task: Any, world: Any, context: Any) -> None:
        pass


class WithoutK(Good):
    def __init__(self, brain: Any, body: Any):
        pass


class WithoutRun:
    pass


@dataclass(frozen=True)
class Numbers:
    check: int = 3


def loaded(monkeypatch: pytest.MonkeyPatch, found: object) -> PlannerSpec:
    """Find a planner whose entry point names an object."""
    monkeypatch.setattr(sys.modules['tests.core.varied_planner'], 'VARIED', found)
    return load_planner('varied')


@pytest.mark.parametrize(
    'found', [Good, lambda brain, body, **_: Good(brain, body), PlannerSpec(factory=Good)]
)
def test_a_class_a_function_and_a_spec_are_planners(
    monkeypatch: pytest.MonkeyPatch, found: object
) -> None:
    assert loaded(monkeypatch, found).domains == EVERYWHERE


@pytest.mark.parametrize(
    ('found', 'text'),
    [
        (3, 'it is int and no class, function or PlannerSpec'),
        (WithoutK, "planner(brain, body, k=3): got an unexpected keyword argument 'k'"),
        (WithoutRun, 'no method run(task, world, context)'),
        (
            PlannerSpec(factory=WithoutK, options=VariedOptions()),
            'planner(brain, body, k=3, options=...)',
        ),
        (PlannerSpec(factory=Good, options=Numbers()), "option 'check' is no bool, Enum or Lit"),
        (PlannerSpec(factory=Good, domains=frozenset({'kitchen'})), "'kitchen'; known are house"),
    ],
)
def test_an_object_that_builds_no_planner_is_refused_with_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, found: object, text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(monkeypatch, found)

    assert text in str(caught.value)
