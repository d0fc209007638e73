"""`bbllm bench recorded`: recordings are made, replayed beside a stand-in, and refused."""

import json
import lzma
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bbllm.core.errors import ConfigError, ReplayError
from bbllm_bench.benchmarks.recorded.command import app
from bbllm_bench.benchmarks.recorded.figures import BEGIN, END, Played, write_into_docs
from bbllm_bench.commands.bench import BENCHMARKS
from bbllm_bench.report.summary import read_summary
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.recorded_runs import (
    RecordedRun,
    origin_of,
    read_index,
    recorded_tasks,
    shipped,
    stratified,
)
from bbllm_bench.suites.suite import load_suite
from bbllm_bench.suites.task_spec import SuiteFileError

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
    words = ['--recordings', str(folder), '--out', str(folder / out), '--jobs', '1', *more]
    ended = CliRunner().invoke(app, words)
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
    assert (folder / 'out' / 'recorded.png').stat().st_size > 1000

    path = folder / 'toast.jsonl.xz'
    path.unlink()
    (folder / 'index.yaml').write_text(INDEX.replace('seed: 3', 'seed: 4'))
    for more in (record, ()):
        code, text = run(folder, 'out', *more)
        assert code == 0, text
    assert len([*(folder / 'out').glob('*/settings.json')]) == 2

    lines = lzma.decompress(path.read_bytes()).decode()
    path.write_bytes(lzma.compress(lines.replace('from actions', 'from acts').encode()))
    code, text = run(folder, 'out')
    assert code == 1
    assert 'The prompt `program` of the brain is not the recorded one: exchange 1 of 1' in text
    assert 'differs in message 1' in text
    assert 'delete toast.jsonl.xz and record it again: bbllm bench recorded' in text

    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ReplayError, match=r'toast.jsonl.xz: it is cut or damaged'):
        CliRunner().invoke(app, ['--recordings', str(folder)], catch_exceptions=False)


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
    with pytest.raises(ReplayError, match='lacks 1 of 2 episodes, for example make_toast-t001-k0'):
        CliRunner().invoke(app, ['--recordings', str(folder)], catch_exceptions=False)


@pytest.mark.slow  # a run of the bench
def test_table_and_chart_get_into_readme_and_docs(folder: Path, tmp_path: Path) -> None:
    run(folder, 'made', '--record', '--llm-config', str(tmp_path / 'llm.yaml'))
    run(folder, 'made')
    (item,) = read_index(folder).runs
    made = read_summary(next((folder / 'made').glob('*/summary.json')))
    played = [Played(item, origin_of(folder / item.file), made, made)]
    (tmp_path / 'docs').mkdir()
    for name in ('README.md', 'docs/bench.md'):
        (tmp_path / name).write_text(f'# Title\n\n{BEGIN}\nold\n{END}\nthe end\n')

    written = list(write_into_docs(played, tmp_path))

    assert [path.name for path in written] == ['README.md', 'bench.md', 'recorded.png']
    text = (tmp_path / 'README.md').read_text()
    assert text.startswith(f'# Title\n\n{BEGIN}\n| suite, planner |')
    assert text.endswith(f'{END}\nthe end\n')
    assert '| household, prog_prompt | expert, ' in text and '\nold\n' not in text
    (tmp_path / 'README.md').write_text('# Title\n')
    with pytest.raises(ConfigError, match=r'README.md has no place for the table'):
        list(write_into_docs(played, tmp_path))
    (tmp_path / 'README.md').write_text(text.replace('| expert, ', '| other, '))
    (tmp_path / 'docs' / 'bench.md').write_text('# Title\n')
    with pytest.raises(ConfigError, match=r'bench.md has no place for the table'):
        list(write_into_docs(played, tmp_path))
    assert '| other, ' in (tmp_path / 'README.md').read_text()


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


@pytest.mark.parametrize('item', read_index(shipped()).runs, ids=lambda item: item.name)
def test_the_first_episode_of_each_shipped_recording_still_fits(item: RecordedRun) -> None:
    again = f'bbllm bench recorded --only {item.name} --record --llm-config FILE'
    assert (shipped() / item.file).exists(), f'not recorded: {again}'
    try:
        task = (item.chosen_tasks() or [each.name for each in load_suite(item.suite).tasks])[0]
    except SuiteFileError as error:
        pytest.skip(str(error))
    result = play(item.job(shipped(), task)).result
    assert not result.lost, (
        f'{result.reason}\nWhere the change is meant, delete config/recordings/{item.file} and '
        f'record it again: {again}; then make bench-recorded.'
    )


def test_what_is_missing_is_named(folder: Path) -> None:
    for words, message in (
        ((), 'There is no recording'),
        (('--only', 'bread'), "no recorded run 'bread'; there are toast"),
    ):
        ended = CliRunner().invoke(app, ['--recordings', str(folder), *words])
        assert ended.exit_code != 0
        assert message in str(ended.exception)
    ended = CliRunner().invoke(app, ['--recordings', str(folder / 'none')])
    assert 'none has no index.yaml' in str(ended.exception)
    assert 'recorded' in BENCHMARKS
