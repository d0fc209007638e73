import json
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import BbllmError, ConfigError, ReplayError, UnknownNameError
from bbllm_bench.runner.conversations import check_recording
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import Prepared, prepare

KEY = 'sk-test-0123456789abcdefghijklmnop'


def prepared(folder: Path, **changes: Any) -> Prepared:
    values: dict[str, Any] = {'suite': 'tabletop', 'brain': 'offline', 'body': 'offline'}
    return prepare(BenchRequest(**{**values, **changes}), folder)


def test_settings_record_all_that_decides_the_results(tmp_path: Path) -> None:
    settings = prepared(tmp_path, ks=(3, 0, 3), trials=2, seed=7).plan.settings
    data = settings.model_dump(mode='json')

    assert (data['suite'], data['brain'], data['seed']) == ('tabletop', 'offline', 7)
    assert data['ks'] == [0, 3]
    assert [task['name'] for task in data['tasks']][:2] == ['right_side', 'letter_l']
    assert {'bbllm', 'source', 'commit', 'python', 'mujoco', 'numpy', 'ruckig', 'openai'} <= set(
        data['versions']
    )
    assert len(data['prompts']['brain_body/prompts/planning.md.j2']) == 64
    assert 'llm_state/prompts/policy.md.j2' in data['prompts']
    assert data['llm'] == {'brain': {'provider': 'offline'}, 'body': {'provider': 'offline'}}
    assert len(settings.keys) == 7 * 2 * 2


def test_a_planner_without_feedback_loops_plays_each_case_once(tmp_path: Path) -> None:
    run = prepared(tmp_path, planner='base_llm', ks=(0, 3), trials=1)

    assert run.plan.settings.ks == (0,)
    assert len(run.plan.settings.keys) == 7
    assert any('base_llm has no feedback loops' in notice for notice in run.notices)
    assert prepared(tmp_path, planner='base_llm', ks=(0,)).notices == ()


def test_a_pattern_stands_for_all_tasks_that_fit_it(tmp_path: Path) -> None:
    settings = prepared(tmp_path, tasks=('*_side', 'letter_?')).plan.settings

    names = [task.name for task in settings.tasks]
    assert names == ['right_side', 'letter_l', 'pairs_a_side']
    with pytest.raises(UnknownNameError, match=r'letters_\*'):
        prepared(tmp_path, tasks=('letters_*',))


CHANGED = {'changed_prompts': True}


@pytest.mark.parametrize(
    ('changes', 'reported'),
    [
        ({'suite': 'tabeltop'}, "Did you mean 'tabletop'"),
        ({'planner': 'brain_bdy'}, "Did you mean 'brain_body'"),
        ({'suite': 'household', 'planner': 'llm_pop', 'brain': 'gpt-4o'}, 'only in tabletop'),
        ({'suite': 'household', 'planner': 'llm_pop'}, 'lang_prompt, '),
        ({'tasks': ('plus_sing',)}, "Did you mean 'plus_sign'"),
        ({'brain': 'ofline'}, 'did you mean offline'),
        ({'brain': 'gpt-4o'}, 'OPENAI_API_KEY'),
        ({'suite': 'no/such.yaml'}, 'no/such.yaml'),
        ({'replay': Path('no/talk.jsonl')}, 'no/talk.jsonl'),
        ({'record': Path('a'), 'replay': Path('b'), 'world': 'ros'}, 'exclude each other'),
        (CHANGED, 'add --replay FILE'),
        (CHANGED | {'replay': Path('b'), 'record': Path('a')}, 'may not be recorded'),
        (CHANGED | {'replay': Path('b'), 'world': 'ros'}, 'leave --world ros out'),
        ({'brain': 'replay'}, '--replay FILE'),
        ({'mapping': 'schema'}, 'schema'),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_run_starts(
    tmp_path: Path, changes: dict[str, Any], reported: str
) -> None:
    with pytest.raises(BbllmError) as raised:
        prepared(tmp_path / 'out', **changes)

    assert isinstance(raised.value, (ConfigError, UnknownNameError, ReplayError))
    assert reported in str(raised.value)
    assert not (tmp_path / 'out').exists()


def test_what_auto_came_to_is_fixed_for_all_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1')
    (tmp_path / 'llm.yaml').write_text('brain: {model: m}')

    run = prepared(tmp_path / 'out', brain=None, body='offline', llm_config=tmp_path / 'llm.yaml')

    assert run.plan.config.llm.brain.provider == 'openai'
    assert run.plan.config.llm.brain.base_url == 'http://127.0.0.1:9/v1'
    assert run.plan.config.llm.body.provider == 'offline'
    assert run.plan.settings.llm['brain']['host'] == '127.0.0.1:9'
    assert any('127.0.0.1:9' in notice for notice in run.notices)


def test_no_secret_is_in_settings_or_in_what_travels_to_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    monkeypatch.setenv('OPENAI_BASE_URL', 'https://ann:pass4word@127.0.0.1:9/v1')

    run = prepared(tmp_path, brain='gpt-4o', body='gpt-4o')

    text = (
        json.dumps(run.plan.settings.model_dump(mode='json'))
        + run.plan.config.llm.model_dump_json()
    )
    text += repr(run.plan.config)
    assert KEY not in text
    assert 'pass4word' not in text


def test_a_recording_of_other_episodes_is_refused_and_one_of_a_part_is_reported(
    tmp_path: Path,
) -> None:
    talk = tmp_path / 'talk.jsonl'
    exchange = {
        'format': 1, 'role': 'brain', 'name': 'm', 'supports_schema': False, 'messages': [],
        'stop': [], 'schema_hash': '', 'error': 'ModelError', 'episode': 'plus_sign-t000-k3',
    }  # fmt: skip
    talk.write_text(json.dumps(exchange) + '\n')

    run = prepared(tmp_path, replay=talk, tasks=('plus_sign',), trials=2)

    assert any('lacks 1 of 2 episodes' in notice for notice in run.notices)
    assert run.plan.settings.brain == 'replay of m'
    with pytest.raises(ConfigError, match='none of these episodes, but for example plus_sign-'):
        prepared(tmp_path, replay=talk, tasks=('letter_l',))


def test_a_recording_that_the_folder_does_not_call_its_own_is_left_alone(tmp_path: Path) -> None:
    talk, folder = tmp_path / 'talk.jsonl', tmp_path / 'run'
    request = BenchRequest(suite='tabletop', brain='offline', body='offline', record=talk)
    settings = prepare(request, folder).plan.settings
    talk.write_text('somebody else')
    folder.mkdir()

    with pytest.raises(ConfigError, match='has other content'):
        check_recording(talk, settings, folder)
    (folder / 'settings.json').write_text('{"record": null}')
    with pytest.raises(ConfigError, match='has other content'):
        check_recording(talk, settings, folder)
    (folder / 'settings.json').write_text(json.dumps(settings.model_dump(mode='json')))
    check_recording(talk, settings, folder)
