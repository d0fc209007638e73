"""The recordings that are shipped: which runs of the bench they are of, and who answered."""

import datetime
from pathlib import Path

from pydantic import Field, ValidationError

from bbllm.bench.runner.run_setup import BenchRequest
from bbllm.core.errors import ConfigError
from bbllm.files.yaml_files import FileRecord, UniqueKeysLoader, YamlFiles, explain
from bbllm.llm.recording.replay import COMPRESSED

INDEX = 'index.yaml'
_FILES = YamlFiles('index', fields='runs', error=ConfigError, loader=UniqueKeysLoader)


class RecordedRun(FileRecord):
    """A run of the bench whose replies are shipped."""

    name: str
    """Of its recording, without the end `.jsonl.xz`."""
    suite: str
    planner: str
    ks: tuple[int, ...] = (3,)
    trials: int
    seed: int
    tasks: tuple[str, ...] = ()
    """All where none is named."""
    stand_in: str
    """The model without a key that plays the same cases, for the row beside it."""
    date: datetime.date | None = None
    """When the replies were written; None as long as there are none."""
    answered_by: str = ''
    """Which model, and under which limits."""

    @property
    def title(self) -> str:
        return f'{self.suite}, {self.planner}'

    @property
    def file(self) -> str:
        return f'{self.name}.jsonl{COMPRESSED}'

    def request(self, *, replay: Path | None = None, brain: str | None = None) -> BenchRequest:
        """Return the run, answered from a recording, or by the model that is named."""
        return BenchRequest(
            suite=self.suite,
            planner=self.planner,
            ks=self.ks,
            trials=self.trials,
            seed=self.seed,
            tasks=self.tasks,
            replay=replay,
            brain=brain,
            body=brain,
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


def read_index(folder: Path) -> Index:
    """Return what the recordings of a folder are of; raises ConfigError."""
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
