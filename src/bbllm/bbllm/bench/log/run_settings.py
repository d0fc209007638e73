"""All that decides what a run's results mean; `settings.json` of its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bbllm.bench.log.results import EpisodeKey
from bbllm.core.budget import Limits
from bbllm.core.errors import ConfigError
from bbllm.core.records import from_json, to_json

MAY_DIFFER = ('machine', 'replay', 'versions.commit')
"""What changes no episode: where it is made, how a recording's file is called."""
MAY_GROW = ('ks', 'trials', 'tasks')
"""More episodes change nothing about those that are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """One task of the suite, as far as reports need it."""

    name: str
    instruction: str
    difficulty: str
    least_loops: int
    label: str = field(default='', compare=False)
    """What a paper calls it; a run may go on where the suite gives other labels."""
    split: str = field(default='', compare=False)
    """Part of the suite that it belongs to."""
    least_steps: int | None = field(default=None, compare=False)
    """Length of its shortest plan, where that is proven."""
    limit_steps: int | None = None
    """Calls of an episode, where the suite says so; what a run allows may be fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What was asked for, and what answered."""

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
    llm: Mapping[str, Any]
    """Settings of the models in force, by role; never a key."""
    prompts: Mapping[str, str]
    """sha256 of each file of prompts."""
    versions: Mapping[str, str]
    machine: Mapping[str, str]
    prices: Mapping[str, Any] = field(default_factory=dict)
    """The price table (bench.prices), empty where there is none."""
    record: str | None = None
    """The file that keeps what the models said."""
    replay: str | None = None
    """The recording that answered instead of models."""
    replay_sha256: str | None = None

    @property
    def keys(self) -> tuple[EpisodeKey, ...]:
        """All episodes, trial by trial, so that a part of a run says something of every task."""
        return tuple(
            EpisodeKey(task.name, trial, k)
            for trial in range(self.trials)
            for task in self.tasks
            for k in self.ks
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        values: dict[str, Any] = to_json(self)
        return values


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting that is not what it was."""

    field: str
    was: object
    now: object

    def __str__(self) -> str:
        return f'{self.field}: was {_show(self.was)}, is {_show(self.now)}'


def settings_from_json(data: object, source: str) -> RunSettings:
    """
    Read what `RunSettings.to_json` made.

    Raises:
        ConfigError: These are no settings of a run.
    """
    try:
        return from_json(RunSettings, data)
    except ValueError as error:
        raise ConfigError(
            f'{source} holds no settings that this version of bbllm can go on from ({error}). '
            'Name another folder: --out.'
        ) from error


def differences(was: RunSettings, now: RunSettings) -> tuple[Difference, ...]:
    """Return what keeps results of both settings from standing in one folder."""
    old, new = dict(_flat(was.to_json())), dict(_flat(now.to_json()))
    fixed = [
        Difference(name, old.get(name), new.get(name))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name) and not _is_free(name)
    ]
    return (*fixed, *_shrunk(was, now))


def _is_free(name: str) -> bool:
    return any(name == free or name.startswith(f'{free}.') for free in (*MAY_DIFFER, *MAY_GROW))


def _shrunk(was: RunSettings, now: RunSettings) -> Iterator[Difference]:
    """Yield what of the episodes that were asked for is no longer asked for."""
    if now.trials < was.trials:
        yield Difference('trials', was.trials, now.trials)
    if not set(was.ks) <= set(now.ks):
        yield Difference('ks', list(was.ks), list(now.ks))
    new = {task.name: task for task in now.tasks}
    for task in was.tasks:
        if new.get(task.name) != task:
            yield Difference(f'tasks.{task.name}', task.name, new.get(task.name))


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
    return replace(was, ks=tuple(sorted(now.ks)), trials=now.trials, tasks=now.tasks)


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
