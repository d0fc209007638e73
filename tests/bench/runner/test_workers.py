import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import Pipe
from pathlib import Path

import pytest

from bbllm.core.events import Limits
from bbllm_bench.benchmarks.time.processes import children_of
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.runner import workers as workers_module
from bbllm_bench.runner.worker_result import Answer, Failed
from bbllm_bench.runner.workers import Workers
from tests.bench import fake_play
from tests.bench.fake_play import make_job

WAIT_S = 120.0
"""How long all episodes of a test may take on a busy machine [s]."""


@pytest.fixture(scope='module')
def two() -> Iterator[Workers]:
    workers = Workers(fake_play.play, 2)
    yield workers
    workers.close()


def play_all(workers: Workers, *jobs: EpisodeSpec) -> dict[str, Answer]:
    """Play jobs; return the answers by episode."""
    futures = [workers.submit(job) for job in jobs]
    answers = [future.result(WAIT_S) for future in futures]
    return {answer.key.name: answer for answer in answers}


def children() -> set[int]:
    """Return the processes that this one started and that still exist, zombies included."""
    return children_of(os.getpid())


def test_a_worker_that_dies_takes_only_its_own_episode_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fake_play.MARKS, str(tmp_path))
    with closing(Workers(fake_play.play, 2)) as workers:
        answers = play_all(workers, make_job('slow'), make_job('dies'), make_job('fine'))

    died = answers['dies-t000-k0']
    assert isinstance(died, Failed)
    assert died.again
    assert 'SIGKILL' in died.reason
    assert isinstance(answers['slow-t000-k0'], EpisodeRecord)
    assert isinstance(answers['fine-t000-k0'], EpisodeRecord)


def test_an_episode_that_hangs_is_given_up(two: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, 'GRACE_S', 0.0)
    monkeypatch.setattr(workers_module, 'START_S', 1.0)

    play_all(two, make_job('fine'))  # its worker has started then, however long that takes
    answers = play_all(two, make_job('hangs', limits=Limits(wall_s=0.5)))

    failed = answers['hangs-t000-k0']
    assert isinstance(failed, Failed)
    assert failed.reason == 'The episode did not end in 0.5 s.'


def test_closing_leaves_no_process_behind() -> None:
    before = children()
    workers = Workers(fake_play.play, 2)
    fine = workers.submit(make_job('fine'))
    workers.submit(make_job('hangs'))
    assert isinstance(fine.result(WAIT_S), EpisodeRecord)
    assert len(children() - before) == 2

    workers.close()
    workers.close()

    assert children() == before


FORKED = 'FORKED = True'
"""One thread, so that workers are forks."""
THREADED = 'threading.Thread(target=time.sleep, args=(600,), daemon=True).start(); FORKED = False'
BEGIN = f"""
import os, signal, sys, threading, time
os.environ['OPENBLAS_NUM_THREADS'] = '1'
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tests.bench import fake_play
from pathlib import Path
from bbllm_bench.runner.workers import Workers
lock = open(sys.argv[1], 'w')
"""


@pytest.mark.parametrize('threads', [FORKED, THREADED])
def test_workers_end_when_the_process_that_started_them_is_killed(
    threads: str, tmp_path: Path
) -> None:
    code = f"""{BEGIN}
{threads}
workers = Workers(fake_play.play, 2)
workers.submit(fake_play.make_job('fine')).result()
workers.submit(fake_play.make_job('hangs'))
workers.submit(fake_play.make_job('hangs', 1))
while len(workers._workers) < 2: time.sleep(0.01)
pids = [worker.process.pid for worker in workers._workers]
commands = [Path(f'/proc/{{pid}}/cmdline').read_bytes().split(b'\\0') for pid in pids]
print(*pids, all((b'-m' in command) is not FORKED for command in commands))
print(workers._scratch.name, flush=True)
time.sleep(0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run_code(code, tmp_path)
    *pids, begun_so, scratch = done.stdout.split()
    assert len(pids) == 2, done.stderr
    assert begun_so == 'True'

    deadline_s = time.monotonic() + 20.0
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < deadline_s, f'workers {pids} outlived their parent by 20 s'
        time.sleep(0.05)
    assert not Path(scratch).exists()


def test_a_forked_worker_has_files_and_signals_of_its_own(tmp_path: Path) -> None:
    code = f"""{BEGIN}
signal.signal(signal.SIGTERM, lambda number, frame: None)
workers = Workers(fake_play.play, 2)
first, second = [worker.process for worker in workers._workers]
died = workers.submit(fake_play.make_job('litters')).result()
litter = Path(died.reason.rpartition(': ')[2].rstrip('.'))
print(litter.is_relative_to(workers._scratch.name))
alive = first if first.poll() is None else second
files = [file.resolve() for file in Path(f'/proc/{{alive.pid}}/fd').iterdir()]
print(lock.name in map(str, files), sum('socket' in str(file) for file in files))
os.kill(alive.pid, signal.SIGTERM)
print(alive.wait(60.0))
workers.close()
"""
    done = run_code(code, tmp_path)

    assert done.stdout.split() == ['True', 'False', '1', str(-signal.SIGTERM)], done.stderr


def run_code(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-c', code, str(folder / 'lock')],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )


def is_running(pid: str) -> bool:
    try:
        return ') Z ' not in Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return False


def test_worker_whose_parent_went_during_its_start_ends(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, '-c', ''])
    gone.wait()
    scratch = tmp_path / 'scratch'
    scratch.mkdir()
    ours, theirs = Pipe()
    with ours, theirs:
        command = [sys.executable, '-m', 'bbllm_bench.runner.worker_process']
        worker = subprocess.Popen(
            [*command, str(theirs.fileno()), str(scratch), str(gone.pid)],
            pass_fds=[theirs.fileno()],
        )

        try:
            assert worker.wait(WAIT_S) == 1
        finally:
            worker.kill()
    assert not scratch.exists()


def test_workers_leave_ctrl_c_to_their_parent(two: Workers) -> None:
    play_all(two, make_job('fine'))
    slow = two.submit(make_job('slow'))
    for pid in children():
        os.kill(pid, signal.SIGINT)

    assert isinstance(slow.result(WAIT_S), EpisodeRecord)
