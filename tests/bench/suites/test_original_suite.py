"""A suite of ProgPrompt's own data."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.types import SkillCall
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.original_suite import VARIABLE, read_set
from bbllm_bench.suites.scores import Verdict
from bbllm_bench.suites.suite import Suite, load_suite
from bbllm_bench.suites.task_spec import SuiteFileError

FIRST = load_house('studio').graph.to_dict()
UNSEEN = {'file3': ['watch tv', 'turn off light'], 'file1': ['sit down', 'do nothing']}
"""In the order in which the release wrote its final graphs; a sorted listing is another."""


def node_of(name: str) -> int:
    return min(int(str(n['id'])) for n in FIRST['nodes'] if n['class_name'] == name)


def graph(*, states: Mapping[str, str] | None = None, edges: Sequence[Any] = ()) -> dict[str, Any]:
    """The first graph with the states of things changed, and some edges more."""
    changed = {node_of(name): word for name, word in (states or {}).items()}
    nodes = [
        {**n, 'states': [changed[int(str(n['id']))]]} if n['id'] in changed else n
        for n in FIRST['nodes']
    ]
    return {
        'nodes': nodes,
        'edges': [
            *FIRST['edges'],
            *(
                {'from_id': node_of(a), 'relation_type': word, 'to_id': node_of(b)}
                for a, word, b in edges
            ),
        ],
    }


FINALS = [
    graph(states={'tv': 'ON'}, edges=[('character', 'CLOSE', 'tv')]),
    graph(states={'lightswitch': 'OFF'}),
    graph(states={'salmon': 'HEATED'}, edges=[('character', 'HOLDS_RH', 'salmon')]),
    graph(),
]


def write_lines(path: Path, items: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(''.join(json.dumps(item) + '\n' for item in items))


def write_tasks(path: Path, names: Sequence[str]) -> None:
    write_lines(path, [{name: {'0: go': ['<char0> [walk] <tv> (1)']}} for name in names])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A release with the set test_unseen, and the first graph of its flat."""
    folder = tmp_path / 'data'
    for file, names in UNSEEN.items():
        write_tasks(folder / 'test_unseen' / f'{file}_annotated.json', names)
    write_lines(folder / 'final_states' / 'final_states_test_unseen.json', FINALS)
    write_lines(folder / 'final_states' / 'initial_states_env0.json', [FIRST])
    return folder


def goals_of(suite: Suite) -> dict[str, set[str]]:
    return {
        task.name: {*task.house_goal.relations, *task.house_goal.states}  # type: ignore[union-attr]
        for task in suite.tasks
    }


def test_tasks_are_paired_with_their_graphs_by_name(data: Path) -> None:
    suite = load_suite('household_original', data=data)

    assert goals_of(suite) == {
        'watch_tv': {'tv ON', 'character CLOSE tv'},
        'turn_off_light': {'lightswitch OFF'},
        'sit_down': {'salmon HEATED', 'character HOLDS_RH salmon'},
    }
    assert suite.mode.value == 'fresh'
    assert suite.task('watch_tv').instruction == 'watch tv'


def test_the_copy_is_found_by_the_environment_and_from_the_top_of_a_clone(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(data.parent))

    assert len(load_suite('household_original').tasks) == 3


def test_the_original_score_is_the_share_of_strings_that_came_true(data: Path) -> None:
    case = make_case(load_suite('household_original', data=data), 'watch_tv', seed=0, trial=0)
    world = HouseholdWorld(case.house.build(), mode=case.house.mode)
    tv = f'tv_{node_of("tv")}'

    def held() -> list[bool]:
        judgement = judge_household(case.house_goal, world.graph, world.derived.now)
        return [condition.holds for condition in judgement.conditions]

    assert held() == [False, False]
    assert world.execute(SkillCall('find', (tv,))).succeeded
    assert held() == [True, False]
    assert world.execute(SkillCall('switchon', (tv,))).succeeded
    after = judge_household(case.house_goal, world.graph, world.derived.now)
    assert after.verdict is Verdict.PASSED


