"""`bbllm bench recorded`: recordings are made, replayed beside a stand-in, and refused."""

import json
import lzma
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pytest
from typer.testing import CliRunner

from bbllm.cli.main import app
from bbllm.core.provenance import code_version, templates_hash
from bbllm.llm.recording.replay import read_recording
from bbllm_bench.benchmarks.recorded import command
from bbllm_bench.compare.run import PlannerRun
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.recorded_runs import (
    RecordedRun,
    read_index,
    recorded_tasks,
    shipped,
    stratified,
)
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.runner.run_watch import RunEnd, RunProgress
from bbllm_bench.suites.suite import load_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from tests.bench.made_results import make_result, write_run

INDEX = """runs:
  - {name: toast, suite: household, planner: prog_prompt, ks: [0], trials: 1, seed: 3,
     tasks: [make_toast], stand_in: expert}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / 'recordings'
    place.mkdir()
    (place / 'index.yaml').write_text(INDEX)
    (tmp_path / 'llm.yaml').write_text('brain: {provider: expert}\nbody: {provider: expert}\n')
    return place


def run(folder: Path, out: str, *more: str) -> tuple[int, str]:
    words = ('--recordings', str(folder), '--out', str(folder / out), '--jobs', '1', *more)
    return recorded(*words)


def recorded(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ['bench', 'recorded', *words], env={'COLUMNS': '200'})
    return ended.exit_code, ended.output


@pytest.mark.slow  # episodes of two runs
def test_what_was_recorded_is_replayed_beside_the_stand_in(folder: Path) -> None:
    config = str(folder.parent / 'llm.yaml')
    record = ('--record', '--llm-config', config)
    code, _ = run(folder, 'out', *record)
    assert code == 0
    assert [path.name for path in folder.glob('toast*')] == ['toast.jsonl.xz']

    code, text = run(folder, 'out', '--json')
    assert code == 0
    (found,) = json.loads(text.splitlines()[-1])['runs']
    assert found['origin']['models'] == ['expert']
    assert found['origin']['requests'] == 1
    rows = [found[row]['by_k'][0] for row in ('recorded', 'stand_in')]
    assert [(row['n'], row['passed']) for row in rows] == [(1, 1), (1, 1)]
    table = (folder / 'out' / 'recorded.md').read_text()
    (day,), (code,) = found['origin']['dates'], found['origin']['code']
    assert f'| household, prog_prompt | 0 | expert | {day} | {code} | 3 | 1 |' in table
    again, text = run(folder, 'out', *record)
    assert (again, 'toast is recorded; to record it anew, delete' in text) == (0, True)

    path = folder / 'toast.jsonl.xz'
    path.unlink()
    (folder / 'index.yaml').write_text(INDEX.replace('seed: 3', 'seed: 4'))
    for more in (record, ()):
        code, text = run(folder, 'out', *more)
        assert code == 0, text
    assert len([*(folder / 'out').glob('*/settings.json')]) == 2

    path.write_bytes(path.read_bytes()[:-40])
    code, text = recorded('--recordings', str(folder))
    assert (code, 'toast.jsonl.xz: it is cut or damaged' in text) == (2, True)


def change_prompts(recording: Path) -> None:
    """Make a recording one of other prompts: each had one line more."""
    lines = []
    for line in lzma.decompress(recording.read_bytes()).decode().splitlines():
        data = json.loads(line)
        data['messages'][0]['content'] = 'A line of before.\n' + data['messages'][0]['content']
        lines.append(json.dumps(data) + '\n')
    recording.write_bytes(lzma.compress(''.join(lines).encode()))


def test_where_prompts_have_changed_a_run_is_replayed_and_is_no_figure(
    folder: Path, tmp_path: Path
) -> None:
    run(folder, 'made', '--record', '--llm-config', str(tmp_path / 'llm.yaml'))
    change_prompts(folder / 'toast.jsonl.xz')

    code, text = run(folder, 'out', '--json')
    found = json.loads(text.splitlines()[-1])

    assert code == 0, text
    assert (found['runs'], found['lost']) == ([], [])
    (row,) = found['changed']
    counts = ('prompts', 'changed', 'episodes', 'passed', 'lost')
    assert [row[name] for name in counts] == [1, 1, 1, 1, 0]
    assert row['origin']['templates'] == [templates_hash()]
    (change,) = row['changes']
    assert change.startswith('make_toast-t000-k0: The prompt `program` of the brain is not the ')
    assert "differs in message 1 (system), line 1: recorded 'A line of before.', asked " in change
    assert 'passed, replayed with changed prompts' in ' '.join(text.split())
    table = (folder / 'out' / 'recorded.md').read_text()
    assert table.startswith('## Replayed with changed prompts: no figures of the model')
    assert '[0.' not in table
    assert f'prompts have changed since bbllm {code_version()} (templates' in text
    assert 'delete toast.jsonl.xz and record it again: bbllm bench recorded' in text


@pytest.mark.parametrize(
    ('changes', 'error', 'is_lost'),
    [
        (('it differs.',), 'ReplayError', False),
        (('it differs.',), 'WorldError', True),
        ((), 'ReplayError', True),
    ],
)
def test_only_replies_that_run_out_behind_a_changed_prompt_are_no_failure(
    changes: tuple[str, ...], error: str, is_lost: bool, tmp_path: Path
) -> None:
    result = make_result(verdict='lost', error=error, changed_prompts=changes)
    end = RunEnd(progress=RunProgress.of([result], total=1))

    ran = PlannerRun('toast', write_run(tmp_path / 'run', [result]), end)

    assert command._is_lost(ran) is is_lost


@pytest.mark.slow  # a run of the bench
def test_a_run_that_is_lost_is_not_listed_as_recorded(folder: Path) -> None:
    config = folder.parent / 'nobody.yaml'
    nobody = '{provider: openai, base_url: "http://127.0.0.1:9/v1", model: nobody, retries: 0}'
    config.write_text(f'brain: {nobody}\nbody: {nobody}\n')
    code, text = run(folder, 'out', '--record', '--llm-config', str(config), '--json')
    found = json.loads(text.splitlines()[-1])
    assert (code, found) == (1, {'recorded': [], 'lost': ['toast being recorded']})
    assert 'Episodes of toast are lost. The same command asks again' in text


@pytest.mark.slow  # a run of the bench
def test_a_recording_without_its_last_episodes_is_refused(folder: Path) -> None:
    run(folder, 'made', '--record', '--llm-config', str(folder.parent / 'llm.yaml'))
    (folder / 'index.yaml').write_text(INDEX.replace('trials: 1', 'trials: 2'))
    code, text = recorded('--recordings', str(folder))
    assert (code, 'lacks 1 of 2 episodes, for example make_toast-t001-k0' in text) == (2, True)


def test_a_sample_is_fixed_by_its_seed_and_has_each_kind_of_goal() -> None:
    tasks = load_suite('partial').tasks
    some, again, other = (stratified(tasks, 6, seed) for seed in (7, 7, 8))
    assert len(some) == 6 and some == again != other
    kinds = {task.name: task.goal.kind for task in tasks}
    assert {kinds[name] for name in some} == {*kinds.values()}
    assert stratified(tasks, 99, 7) == tuple(kinds)


def test_tasks_are_listed_without_the_braces_that_a_trial_fills() -> None:
    texts = {name: task.instruction for name, task in recorded_tasks().items()}
    assert 'from the bottom up: …. No tower' in texts['tabletop_hard/towers']
    assert not [text for text in texts.values() if '{' in text]


@pytest.mark.parametrize(
    'path',
    sorted(shipped().rglob('*.xz')),
    ids=lambda path: path.relative_to(shipped()).as_posix(),
)
def test_a_shipped_recording_can_be_read_and_states_the_version_that_made_it(path: Path) -> None:
    exchanges = read_recording(path)

    assert exchanges
    for exchange in exchanges:
        assert exchange.reply is not None
        assert re.fullmatch(r'\d+\.\d+\.\d+(-\d+-g[0-9a-f]{12})?|[0-9a-f]{12}', exchange.code), (
            'neither a release nor a commit'
        )
        assert re.fullmatch(r'[0-9a-f]{16}', exchange.templates)
        assert re.fullmatch(r'2026-\d\d-\d\d', exchange.date)


def test_each_run_of_the_index_is_recorded() -> None:
    files = [item.file for item in read_index(shipped()).runs]

    assert [name for name in files if not (shipped() / name).exists()] == []


def first_job(item: RecordedRun, folder: Path) -> EpisodeSpec:
    """Return the first episode of a recorded run, with its stand-in and recorded anew."""
    try:
        task = (item.chosen_tasks() or [each.name for each in load_suite(item.suite).tasks])[0]
    except SuiteFileError as error:
        pytest.skip(str(error))
    changes: dict[str, Any] = {'tasks': (task,), 'trials': 1, 'ks': (max(item.ks),)}
    request = item.request(brain=item.stand_in).model_copy(
        update={'record': folder / 'talk.jsonl', **changes}
    )
    plan = prepare(request, folder).plan
    (key,) = plan.settings.keys
    return EpisodeSpec(key=key, case=plan.make_case(task, key.trial), config=plan.config)


def replayed(job: EpisodeSpec, recording: str, *, changed_prompts: bool = False) -> EpisodeRecord:
    update = {'records': False, 'changed_prompts': changed_prompts}
    config = job.config.model_copy(update=update)
    return play(replace(job, config=config, replay=recording))


@pytest.mark.parametrize('item', read_index(shipped()).runs, ids=lambda item: item.name)
def test_what_a_stand_in_replies_is_replayed_also_where_every_template_has_changed(
    item: RecordedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = first_job(item, tmp_path)
    made = play(job)
    same = replayed(job, made.recording).result
    render = jinja2.Template.render
    monkeypatch.setattr(
        jinja2.Template, 'render', lambda *values, **more: f'Note. {render(*values, **more)}'
    )
    strict = replayed(job, made.recording).result
    changed = replayed(job, made.recording, changed_prompts=True).result

    assert (same.verdict, same.changed_prompts) == (made.result.verdict, ())
    assert (strict.verdict, strict.error) == ('lost', 'ReplayError')
    assert 'Note. ' in strict.reason
    assert changed.finding == f'{made.result.verdict}, replayed with changed prompts'
    assert changed.reason == made.result.reason
    assert len(changed.changed_prompts) == made.result.model_calls == changed.model_calls


def test_what_is_missing_is_named(folder: Path) -> None:
    for words, message in (
        ((), 'There is no recording'),
        (('--only', 'bread'), "no recorded run 'bread'; there are toast"),
        (('--recordings', str(folder / 'none')), 'none has no index.yaml'),
    ):
        code, text = recorded('--recordings', str(folder), *words)
        assert (code, message in ' '.join(text.split())) == (2, True), text
