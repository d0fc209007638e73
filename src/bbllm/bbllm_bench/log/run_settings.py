"""All that decides what a run's results mean; `settings.json` of its folder."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bbllm.core.errors import ConfigError
from bbllm.files.yaml_files import MOST_FAULTS
from bbllm_bench.log.choices import PlayChoice, ReplayChoice
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.log.shards import ShardName, ShardOrigin, shards_text

MAY_DIFFER = ('machine', 'replay', 'experience', 'versions.commit', 'command', 'shards')
"""What changes no episode: where it is made, how the file of a recording is called."""
MAY_GROW = ('ks', 'trials', 'tasks')
"""More episodes change nothing about those that are there."""
_REMARKS = {'label', 'split', 'least_steps'}
"""What may differ of a task: how it is called, and what is proven of it."""


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
    least_steps: int | None = None
    limit_steps: int | None = None


class RunSettings(PlayChoice, ReplayChoice):
    """What was asked for, and what answered; `record` and `replay` are files of the run."""

    suite: str
    suite_sha256: str
    world: str
    """tabletop, household or ros."""
    brain: str
    """Name of the model that plans."""
    body: str
    """Name of what maps steps."""
    ks: tuple[int, ...]
    """Feedback loops allowed, each a run of all trials."""
    trials: int
    seed: int
    tasks: tuple[TaskSettings, ...]
    shard: ShardName | None = None
    """Which part of the cases the run plays; None: all."""
    shards: tuple[ShardOrigin, ...] = ()
    """Where the parts of a merged run come from."""
    llm: Mapping[str, Mapping[str, Any]]
    """Settings of the models in force, by role; never a key."""
    prompts: Mapping[str, str]
    """sha256 of each file of prompts."""
    versions: Mapping[str, str]
    machine: Mapping[str, str]
    replay_sha256: str | None = None
    experience_hash: str | None = None
    """Of the entries of earlier episodes that the run may show; None without experience."""
    command: str = ''
    """What was typed last, for a shell; empty for a run that no command line began."""

    @property
    def cases(self) -> tuple[tuple[str, int], ...]:
        """Task and trial of all cases; trial by trial, so that a run begins with every task."""
        names = [task.name for task in self.tasks]
        cases = tuple((name, trial) for trial in range(self.trials) for name in names)
        if self.shard is None:
            return cases
        own = self.shard.cases(names, self.trials)
        return tuple(case for case in cases if case in own)

    @property
    def keys(self) -> tuple[EpisodeKey, ...]:
        """All episodes, in the order of the cases."""
        return tuple(EpisodeKey(task, trial, k) for task, trial in self.cases for k in self.ks)

    @property
    def parts(self) -> str:
        """Which shards of a run these are, '' where it was never split."""
        return shards_text(self.shard, self.shards)


def read_settings(data: object, source: str) -> RunSettings:
    """Return the settings that a file has; raises ConfigError where these are none of a run."""
    try:
        return RunSettings.model_validate(data)
    except ValidationError as error:
        faults = '; '.join(
            f'{".".join(map(str, fault["loc"]))}: {fault["msg"]}'
            for fault in error.errors()[:MOST_FAULTS]
        )
        raise ConfigError(
            f'{source} has no settings that this version of bbllm can go on from ({faults}). '
            'Name another folder: --out.'
        ) from error


def differences(was: RunSettings, now: RunSettings) -> Iterator[tuple[str, object, object]]:
    """Yield what keeps results of both settings from standing in one folder: name and values."""
    free = (*MAY_DIFFER, *MAY_GROW)
    old, new = (dict(flat(item.model_dump(mode='json'))) for item in (was, now))
    for name in dict.fromkeys((*old, *new)):
        is_free = any(name == each or name.startswith(f'{each}.') for each in free)
        if old.get(name) != new.get(name) and not is_free:
            yield name, old.get(name), new.get(name)
    # Of the episodes that were asked for all must be asked for still.
    if now.trials < was.trials:
        yield 'trials', was.trials, now.trials
    if not set(was.ks) <= set(now.ks):
        yield 'ks', was.ks, now.ks
    tasks = {task.name: task for task in now.tasks}
    for task in was.tasks:
        other = tasks.get(task.name)
        if other is None or other.model_dump(exclude=_REMARKS) != task.model_dump(
            exclude=_REMARKS
        ):
            yield f'tasks.{task.name}', task.name, other
    if was.shard is not None and (more := {*tasks} - {task.name for task in was.tasks}):
        yield 'tasks', f'without {", ".join(sorted(more))}', 'with them, which moves cases'


def show(value: object) -> str:
    """Return a setting in words."""
    if isinstance(value, list | tuple):
        return ', '.join(map(str, value)) or 'none'
    return 'none' if value is None else str(value)


def join(was: RunSettings | None, now: RunSettings, folder: str) -> RunSettings:
    """
    Return the settings to go on with in a folder, of those it was made with and those asked for.

    Raises:
        ConfigError: They do not go together; names every difference.
    """
    if was is None:
        return now
    found = [f'{name}: was {show(x)}, is {show(y)}' for name, x, y in differences(was, now)]
    if found:
        listed = '\n  '.join(found)
        raise ConfigError(
            f'{folder} has a run with other settings:\n  {listed}\nName another folder (--out), '
            'or go on with the settings that it was made with; trials, values of K and tasks may '
            'only be added.'
        )
    # What the folder says of machine and commit belongs to the episodes that are there.
    grown = {'ks': tuple(sorted(now.ks)), 'trials': now.trials, 'tasks': now.tasks}
    return was.model_copy(update={**grown, 'command': now.command})


def flat(data: Mapping[str, object], place: str = '') -> Iterator[tuple[str, object]]:
    """Yield all values of nested mappings, by their path."""
    for key, value in data.items():
        name = f'{place}.{key}' if place else key
        if isinstance(value, Mapping):
            yield from flat(value, name)
        else:
            yield name, value
