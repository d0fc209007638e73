"""All that decides what a run's results mean; `settings.json` of its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_serializer, field_validator

from bbllm.bench.log.prices import PriceTable
from bbllm.bench.log.results import EpisodeKey
from bbllm.core.events import Limits
from bbllm.core.errors import ConfigError

MAY_DIFFER = ('machine', 'replay', 'versions.commit')
"""What changes no episode: where it is made, how a recording's file is called."""
MAY_GROW = ('ks', 'trials', 'tasks')
"""More episodes change nothing about those that are there."""


class TaskSettings(BaseModel):
    """One task of the suite, as far as reports need it."""

    model_config = ConfigDict(frozen=True)

    name: str
    instruction: str
    difficulty: str
    least_loops: int
    label: str = ''
    """Its name in a paper; a run may continue where the suite gives other labels."""
    split: str = ''
    """Part of the suite that it belongs to."""
    least_steps: int | None = None
    """Length of its shortest plan, where that is proven."""
    limit_steps: int | None = None
    """Calls of an episode, where the suite limits them; a run may allow fewer."""

    def same_episodes(self, other: TaskSettings | None) -> bool:
        """Whether the task is played as the other one: labels and proven lengths may differ."""
        return other is not None and self.model_dump(exclude=_REMARKS) == other.model_dump(
            exclude=_REMARKS
        )


_REMARKS = {'label', 'split', 'least_steps'}


class RunSettings(BaseModel):
    """What was asked for, and what answered."""

    model_config = ConfigDict(frozen=True)

    suite: str
    suite_sha256: str
    world: str
    """tabletop, household or ros."""
    planner: str
    brain: str
    """Name of the model that plans, as reports show it."""
    body: str
    mapping: str
    ks: tuple[int, ...]
    """Feedback loops allowed, each a run of all trials."""
    trials: int
    seed: int
    tasks: tuple[TaskSettings, ...]
    limits: Limits
    llm: Mapping[str, Mapping[str, Any]]
    """Settings of the models in force, by role; never a key."""
    prompts: Mapping[str, str]
    """sha256 of each file of prompts."""
    versions: Mapping[str, str]
    machine: Mapping[str, str]
    prices: PriceTable | None = None
    record: str | None = None
    """The file that records the exchanges with the models."""
    replay: str | None = None
    """The recording that answered instead of models."""
    replay_sha256: str | None = None

    @property
    def keys(self) -> tuple[EpisodeKey, ...]:
        """All episodes, trial by trial, so that a part of a run covers every task."""
        return tuple(
            EpisodeKey(task.name, trial, k)
            for trial in range(self.trials)
            for task in self.tasks
            for k in self.ks
        )

    @property
    def currency(self) -> str:
        """That of the price table, '' where there is none."""
        return self.prices.currency if self.prices else ''

    @field_validator('prices', mode='before')
    @classmethod
    def _read_prices(cls, value: object) -> object:
        return value or None

    @field_serializer('prices')
    def _write_prices(self, prices: PriceTable | None) -> dict[str, Any]:
        return prices.model_dump() if prices else {}  # the form of the file


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """One setting that is not what it was."""

    field: str
    was: object
    now: object

    def __str__(self) -> str:
        return f'{self.field}: was {_show(self.was)}, is {_show(self.now)}'


def read_settings(data: object, source: str) -> RunSettings:
    """
    Return the settings that a file has.

    Raises:
        ConfigError: These are no settings of a run.
    """
    try:
        return RunSettings.model_validate(data)
    except ValidationError as error:
        faults = '; '.join(
            f'{".".join(map(str, fault["loc"])) or "the file"}: {fault["msg"]}'
            for fault in error.errors()
        )
        raise ConfigError(
            f'{source} holds no settings that this version of bbllm can go on from ({faults}). '
            'Name another folder: --out.'
        ) from error


def differences(was: RunSettings, now: RunSettings) -> tuple[ChangedSetting, ...]:
    """Return what keeps results of both settings from standing in one folder."""
    old, new = (dict(_flat(item.model_dump(mode='json'))) for item in (was, now))
    fixed = [
        ChangedSetting(name, old.get(name), new.get(name))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name) and not _is_free(name)
    ]
    return (*fixed, *_shrunk(was, now))


def _is_free(name: str) -> bool:
    return any(name == free or name.startswith(f'{free}.') for free in (*MAY_DIFFER, *MAY_GROW))


def _shrunk(was: RunSettings, now: RunSettings) -> Iterator[ChangedSetting]:
    """Yield what of the episodes that were asked for is no longer asked for."""
    if now.trials < was.trials:
        yield ChangedSetting('trials', was.trials, now.trials)
    if not set(was.ks) <= set(now.ks):
        yield ChangedSetting('ks', list(was.ks), list(now.ks))
    new = {task.name: task for task in now.tasks}
    for task in was.tasks:
        if not task.same_episodes(new.get(task.name)):
            yield ChangedSetting(f'tasks.{task.name}', task.name, new.get(task.name))


def join(was: RunSettings | None, now: RunSettings, folder: str) -> RunSettings:
    """
    Return the settings to go on with in a folder.

    Args:
        was: What the folder was made with; None for a new one.
        now: What is asked for.
        folder: What errors call it.

    Raises:
        ConfigError: They do not go together; names every difference.
    """
    if was is None:
        return now
    found = differences(was, now)
    if found:
        listed = '\n  '.join(str(item) for item in found)
        raise ConfigError(
            f'{folder} holds a run with other settings:\n  {listed}\nName another folder (--out), '
            'or go on with the settings that it was made with; trials, values of K and tasks may '
            'only be added.'
        )
    # What the folder says of machine and commit belongs to the episodes that are there.
    grown = {'ks': tuple(sorted(now.ks)), 'trials': now.trials, 'tasks': now.tasks}
    return was.model_copy(update=grown)


def _flat(data: Mapping[str, Any], place: str = '') -> Iterator[tuple[str, object]]:
    for key, value in data.items():
        name = f'{place}.{key}' if place else key
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        else:
            yield name, value


def _show(value: object) -> str:
    if value is None:
        return 'none'
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ', '.join(map(str, value)) or 'none'
    return str(value)
