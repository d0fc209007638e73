"""Who plays the episodes of a run, and where its results go, by what was said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.cli.support.bench_choices import MAX_JOBS
from bbllm.cli.support.choices import WorldName
from bbllm.cli.support.ros import need_ros
from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir

if TYPE_CHECKING:
    from bbllm.bench.log.episodes import Play
    from bbllm.bench.runner.workers import Workers


def choose_workers(world: WorldName | None, ray: str | None) -> Callable[[int], Workers]:
    """
    Return what gets so many workers.

    Args:
        world: What somebody asked for, None where nobody did.
        ray: Address of a cluster, `local` for one on this machine; None: processes of it.

    Raises:
        ConfigError: What is needed is not installed, or both exclude each other.
    """
    from bbllm.bench.runner.workers import LocalWorkers

    if ray is None:
        return partial(LocalWorkers, _choose_play(world))
    if world is WorldName.ros:
        raise ConfigError('--ray and --world ros exclude each other; leave one of them out.')
    from bbllm.bench.runner.ray_workers import RayWorkers, need_ray

    need_ray()
    return partial(RayWorkers, _choose_play(world), ray)


def _choose_play(world: WorldName | None) -> Play:
    if world is WorldName.ros:
        need_ros('bbllm bench --world ros')
        from bbllm.ros.bench.episode import play as play_with_nodes

        return play_with_nodes
    from bbllm.bench.runner.play_here import play

    return play


def new_folder(what: str, suite: str) -> Path:
    """Return where results go for which nobody named a folder."""
    stamp = time.strftime('%Y%m%d-%H%M%S')
    return state_dir() / 'bench' / f'{what}-{Path(suite).stem}-{stamp}'


def default_jobs(world: WorldName | None, ray: str | None) -> int:
    """Return how many episodes are played at once where nobody says."""
    if ray not in (None, 'local'):
        return MAX_JOBS  # as many as the cluster has cores
    return 1 if world is WorldName.ros else len(os.sched_getaffinity(0))
