"""
The recorded runs of a folder: which runs of the bench its recordings are of.

A folder of recordings has an `index.yaml` and for each run of it `NAME.jsonl.xz`, the replies. Who
gave them, when, and to which version of bbllm is in the replies themselves. bbllm's own folder
is `config/recordings`, which is installed with the rest of the configuration.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.files.yaml_files import FileRecord, UniqueKeysLoader, YamlFiles, explain
from bbllm.llm.recording.replay import COMPRESSED, read_recording
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.suites.house_goals import GraphGoal
from bbllm_bench.suites.suite import load_suite
from bbllm_bench.suites.task_spec import SuiteFileError, TaskSpec

INDEX = 'index.yaml'
_FILES = YamlFiles('index', fields='runs', error=ConfigError, loader=UniqueKeysLoader)


class RecordedRun(FileRecord):
    """A run of the bench whose replies are kept."""

    name: str
    """Of its recording, without the end `.jsonl.xz`."""
    suite: str
    planner: str
    ks: tuple[int, ...] = Field((3,), min_length=1)
    """The largest is recorded; it answers the others where they send the same requests."""
    trials: int
    seed: int
    tasks: tuple[str, ...] = ()
    """All where none is named."""
    sample: int | None = Field(None, ge=1)
    """So many of all tasks, drawn with the seed; each kind of goal has its share."""
    stand_in: str
    """The model without a key that plays the same cases, for the row beside it."""

    @property
    def title(self) -> str:
        return f'{self.suite}, {self.planner}'

    @property
    def file(self) -> str:
        return f'{self.name}.jsonl{COMPRESSED}'

    def chosen_tasks(self) -> tuple[str, ...]:
        """Return the names of its tasks, none where all are played; raises as `load_suite`."""
        if self.sample is None:
            return self.tasks
        return stratified(load_suite(self.suite).tasks, self.sample, self.seed)

    def request(self, *, replay: Path | None = None, brain: str | None = None) -> BenchRequest:
        """
        Return the run, answered from a recording, or by the model that is named.

        A recording also answers prompts that have changed since: it belongs to the version that
        made it.
        """
        return BenchRequest(
            suite=self.suite,
            planner=self.planner,
            ks=self.ks,
            trials=self.trials,
            seed=self.seed,
            tasks=self.chosen_tasks(),
            replay=replay,
            changed_prompts=replay is not None,
            brain=brain,
            body=brain,
        )

    def job(self, folder: Path, task: str) -> EpisodeSpec:
        """
        Return the first episode of a task, answered from the recording in a folder.

        Raises:
            BbllmError: The recording or the suite cannot be used.
        """
        one = {'tasks': (task,), 'trials': 1, 'ks': (max(self.ks),)}
        request = self.request(replay=folder / self.file).model_copy(update=one)
        plan = prepare(request, folder).plan
        (key,) = plan.settings.keys
        lines = (plan.replay or {}).get(key.name, '')
        return EpisodeSpec(
            key=key, case=plan.make_case(task, key.trial), config=plan.config, replay=lines
        )


class Index(FileRecord):
    """The content of `index.yaml`."""

    runs: tuple[RecordedRun, ...] = Field(min_length=1)

    def chosen(self, names: tuple[str, ...]) -> tuple[RecordedRun, ...]:
        """Return the runs of these names, all without any; raises ConfigError."""
        known = [run.name for run in self.runs]
        if unknown := [name for name in names if name not in known]:
            raise ConfigError(
                f'There is no recorded run {unknown[0]!r}; there are {", ".join(known)}.'
            )
        return tuple(run for run in self.runs if not names or run.name in names)


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """A task of the bench that a language model has been asked to do."""

    run: RecordedRun
    name: str
    instruction: str
    """With … in place of what each trial of a puzzle fills in."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the replies of a recording come from, as it says itself."""

    models: tuple[str, ...]
    """Names that the servers gave themselves."""
    dates: tuple[str, ...]
    """Days on which replies were given, as in 2026-11-23."""
    code: tuple[str, ...]
    """Versions of bbllm that asked."""
    templates: tuple[str, ...]
    """Hashes of their templates of prompts."""
    requests: int


def shipped() -> Path:
    """Return bbllm's own folder of recordings; raises ConfigError without a configuration."""
    return config_dir() / 'recordings'


def recorded_tasks(folder: Path | None = None) -> Mapping[str, RecordedTask]:
    """
    Return what was recorded, by `run/task`; nothing where there are no recordings.

    Args:
        folder: Where recordings and their index lie; bbllm's own without one.
    """
    place = folder or shipped()
    return {f'{item.run.name}/{item.name}': item for item in _tasks(place)}


def _tasks(place: Path) -> Iterator[RecordedTask]:
    for run in read_index(place).runs:
        if not (place / run.file).exists():
            continue
        try:
            chosen, tasks = run.chosen_tasks(), load_suite(run.suite).tasks
        except SuiteFileError:  # it needs a package that is not installed
            continue
        for task in tasks:
            if not chosen or task.name in chosen:
                # The words of a trial would have to be drawn, which takes seconds.
                text = re.sub(r'{\w+}', '…', task.instruction)
                yield RecordedTask(run, task.name, text)


def read_index(folder: Path) -> Index:
    """Return which runs the recordings of a folder are of; raises ConfigError."""
    if not (folder / INDEX).is_file():
        raise ConfigError(
            f'{folder} has no {INDEX}, which lists recorded runs. docs/bench.md shows one; name '
            'its folder with --recordings.'
        )
    text, path = _FILES.read(folder / INDEX)
    data = _FILES.parse(text, str(path))
    try:
        return Index.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f'{path}: {explain(error, data)}') from error


def origin_of(path: Path) -> Origin:
    """Return where replies come from; raises ReplayError where they cannot be read."""
    exchanges = read_recording(path)
    replies = [item.reply for item in exchanges if item.reply is not None]
    return Origin(
        models=_distinct([reply.model for reply in replies]),
        dates=_distinct([item.date for item in exchanges]),
        code=_distinct([item.code for item in exchanges]),
        templates=_distinct([item.templates for item in exchanges]),
        requests=len(exchanges),
    )


def stratified(tasks: Sequence[TaskSpec], n: int, seed: int) -> tuple[str, ...]:
    """
    Return the names of *n* tasks, in their order: of each kind of goal its share, drawn by chance.

    Shares are rounded by the method of largest remainders, so that they add up to *n*.
    """
    n, kinds = min(n, len(tasks)), defaultdict[str, list[str]](list)
    for task in tasks:
        kinds[_kind_of(task)].append(task.name)
    shares = {kind: n * len(names) / len(tasks) for kind, names in kinds.items()}
    counts = {kind: int(share) for kind, share in shares.items()}
    rest = sorted(shares, key=lambda kind: (counts[kind] - shares[kind], kind))
    for kind in rest[: n - sum(counts.values())]:
        counts[kind] += 1
    drawn = {
        name
        for kind, names in kinds.items()
        for name in random.Random(f'{seed} {kind}').sample(sorted(names), counts[kind])
    }
    return tuple(task.name for task in tasks if task.name in drawn)


def _kind_of(task: TaskSpec) -> str:
    """Return what kind of goal a task has: in houses of graphs, which of its parts it has."""
    goal = task.goal
    if not isinstance(goal, GraphGoal):
        return goal.kind
    return '+'.join(part for part in ('nodes', 'edges', 'actions') if getattr(goal, part))


def _distinct(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({text for text in texts if text}))
