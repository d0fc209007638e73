"""Who plays the episodes: the seam, and processes of this machine."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import IO, Protocol

from bbllm.bench.log.episodes import EpisodeSpec, Play
from bbllm.bench.runner.worker_result import Answer, Failed
from bbllm.core.errors import ConfigError

EPISODE_S = 7200.0
"""When an episode counts as hung, where its limits set no time [s]."""
GRACE_S = 60.0
"""How much longer than its own limit an episode may take, for settling and judging [s]."""
CLOSE_S = 2.0
"""How long a worker may take to end by itself [s]."""
START_S = 120.0
"""How long a worker may take to import what it needs [s]."""
SINGLE_THREAD = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS')
_TAIL = 600


class Workers(Protocol):
    """Plays episodes beside each other; jobs go in, answers come out in any order."""

    @property
    def size(self) -> int:
        """How many episodes are played at once."""
        ...

    def submit(self, job: EpisodeSpec) -> None:
        """
        Begin an episode; only while fewer than `size` are under way.

        Raises:
            ConfigError: There are no workers.
        """
        ...

    def collect(self, timeout_s: float) -> list[Answer]:
        """
        Wait for episodes to end; return at once where some have, with nothing after a while.

        Raises:
            ConfigError: There can be no workers at all.
        """
        ...

    def close(self) -> None:
        """Give up what is under way and leave no process behind; may be called again."""
        ...


@dataclass
class _Worker:
    """One process, and what it works on."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    said: IO[bytes]
    """What it wrote to its streams, for the reason when it dies."""
    job: EpisodeSpec | None = None
    deadline_s: float = 0.0
    began: bool = False
    """Whether it has begun to play the job."""


class LocalWorkers:
    """
    Processes of this machine, each of which imports everything once.

    They are new interpreters, not forks: a fork would inherit threads of the simulator and the
    handlers of Ctrl-C. Each ends by itself when this process has gone, however it went. One that
    dies takes only its own episode with it and is replaced.

    Args:
        play: Function of a module that plays an episode.
        size: How many processes.

    Raises:
        ConfigError: There is no folder for what they put down for a while.
    """

    def __init__(self, play: Play, size: int):
        self._play = play
        self._size = size
        self._workers: list[_Worker] = []
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

    @property
    def size(self) -> int:
        """How many episodes are played at once."""
        return self._size

    def submit(self, job: EpisodeSpec) -> None:
        """Begin an episode."""
        idle = [worker for worker in self._workers if worker.job is None]
        if not idle:
            if len(self._workers) >= self._size:
                raise ValueError(f'All {self._size} workers are busy.')
            idle = [self._start()]
        worker = idle[0]
        worker.job, worker.began = job, False
        worker.deadline_s = time.monotonic() + patience_s(job) + START_S
        with suppress(OSError):  # it died while it was idle; `collect` finds that out
            worker.pipe.send(job)

    def collect(self, timeout_s: float) -> list[Answer]:
        """Wait for episodes to end; see `Workers.collect`."""
        end_s = time.monotonic() + timeout_s
        answers: list[Answer] = []
        while not answers:
            pipes = {worker.pipe: worker for worker in self._workers if worker.job is not None}
            ready = wait(list(pipes), max(0.0, end_s - time.monotonic()))
            received = [self._receive(worker) for pipe, worker in pipes.items() if pipe in ready]
            answers = [answer for answer in received if answer is not None]
            if not ready:
                break
        now_s = time.monotonic()
        for worker in [w for w in self._workers if w.job is not None and w.deadline_s < now_s]:
            assert worker.job is not None
            waited = f'{patience_s(worker.job):g} s'
            if not worker.began:
                waited += f' and {START_S:g} s for the start of its worker'
            answers.append(self._bury(worker, f'The episode did not end in {waited}.'))
        return answers

    def close(self) -> None:
        """End all processes, and wait until they have."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.pipe.close()
            if worker.job is not None:
                worker.process.kill()
        deadline_s = time.monotonic() + CLOSE_S
        for worker in workers:
            try:
                worker.process.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            worker.said.close()
        self._scratch.cleanup()

    def _start(self) -> _Worker:
        ours, theirs = Pipe()
        command = [sys.executable, '-m', 'bbllm.bench.runner.worker_process', str(theirs.fileno())]
        said = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
        try:
            with theirs:
                process = subprocess.Popen(
                    [*command, self._scratch.name],
                    env={**worker_environment(), 'TMPDIR': self._scratch.name},
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    pass_fds=[theirs.fileno()],
                )
        except OSError as error:
            raise ConfigError(
                f'No worker process could be started ({error.strerror}); say fewer --jobs.'
            ) from error
        worker = _Worker(process, ours, said)
        with suppress(OSError):  # dead already; `collect` finds that out
            # A function is sent as its name, so the other side has to find its module.
            ours.send(sys.path)
            ours.send(self._play)
        self._workers.append(worker)
        return worker

    def _receive(self, worker: _Worker) -> Answer | None:
        """Return the answer of a worker; None where it only reports that it has begun."""
        assert worker.job is not None
        try:
            message: Answer | str = worker.pipe.recv()
        except (EOFError, OSError):
            return self._bury(worker, '')
        if isinstance(message, str):
            worker.began = True
            return None
        worker.job = None
        return message

    def _bury(self, worker: _Worker, reason: str) -> Failed:
        """Remove a dead worker, or one that hangs; return its episode and why it died."""
        assert worker.job is not None
        self._workers.remove(worker)
        worker.pipe.close()
        try:
            # Its end of the pipe is closed a moment before the process has gone.
            worker.process.wait(0.0 if reason else CLOSE_S)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
        reason = reason or _how_it_died(worker)
        worker.said.close()
        return Failed(
            key=worker.job.key,
            reason=reason,
            error='WorkerDied',
            again=True,
            began=worker.began,
        )


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
    code = worker.process.returncode
    if code >= 0:
        how = f'The worker process ended by itself with exit code {code}'
    else:
        how = f'The worker process was ended by {signal.Signals(-code).name}'
        if -code == signal.SIGKILL:
            how += ', which the system does when memory runs out'
    worker.said.seek(0, os.SEEK_END)
    worker.said.seek(max(0, worker.said.tell() - _TAIL))
    last = ' '.join(worker.said.read().decode(errors='replace').split())
    return f'{how}. Its last words: {last}' if last else f'{how}.'
