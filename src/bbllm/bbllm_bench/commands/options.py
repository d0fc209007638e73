"""Options that `bbllm bench SUITE` and `bbllm bench compare` share, and what they decide."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbllm.api.config import MAX_K
from bbllm.api.ros_environment import need_ros
from bbllm.cli.support.options import JsonOption, RehearsalOptions, count
from bbllm.cli.support.requests import fill, option
from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir
from bbllm_bench.runner.request import RUN, BenchRequest, RunChoice

if TYPE_CHECKING:
    from bbllm_bench.runner.workers import Workers

MAX_JOBS = 1024


class BenchChoice(RunChoice, RehearsalOptions):
    """Which episodes of a suite run, with which models, where, and within which limits."""


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What is run, and how many episodes at once."""

    chosen: BenchChoice
    out: Path | None = option(
        'Folder of the results; an existing one is resumed. A new one below '
        '$XDG_STATE_HOME/bbllm/bench by default.',
        metavar='DIR',
        panel=RUN,
    )
    jobs: int | None = count(
        'Episodes at once; by default one for each core, and one with --world ros.',
        '-j',
        max=MAX_JOBS,
        panel=RUN,
    )
    json: JsonOption = False

    def run_request(self, suite: str, **more: Any) -> BenchRequest:
        """Return what the bench has to run, with *more* fields of it."""
        rehearse = self.chosen.samples()
        return fill(BenchRequest, self, suite=suite, rehearse=rehearse, **more)

    def folder(self, verb: str, suite: str) -> Path:
        """Return where results go, a new folder where none was named."""
        stamp = time.strftime('%Y%m%d-%H%M%S')
        new = state_dir() / 'bench' / f'{verb}-{Path(suite).stem}-{stamp}'
        return (self.out or new).expanduser()

    def choose_workers(self) -> Callable[[], Workers]:
        """
        Return what makes the workers.

        Raises:
            ConfigError: What is needed is not installed.
        """
        if self.chosen.world == 'ros':
            need_ros('bbllm bench --world ros')
            from bbllm_bench.stack.episode import play
        else:
            from bbllm_bench.runner.play_here import play
        from bbllm_bench.runner.workers import Workers

        cores = 1 if self.chosen.world == 'ros' else len(os.sched_getaffinity(0))
        return partial(Workers, play, self.jobs or cores)


def parse_ks(text: str) -> tuple[int, ...]:
    """Read a list of numbers of feedback loops: `0,1,2,3`, `0-3`; raises ConfigError."""
    found: set[int] = set()
    for part in text.split(','):
        numbers = re.fullmatch(r'\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?', part)
        low, high = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (1, 0)
        if high < low or high > MAX_K:
            raise ConfigError(
                f'--k {text!r} is not a list of integers from 0 to {MAX_K}, such as 3, 0,1,2,3 '
                'or 0-3.'
            )
        found.update(range(low, high + 1))
    return tuple(sorted(found))
