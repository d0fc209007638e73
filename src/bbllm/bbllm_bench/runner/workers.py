"""Workers, which play episodes beside each other in processes of this machine."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO

from bbllm.core.errors import ConfigError
from bbllm.core.forked import ForkedProcess, has_one_thread
from bbllm_bench.log.episodes import EpisodeSpec, Play
from bbllm_bench.runner.worker_process import serve_in_fork
from bbllm_bench.runner.worker_result import Answer, Failed

EPISODE_S = 7200.0
"""When an episode counts as hung, where its limits set no time [s]."""
GRACE_S = 60.0
"""How much longer than its own limit an episode may take, for settling and judging [s]."""
CLOSE_S = 2.0
"""How long a worker may take to end after it closed its pipe [s]."""
START_S = 120.0
"""How long a worker may take to import what it needs [s]."""
SINGLE_THREAD = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS')
_TAIL = 600


@dataclass(frozen=True, eq=False)
class _Worker:
    process: subprocess.Popen[bytes] | ForkedProcess
    pipe: Connection
    output: IO[bytes]
    """What it wrote to its streams, for the reason when it dies."""


class Workers:
    """
    Processes of this machine, in which *size* episodes are played at once.

    They begin as forks of this process, which has imported most of what they need, as long as it
    has no second thread, which would be missing in a fork. Any other one, as in place of one that
    died, is a new interpreter, which imports for a second. Each ends by itself when this process
    has gone, however it went. One that dies takes only its own episode with it and is replaced.

    Args:
        play: Function of a module that plays an episode.
        size: How many processes.

    Raises:
        ConfigError: There is no folder for what they put down for a while.
    """

    def __init__(self, play: Play, size: int):
        self.size = size
        self._threads = ThreadPoolExecutor(size, 'worker')
        self._play = play
        self._lock = threading.Lock()
        self._closed = False
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        # What a worker that is killed leaves lying about goes with this.
        try:
            self._scratch = tempfile.TemporaryDirectory(
                prefix='bbllm-workers-', ignore_cleanup_errors=True
            )
        except OSError as error:
            raise ConfigError(
                f'Workers have no room in {tempfile.gettempdir()} ({error.strerror}); set TMPDIR '
                'to a folder that can be written.'
            ) from error
        if has_one_thread():
            self._idle += [self._start(in_fork=True) for _ in range(size)]

    def submit(self, job: EpisodeSpec) -> Future[Answer]:
        """
        Play an episode, as soon as a worker is free; the future has the answer.

        The future raises ConfigError where there can be no workers at all.
        """
        return self._threads.submit(self._attempt, job)

    def close(self) -> None:
        """Give up what is under way and leave no process behind; may be called again."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.process.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in list(self._workers):
            self._bury(worker)
        self._scratch.cleanup()

    def _attempt(self, job: EpisodeSpec) -> Answer:
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = self._start()
        reason = f'The episode did not end in {patience_s(job):g} s.'
        try:
            worker.pipe.send(job)
            if worker.pipe.poll(patience_s(job) + START_S):
                answer: Answer = worker.pipe.recv()
                self._idle.append(worker)
                return answer
            worker.process.kill()
        except (EOFError, OSError):
            reason = ''
        death = self._bury(worker)
        return Failed(key=job.key, reason=reason or death, error='WorkerDied', again=True)

    def _start(self, *, in_fork: bool = False) -> _Worker:
        ours, theirs = Pipe()
        output = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
        begin = self._fork if in_fork else self._run
        with self._lock, theirs:
            if self._closed:
                raise ConfigError('The workers were closed.')
            try:
                process = begin(theirs.fileno(), output)
            except OSError as error:
                raise ConfigError(
                    f'No worker process could be started ({error.strerror}); use fewer --jobs.'
                ) from error
            worker = _Worker(process, ours, output)
            self._workers.add(worker)
        with suppress(OSError):  # dead already; its first episode finds that out
            # A function is sent as its name, so the other side has to find its module.
            ours.send(sys.path)
            ours.send(self._play)
        return worker

    def _fork(self, pipe: int, output: IO[bytes]) -> ForkedProcess:
        arguments = (pipe, self._scratch.name, os.getpid(), self._environment, output.fileno())
        return ForkedProcess(serve_in_fork, *arguments, daemon=True)

    def _run(self, pipe: int, output: IO[bytes]) -> subprocess.Popen[bytes]:
        command = [sys.executable, '-m', 'bbllm_bench.runner.worker_process', str(pipe)]
        return subprocess.Popen(
            # Its parent may have gone before it could ask for the number.
            [*command, self._scratch.name, str(os.getpid())],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[pipe],
        )

    @property
    def _environment(self) -> dict[str, str]:
        return {**worker_environment(), 'TMPDIR': self._scratch.name}

    def _bury(self, worker: _Worker) -> str:
        """Remove a worker that has ended or is about to; return how it died."""
        with self._lock:  # `close` may be walking through them
            self._workers.discard(worker)
        worker.pipe.close()
        try:
            # Its end of the pipe is closed a moment before the process has gone.
            worker.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
        death = _how_it_died(worker)
        worker.output.close()
        return death


def patience_s(job: EpisodeSpec) -> float:
    """Return how long an episode may take before it counts as hung [s]."""
    limit_s = job.config.limits.wall_s
    return EPISODE_S if limit_s is None else limit_s + GRACE_S


def worker_environment() -> dict[str, str]:
    """Return the environment of a process that finds what this one finds."""
    # Two processes with two threads each would get into each other's way on two cores.
    single = dict.fromkeys(SINGLE_THREAD, '1')
    return {**os.environ, **single, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}


def _how_it_died(worker: _Worker) -> str:
    code = worker.process.wait()
    if code >= 0:
        how = f'The worker process ended by itself with exit code {code}'
    else:
        how = f'The worker process was ended by {signal.Signals(-code).name}'
        if -code == signal.SIGKILL:
            how += ', which the system does when memory runs out'
    worker.output.seek(0, os.SEEK_END)
    worker.output.seek(max(0, worker.output.tell() - _TAIL))
    last = ' '.join(worker.output.read().decode(errors='replace').split())
    return f'{how}. Its last output: {last}' if last else f'{how}.'
