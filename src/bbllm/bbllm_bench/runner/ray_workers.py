"""Workers of a Ray cluster: the same episodes, on as many machines as it has."""

import importlib
import importlib.util
import logging
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, cast

from bbllm.core.errors import ConfigError
from bbllm_bench.log.episodes import EpisodeSpec, Play
from bbllm_bench.log.versions import find_versions
from bbllm_bench.runner.worker_result import Answer, Failed, Refused, attempt
from bbllm_bench.runner.workers import START_S, Workers, patience_s, worker_environment

LOCAL = 'local'
"""The address that stands for a cluster of one's own on this machine, for the time of the run."""
KNOCK_S = 5.0
"""How long a cluster may take to answer at all [s]."""
NO_PROBLEM = ('commit',)
"""Versions that may differ between machines: the hash of the source is more precise."""


def need_ray() -> None:
    """
    Make sure that Ray can be used.

    Raises:
        ConfigError: It is not installed; the message has the command.
    """
    if importlib.util.find_spec('ray') is None:
        raise ConfigError(
            '--ray needs the package ray, which is not installed. Type: pip install ray (it is '
            'the extra `ray` of this package). Without --ray, local processes do the same work.'
        )


class RayWorkers(Workers):
    """
    Tasks of a Ray cluster, one for each episode, at an *address* that `ray.init` takes or `local`.

    This package, in the same version, has to be installed on every machine. Keys of models come
    from the environment of Ray's workers, never from here. A cluster with fewer cores than *size*
    plays fewer episodes at once.

    Raises:
        ConfigError: Ray is not installed, or there is no cluster at that address.
    """

    def __init__(self, play: Play, address: str, size: int):
        need_ray()
        os.environ.setdefault('RAY_USAGE_STATS_ENABLED', '0')
        # Any: its own types know nothing of references as arguments.
        self._ray = ray = cast(Any, importlib.import_module('ray'))
        self._play = play
        with _own_signals():
            _connect(ray, address, size)
        super().__init__(max(1, min(size, int(ray.cluster_resources().get('CPU', 1)))))
        # An episode that kills its worker is tried again by the runner, which counts that.
        self._remote = ray.remote(num_cpus=1, max_retries=0)(attempt_there)
        # On this machine it is the same program, whatever somebody edits meanwhile.
        self._versions = ray.put({} if address == LOCAL else find_versions())
        self._under_way: set[Any] = set()
        """References to the episodes that some machine plays."""

    def close(self) -> None:
        """Give up what is under way, and leave the cluster; a local one ends."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for reference in list(self._under_way):
            self._cancel(reference)
        super().close()
        self._ray.shutdown()

    def _attempt(self, job: EpisodeSpec) -> Answer:
        errors = self._ray.exceptions
        job = replace(job, talk=None)  # it is a file of this machine
        reference = self._remote.remote(self._play, job, self._versions)
        self._under_way.add(reference)
        try:
            answer: Answer = self._ray.get(reference, timeout=patience_s(job) + START_S)
            return answer
        except errors.RayTaskError as error:
            # Whatever an episode raises is an answer; this is a machine that cannot even begin.
            return Refused(
                key=job.key,
                reason=f'A machine of the Ray cluster cannot play: {_last_line(error)} Install '
                'this version of bbllm there.',
            )
        except errors.GetTimeoutError:
            self._cancel(reference)
            reason = f'The episode did not end in {patience_s(job):g} s.'
        except errors.RayError as error:
            reason = _last_line(error)
        finally:
            self._under_way.discard(reference)
        return Failed(key=job.key, reason=reason, error='WorkerDied', again=True)

    def _cancel(self, reference: Any) -> None:
        with suppress(self._ray.exceptions.RayError):
            self._ray.cancel(reference, force=True)


def attempt_there(play: Play, job: EpisodeSpec, versions: Mapping[str, str]) -> Answer:
    """Play an episode on a machine of the cluster, where it is the same program."""
    here = find_versions()
    for name, wanted in versions.items():
        if here.get(name) != wanted and name not in NO_PROBLEM:
            return Refused(
                key=job.key,
                reason=f'A machine of the Ray cluster has {name} {here.get(name)}, this one '
                f'{wanted}, so that its episodes would not be the same. Install the same there.',
            )
    return attempt(play, job)


def _connect(ray: Any, address: str, size: int) -> None:
    quiet = {'log_to_driver': False, 'logging_level': logging.ERROR}
    if address == LOCAL:
        with _changed_environment(worker_environment()):
            ray.init(num_cpus=size, include_dashboard=False, _node_ip_address='127.0.0.1', **quiet)
        return
    try:
        _knock(address)
        ray.init(address=address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f'There is no Ray cluster at {address} ({_last_line(error)}) Start one (ray start '
            '--head) and name its address, or say --ray local.'
        ) from error


def _knock(address: str) -> None:
    """Raise OSError where the port is closed; Ray itself would try for many minutes."""
    host, colon, port = address.removeprefix('ray://').rpartition(':')
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=KNOCK_S).close()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep Ray from replacing what Ctrl-C and SIGTERM do here."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@contextmanager
def _changed_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Let the processes that are started meanwhile have another environment."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f'{(lines or [type(error).__name__])[-1].rstrip(".")}.'
