"""What decides which pairs a data set has, and how one that was begun is gone on with."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import pydantic

from bbllm.bench.log.store import read_json
from bbllm.core.errors import ConfigError
from benchmarks.finetuning.paraphrases import Wordings
from benchmarks.finetuning.tasks import DataTask, count_tasks, generate_tasks

SETTINGS = 'settings.json'


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSettings:
    """What a data set is made of."""

    pairs: int
    """How many are wanted at least; may be another number when it is gone on."""
    tasks: int
    seed: int
    planner: str
    brain: str | None = None
    """Who is asked for sentences, as it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a folder says of how its data set was begun."""

    settings: DataSettings
    chosen: tuple[str, ...]
    """The tasks, as the card lists them; another version of bbllm may choose others."""
    wordings: str = 'grammar'
    """Who made up the sentences: `grammar`, or the name of a model."""
    kept: dict[str, tuple[str, ...]]
    """Sentences of that model by kind, so that it is asked once."""
    refused: dict[str, int]
    """How many of its lines were not kept, by why."""


_BEGUN = pydantic.TypeAdapter(Begun)


def read_begun(path: Path) -> Begun | None:
    """
    Return how the data set of a folder was begun, None where there is none.

    Raises:
        ConfigError: The folder holds something else.
    """
    if not (path / SETTINGS).exists():
        return None
    try:
        return _BEGUN.validate_python(read_json(path / SETTINGS))
    except pydantic.ValidationError as error:
        where = '.'.join(map(str, error.errors()[0]['loc']))
        raise ConfigError(
            f'{path / SETTINGS} is not that of a data set that this version of bbllm can go on '
            f'with ({where}: {error.errors()[0]["msg"]}). Name another --out.'
        ) from None


def begin(
    was: Begun | None,
    asked: DataSettings,
    path: Path,
    ask: Callable[[], Wordings | None],
) -> tuple[Begun, tuple[DataTask, ...]]:
    """
    Return what a data set is begun with, or was, and its tasks.

    With the sentences of a model there may be fewer tasks than are asked for; then it is of those
    that there are, since the model is paid.

    Args:
        was: How it was begun before; None where it is new.
        asked: What is wanted.
        path: What errors call it.
        ask: Has a model make up sentences, where one shall.

    Raises:
        ConfigError: What is in the folder is of other settings or of another version of bbllm.
    """
    if was is not None:
        check_same(was.settings, asked, path)
        tasks = generate_tasks(len(was.chosen), asked.seed, more=was.kept)
        if tuple(map(str, tasks)) != was.chosen:
            raise ConfigError(
                f'{path} holds a data set with the tasks of another version of bbllm. Name '
                'another --out, or go on with that version.'
            )
        return was, tasks
    wordings = ask() or Wordings('grammar')
    count = min(asked.tasks, count_tasks(wordings.kept))
    tasks = generate_tasks(count, asked.seed, more=wordings.kept)
    begun = Begun(
        settings=asked,
        chosen=tuple(map(str, tasks)),
        wordings=wordings.model,
        kept=wordings.kept,
        refused=dict(wordings.refused),
    )
    return begun, tasks


def settings_to_resume(path: Path, asked: DataSettings, given: Collection[str]) -> DataSettings:
    """
    Return the settings of what is in a folder, but for those that were given.

    Raises:
        ConfigError: There is nothing to go on with.
    """
    begun = read_begun(path)
    if begun is None:
        raise ConfigError(
            f'{path} holds no data set to go on with; leave --resume out to begin one there.'
        )
    changes = {name: value for name, value in asdict(asked).items() if name in given}
    return replace(begun.settings, **changes)


def check_same(was: DataSettings, now: DataSettings, path: Path) -> None:
    """
    Keep pairs of other settings out of a folder; only how many are wanted may differ.

    Raises:
        ConfigError: Settings differ; names them all.
    """
    found = [
        f'{item.name}: was {getattr(was, item.name)}, is {getattr(now, item.name)}'
        for item in fields(DataSettings)
        if item.name != 'pairs' and getattr(was, item.name) != getattr(now, item.name)
    ]
    if found:
        raise ConfigError(
            f'{path} holds a data set with other settings:\n  ' + '\n  '.join(found) + '\n'
            'Name another --out, or say --resume to go on with the settings that it was begun '
            'with.'
        )
