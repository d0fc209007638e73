"""Settings of a run: which episodes they ask for, and what may differ where a run goes on."""

from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.log.run_settings import RunSettings, join, read_settings
from tests.bench.made_results import make_settings

SETTINGS = make_settings(suite='fake', tasks=['fine'], ks=(0, 3))


def test_episodes_come_trial_by_trial() -> None:
    settings = make_settings(tasks=['a', 'b'], ks=(0, 2), trials=2)

    assert [key.name for key in settings.keys] == [
        'a-t000-k0', 'a-t000-k2', 'b-t000-k0', 'b-t000-k2',
        'a-t001-k0', 'a-t001-k2', 'b-t001-k0', 'b-t001-k2',
    ]  # fmt: skip
    assert settings.keys[0] == EpisodeKey('a', 0, 0)


@pytest.mark.parametrize(
    ('changes', 'reported'),
    [
        ({'planner': 'base_llm'}, 'planner: was brain_body, is base_llm'),
        ({'seed': 1}, 'seed: was 0, is 1'),
        ({'prompts': {'planning.md.j2': 'p2'}}, r'prompts.planning.md.j2: was p1, is p2'),
        ({'versions': {'bbllm': '1', 'mujoco': '4'}}, r'versions.mujoco: was 3, is 4'),
        ({'trials': 1}, 'trials: was 2, is 1'),
        ({'ks': (0,)}, 'ks: was 0, 3, is 0'),
        ({'tasks': make_settings(tasks=['other']).tasks}, 'tasks.fine: was fine, is none'),
    ],
)
def test_settings_that_change_what_results_mean_are_refused_by_name(
    changes: dict[str, Any], reported: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        join(SETTINGS, SETTINGS.model_copy(update=changes), 'runs/one')

    assert reported in str(refused.value)
    assert '--out' in str(refused.value)


@pytest.mark.parametrize(
    'changes',
    [
        {'trials': 5},
        {'ks': (0, 1, 3)},
        {'tasks': make_settings(tasks=['fine', 'more']).tasks},
        {'versions': {**SETTINGS.versions, 'commit': 'c2'}},
    ],
)
def test_what_only_adds_episodes_or_moves_the_run_is_no_difference(
    changes: dict[str, Any],
) -> None:
    now: RunSettings = SETTINGS.model_copy(update=changes)

    joined = join(SETTINGS, now, 'runs/one')

    assert (joined.ks, joined.trials, joined.tasks) == (now.ks, now.trials, now.tasks)
    assert joined.machine == SETTINGS.machine


def test_what_a_folder_was_made_without_is_no_difference_of_its_own() -> None:
    with pytest.raises(ConfigError) as refused:
        join(SETTINGS.model_copy(update={'llm': {}}), SETTINGS, 'runs/one')

    assert 'llm.brain.provider: was none, is offline' in str(refused.value)
    assert 'was none, is none' not in str(refused.value)


def test_settings_of_an_older_version_are_refused_by_the_name_of_what_differs() -> None:
    older = {**SETTINGS.model_dump(mode='json'), 'limits': {'steps': 50, 'wall_s': None}}

    with pytest.raises(ConfigError, match=r'old/settings.json .*limits: Extra inputs .*--out'):
        read_settings(older, 'old/settings.json')
