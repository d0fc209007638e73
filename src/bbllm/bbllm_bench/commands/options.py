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

from bbllm.api.config import (
    MAX_K,
    MODELS,
    LimitChoice,
    MappingChoice,
    MemoryChoice,
    ModelChoice,
    RecordChoice,
    SourceChoice,
    model_setting,
)
from bbllm.api.ros_environment import need_ros
from bbllm.cli.support.options import JsonOption, RehearsalOptions, WorldName, count
from bbllm.cli.support.requests import fill, flag, option
from bbllm.core.constants import TwinError
from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir

if TYPE_CHECKING:
    from bbllm_bench.runner.request import BenchRequest
    from bbllm_bench.runner.workers import Workers

MAX_TRIALS = 999
MAX_JOBS = 1024
RUN = 'Run'


class ReplayChoice(RecordChoice):
    """The same for runs, whose recording may be of another version of bbllm."""

    changed_prompts: bool = model_setting(
        False,
        'With --replay, go on where a prompt is not the recorded one: the recorded replies are '
        'taken in their order, and no figure is one of the model (docs/bench.md).',
    )


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Which episodes of a suite run, with which models, where, and within which limits."""

    models: ModelChoice
    mapping: MappingChoice
    trials: int = count('Tables of each task.', default=5, max=MAX_TRIALS)
    seed: int = count('Makes the tables; the same ones on every machine.', default=0, min=0)
    tasks: str | None = option(
        'Only these tasks: plus_sign,letter_l. A * stands for any letters: new_tasks_*.',
        metavar='LIST',
    )
    world: WorldName | None = option(
        'tabletop: simulate in worker processes. ros: five nodes. household: symbols. By '
        'default tabletop, and household for a suite that is played in houses.'
    )
    source: SourceChoice
    rehearsal: RehearsalOptions
    twin_error: TwinError = option(
        'With --rehearse, what is wrong in the simulations on purpose: masses twice as large, '
        'half of the friction, or all poses 5 mm off.',
        default='none',
    )
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
    give_up_after: int = count(
        'End early when so many episodes in a row were lost, as without a server, or ended '
        'because the model said nothing usable: an empty or endless reply, or a refusal. Replies '
        'that make no sense, and tables that could not be made, do not count.',
        default=5,
        panel=RUN,
    )
    retry_lost: bool = flag('Play again what infrastructure lost before.', panel=RUN)
    prices: Path | None = option('Price table; see config/prices.example.yaml.', panel=MODELS)
    data: Path | None = option(
        "Your copy of ProgPrompt's data, for household_original; otherwise "
        '$BBLLM_PROGPROMPT_DATA. For eai, the folder virtualhome_eval of the package eai-eval, '
        'where that is not installed.',
        metavar='DIR',
        panel=RUN,
    )
    limit: LimitChoice
    memory: MemoryChoice
    json: JsonOption = False

    def run_request(self, suite: str, **more: Any) -> BenchRequest:
        """Return what the bench has to run, with *more* fields of it."""
        from bbllm_bench.runner.request import BenchRequest

        return fill(
            BenchRequest,
            self,
            suite=suite,
            mapping=self.mapping.mapping.value,
            tasks=() if self.tasks is None else parse_tasks(self.tasks),
            world=self.world or '',
            rehearse=self.rehearsal.samples(),
            limits=self.limit.limits,
            **more,
        )

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
        if self.world == 'ros':
            need_ros('bbllm bench --world ros')
            from bbllm_bench.stack.episode import play
        else:
            from bbllm_bench.runner.play_here import play
        from bbllm_bench.runner.workers import LocalWorkers

        cores = 1 if self.world == 'ros' else len(os.sched_getaffinity(0))
        return partial(LocalWorkers, play, self.jobs or cores)


def parse_tasks(text: str) -> tuple[str, ...]:
    """Read a list of names of tasks, `plus_sign,letter_l`; raises ConfigError if it has none."""
    names = tuple(filter(None, (name.strip() for name in text.split(','))))
    if not names:
        raise ConfigError(
            f'--tasks {text!r} names no task; say for example plus_sign,letter_l, or leave it out '
            'to play all.'
        )
    return names


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
