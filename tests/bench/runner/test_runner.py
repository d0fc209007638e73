"""A run of the bench: every episode is played once, and what is on record stays."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.log.store import RunFolder
from bbllm_bench.runner import workers
from bbllm_bench.scene_sampling.generator import CaseError
from bbllm_bench.suites.case import Case
from tests.bench import fake_play, fake_run
from tests.bench.fake_run import Notes, run_fake, summary_of

KILLS = 4


def results_of(path: Path) -> dict[str, str]:
    """Return verdicts by episode, from the file itself; fails where one is there twice."""
    lines = [json.loads(line) for line in (path / 'results.jsonl').read_text().splitlines()]
    names = ['{task}-{trial}-{k}'.format(**line['key']) for line in lines]
    assert len(names) == len(set(names))
    return dict(zip(names, (line['verdict'] for line in lines)))


def recorded(path: Path) -> list[str]:
    return [json.loads(line)['episode'] for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'run'


def test_all_episodes_are_played_and_reported(path: Path) -> None:
    notes = Notes()

    end = run_fake(path, 'fine', 'slow', notes=notes)

    assert (end.reason, end.interrupted) == ('', False)
    assert (end.progress.total, end.progress.done, end.progress.passed) == (8, 8, 4)
    assert [progress.done for progress in notes.progress] == list(range(1, 9))
    assert len(results_of(path)) == 8
    assert notes.progress[-1].per_minute > 0
    assert notes.progress[-1].left_s == 0


def test_what_is_on_record_is_not_played_again(path: Path) -> None:
    run_fake(path, 'fine', trials=2)
    notes = Notes()

    end = run_fake(path, 'fine', trials=3, notes=notes)

    assert notes.began_with is not None
    assert (notes.began_with.done, notes.began_with.total) == (4, 6)
    assert sorted(result.key.trial for result in notes.results) == [2, 2]
    assert end.progress.done == 6


@pytest.mark.slow  # several runs in processes
def test_a_run_that_was_killed_at_random_and_resumed_is_as_if_it_never_was(
    tmp_path: Path,
) -> None:
    killed, whole = tmp_path / 'killed', tmp_path / 'whole'
    tasks = ('fine', 'slow')
    command = [sys.executable, '-m', fake_run.__name__, str(killed), *tasks]
    dice = random.Random(4)
    done = []
    for _ in range(KILLS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                # From before anything is written to well into the run.
                process.wait(dice.uniform(0.8, 2.6))
            except subprocess.TimeoutExpired:
                process.kill()
        results = killed / 'results.jsonl'
        done.append(len(results.read_text().splitlines()) if results.exists() else 0)
    assert done == sorted(done)
    subprocess.run(command, check=True, timeout=120)
    run_fake(whole, *tasks, ks=fake_run.KS, trials=fake_run.TRIALS)

    assert results_of(killed) == results_of(whole)
    assert summary_of(killed) == summary_of(whole)
    talk = recorded(killed.with_suffix('.talk.jsonl'))
    assert sorted(talk) == sorted(path.stem for path in (whole / 'episodes').iterdir())
    assert sorted(path.name for path in (killed / 'episodes').glob('*.jsonl')) == sorted(
        path.name for path in (whole / 'episodes').iterdir()
    )


def test_lost_episodes_are_repeated_only_where_that_is_asked_and_are_recorded_once(
    path: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {'ks': (0,), 'trials': 2, 'record': tmp_path / 'talk.jsonl'}
    run_fake(path, 'lost', 'fine', **options)
    assert sorted(item.stem for item in (path / 'talk').iterdir()) == [
        'lost-t000-k0',
        'lost-t001-k0',
    ]
    plain, retried = Notes(), Notes()

    run_fake(path, 'lost', 'fine', notes=plain, **options)
    run_fake(path, 'lost', 'fine', notes=retried, retry_lost=True, **options)

    assert plain.results == []
    assert [result.key.task for result in retried.results] == ['lost', 'lost']
    assert len(results_of(path)) == 4
    names = [f'{task}-t00{trial}-k0' for task in ('fine', 'lost') for trial in (0, 1)]
    assert sorted(recorded(options['record'])) == names


def test_nothing_is_left_of_the_exchanges_of_episodes_that_have_results(path: Path) -> None:
    run_fake(path, 'fine', ks=(0,), trials=2, record=path.with_suffix('.jsonl'))

    assert not (path / 'talk').exists()


def test_an_observer_can_end_the_run_and_all_results_so_far_are_kept(path: Path) -> None:
    end = run_fake(path, 'fine', 'hangs', trials=9, notes=Notes(end_after=1), jobs=3)

    assert end.interrupted
    assert 1 <= end.progress.done < 36
    assert len(results_of(path)) == end.progress.done


def test_a_setup_that_cannot_be_used_ends_the_run_with_its_reason(path: Path) -> None:
    end = run_fake(path, 'refused', trials=5, jobs=1)

    assert end.reason == 'Episode refused-t000-k0 cannot be played: $SOME_KEY is not set.'
    assert end.progress.done == 0


def test_a_full_disk_ends_the_run_with_what_is_there_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = RunFolder.add

    def add_some(self: RunFolder, played: Any) -> None:
        if len(self.results) == 2:
            raise ConfigError('results.jsonl cannot be written (No space left on device).')
        add(self, played)

    monkeypatch.setattr(RunFolder, 'add', add_some)

    end = run_fake(path, 'fine', trials=5)

    assert 'No space left on device' in end.reason
    assert len(results_of(path)) == 2


def test_an_episode_whose_worker_died_is_played_once_more(path: Path) -> None:
    notes = Notes()

    end = run_fake(path, 'dies_once', ks=(0,), trials=3, notes=notes)

    assert end.progress.lost == 0
    assert end.progress.done == 3
    assert len(notes.warnings) == 3
    assert 'SIGKILL' in notes.warnings[0]


def test_workers_none_of_which_can_begin_end_the_run_with_the_reason(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, 'worker_environment', lambda: {'PYTHONHOME': '/nowhere'})

    end = run_fake(path, 'fine', trials=5, hire=fake_run.hire_processes, give_up_after=2)

    assert '2 episodes in a row were lost' in end.reason
    assert 'exit code 1' in end.reason
    assert (end.progress.done, end.progress.lost) == (2, 2)


def test_an_episode_that_kills_every_worker_is_lost_and_the_others_are_not(
    path: Path,
) -> None:
    end = run_fake(path, 'dies', 'fine', ks=(0,), trials=2)

    assert (end.progress.done, end.progress.lost) == (4, 2)
    assert end.reason == ''
    with RunFolder(path) as folder:
        lost = [result for result in folder.results.values() if result.lost]
    assert {result.error for result in lost} == {'WorkerDied'}
    assert all('lost 3 times (--retry-lost plays it again)' in item.reason for item in lost)


def test_a_fault_of_the_program_costs_one_episode_and_its_traceback_is_kept(path: Path) -> None:
    notes = Notes()

    end = run_fake(path, 'faulty', 'fine', ks=(0,), trials=1, notes=notes)

    assert (end.progress.done, end.progress.lost) == (2, 1)
    trace = (path / 'faults' / 'faulty-t000-k0.txt').read_text()
    assert 'a wheel came off' in trace
    assert 'faults' in notes.warnings[0]


LOST = ('3 episodes in a row were lost', 'It lost.', '--retry-lost')
USELESS = ('or ended without a usable reply', 'It gave an empty reply.', '--out')


@pytest.mark.parametrize(
    ('task', 'done', 'lost', 'words'),
    [('lost', 3, 3, LOST), ('ModelError', 3, 0, USELESS), ('ParseError', 6, 0, ())],
)
def test_a_run_ends_early_where_nothing_comes_of_it_but_not_for_nonsense(
    path: Path, task: str, done: int, lost: int, words: tuple[str, ...]
) -> None:
    end = run_fake(path, task, ks=(0,), trials=6, give_up_after=3, jobs=1)

    assert (end.progress.done, end.progress.lost) == (done, lost)
    assert all(word in end.reason for word in words)
    assert bool(end.reason) is bool(words)
    assert ('--retry-lost' in end.reason) is (task == 'lost')


def test_a_case_that_cannot_be_made_costs_its_own_episodes_only(path: Path) -> None:
    made, impossible = [], {1}

    def make_case(task: str, trial: int) -> Case:
        made.append(trial)
        if trial in impossible:
            raise CaseError('No scene was found in 100 tries.')
        return fake_play.make_case(task, trial)

    options: dict[str, Any] = {'ks': (0, 3), 'trials': 3, 'jobs': 1, 'give_up_after': 1}
    options['make_case'] = make_case

    end = run_fake(path, 'fine', **options)

    assert (end.reason, end.progress.done, end.progress.lost) == ('', 6, 2)
    assert made == [0, 1, 2]
    assert end.problem == (
        'The tables of 2 of 6 episodes could not be made, so they are lost (--retry-lost tries '
        'again). No scene was found in 100 tries.'
    )
    with RunFolder(path) as folder:
        lost = [result for result in folder.results.values() if result.lost]
    assert {(result.error, result.case_hash) for result in lost} == {('CaseError', '')}
    assert {result.reason for result in lost} == {'No scene was found in 100 tries.'}

    impossible.clear()
    again = run_fake(path, 'fine', **options)
    assert again.problem == end.problem

    retried = run_fake(path, 'fine', retry_lost=True, **options)

    assert (retried.problem, retried.progress.done, retried.progress.lost) == ('', 6, 0)