def test_the_seen_set_is_not_off_by_one(tmp_path: Path) -> None:
    write_tasks(tmp_path / 'test_seen' / 'file9_annotated.json', ['a'])
    write_tasks(tmp_path / 'test_seen' / 'file7_annotated.json', ['radio', 'wash mug'])
    write_tasks(tmp_path / 'train' / 'file7_annotated.json', ['book', 'radio', 'others'])
    words = ('tv', 'radio', 'lightswitch')
    finals = [graph(states={word: 'DIRTY'}) for word in words]
    write_lines(tmp_path / 'final_states' / 'final_states_test_seen.json', finals)
    write_lines(tmp_path / 'final_states' / 'initial_states_test_seen.json', [FIRST])

    tasks, left_out = read_set(tmp_path, 'test_seen')

    assert {task.name: set(task.goal.states) for task in tasks} == {
        'a': {'tv DIRTY'},
        'radio': {'lightswitch DIRTY'},
    }
    assert left_out == ['wash mug']


def test_the_ambiguous_set_has_two_names_and_a_new_flat_its_own_first_graphs(
    tmp_path: Path,
) -> None:
    write_tasks(tmp_path / 'test_unseen_ambiguous_goals' / 'file_annotated_mixed.json', ['x'])
    write_tasks(tmp_path / 'new_env' / 'env1_annotated.json', ['y', 'z'])
    states = tmp_path / 'final_states'
    kind = 'test_unseen_ambiguous_goals'
    write_lines(states / f'final_states_{kind}.json', FINALS[:1])
    write_lines(states / 'initial_states_env0.json', [FIRST])
    write_lines(states / 'final_states_env1.json', FINALS[:2])
    write_lines(states / 'initial_states_env1.json', [FIRST, FINALS[1]])

    assert read_set(tmp_path, kind) == read_set(tmp_path, 'test_unseen_ambiguous')
    assert [task.n_goals for task in read_set(tmp_path, 'env1')[0]] == [2, 0]


def test_the_error_without_a_copy_names_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)

    with pytest.raises(SuiteFileError, match=r'github.com/NVlabs/progprompt-vh.*--data DIR'):
        load_suite('household_original')


def test_faults_of_a_copy_are_reported_by_file(data: Path) -> None:
    with pytest.raises(UnknownNameError, match='test_unseen'):
        read_set(data, 'test_unsen')
    with pytest.raises(ConfigError, match='no folder'):
        read_set(data / 'no', 'env1')
    with pytest.raises(ConfigError, match=r'env1_annotated.json cannot be read'):
        read_set(data, 'env1')

    finals = data / 'final_states' / 'final_states_test_unseen.json'
    finals.write_text('version https://git-lfs.github.com/spec/v1\n')
    with pytest.raises(ConfigError, match='git lfs pull'):
        read_set(data, 'test_unseen')
    finals.write_text('{"nodes": []}\n' * 4)
    with pytest.raises(ConfigError, match='is no graph'):
        read_set(data, 'test_unseen')
    for text in ('{"nodes": [', '[' * 200_000):
        finals.write_text(text)
        with pytest.raises(ConfigError, match='JSON object a line'):
            read_set(data, 'test_unseen')


def test_the_first_graph_that_the_release_lacks_is_asked_for(data: Path) -> None:
    (data / 'final_states' / 'initial_states_env0.json').unlink()

    with pytest.raises(ConfigError, match=r'initial_states_test_unseen.json.*environment_graph'):
        read_set(data, 'test_unseen')

    write_lines(data / 'final_states' / 'initial_states_env0.json', [FIRST, FIRST])
    with pytest.raises(ConfigError, match='has 2 graphs, and there are 4'):
        read_set(data, 'test_unseen')


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f'${VARIABLE} names no copy of the data')
@pytest.mark.parametrize('name', ['env1', 'env2'])
def test_every_annotated_plan_of_a_real_copy_reaches_all_its_goals(name: str) -> None:
    folder = Path(os.environ[VARIABLE])
    folder = folder / 'data' if (folder / 'data').is_dir() else folder
    suite = load_suite(f'household_original_{name}')
    lines = (folder / 'new_env' / f'{name}_annotated.json').read_text().splitlines()
    plans = dict(item for line in lines for item in json.loads(line).items())

    assert len(suite.tasks) == len(plans) == 10
    for task in suite.tasks:
        case = make_case(suite, task.name, seed=0, trial=0)
        world = HouseholdWorld(case.house.build(), mode=case.house.mode)
        for step in (step for steps in plans[task.instruction].values() for step in steps):
            skill = re.findall(r'\[(\w+)\]', step)[0]
            entities = tuple(
                f'{word}_{number}' for word, number in re.findall(r'<(\w+)> \((\d+)\)', step)
            )
            assert world.execute(SkillCall(skill, entities)).succeeded, step
        judgement = judge_household(case.house_goal, world.graph, world.derived.now)
        assert judgement.verdict is Verdict.PASSED, (task.name, judgement.reason)
