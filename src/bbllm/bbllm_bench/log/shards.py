"""Parts of a run that are played apart, as on several machines: which cases each one has."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from bbllm.core.errors import ConfigError
from bbllm.core.text import count_of

HOW = 'Use for example 1/4, the first of four parts; the others are 2/4, 3/4 and 4/4.'


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of several parts of a run."""

    number: int
    """From 1 to `of`."""
    of: int
    """How many parts there are."""

    def __str__(self) -> str:
        return f'{self.number}/{self.of}'

    def cases(self, tasks: Collection[str], trials: int) -> frozenset[tuple[str, int]]:
        """
        Return the cases of this part, as name of the task and trial.

        The cases are dealt out in turn, trial by trial in the order of the tasks' names, where
        each trial begins with another task. So parts differ by one case at most, a task is not
        always in the same part, and more trials move no case. Nothing else decides: neither the
        order in which tasks are named, nor the machine, planner, model or K.
        """
        names = sorted(tasks)
        n = len(names)
        dealt = (
            (trial * n + i, names[(i + trial) % n], trial)
            for trial in range(trials)
            for i in range(n)
        )
        mine = self.number - 1
        return frozenset((name, trial) for place, name, trial in dealt if place % self.of == mine)


def parse_shard(text: str) -> Shard:
    """Read `1/4`; raises ConfigError for anything else."""
    found = re.fullmatch(r'\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*', text)
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= of:
        reason = f'counts from 1 to {of}' if found and of else 'is no part of a number of parts'
        raise ConfigError(f'--shard {text!r} {reason}. {HOW}')
    return Shard(number, of)


ShardName = Annotated[
    Shard,
    BeforeValidator(lambda value: parse_shard(value) if isinstance(value, str) else value),
    PlainSerializer(str, return_type=str),
]
"""A part of a run that is written as `1/4`."""


class ShardOrigin(BaseModel):
    """Where a part of a merged run comes from."""

    model_config = ConfigDict(frozen=True)

    shard: ShardName
    folder: str
    """As it was named when the parts were merged."""
    episodes: int
    """How many episodes it had."""
    machine: Mapping[str, str]
    commit: str
    record: Path | None = None
    """Its recording, as in its own settings."""
    command: str

    @property
    def text(self) -> str:
        """Where it comes from, in words."""
        machine = ', '.join(self.machine.values())
        return f'{count_of(self.episodes, "episode")} of {self.folder} ({self.commit}; {machine})'


def shards_text(shard: Shard | None, merged: Sequence[ShardOrigin]) -> str:
    """Return which parts of a run a folder has, '' where it was never split."""
    if shard is not None:
        return str(shard)
    if not merged:
        return ''
    parts = [origin.shard for origin in merged]
    absent = sorted({Shard(n + 1, parts[0].of) for n in range(parts[0].of)} - {*parts})
    missing = f' (without {", ".join(map(str, absent))})' if absent else ''
    return f'{", ".join(map(str, sorted(parts)))}{missing}'
