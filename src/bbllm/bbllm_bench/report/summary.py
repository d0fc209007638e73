"""
The summary of a run: the content of `summary.json`, and the last line on the terminal.

Apart from `episodes_per_minute` and `timing` a summary is a pure function of settings and
results and does not depend on their order: a run that was killed and resumed gives the same one.
Floats are rounded to six digits after the point in the file.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.scene.sources import TRUTH
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.log.store import Session, episodes_per_minute
from bbllm_bench.metrics.metrics import BY_PICTURES, OF_TALK, SUMMARY, Figures, SummaryRecord
from bbllm_bench.metrics.pairs import ks_of
from bbllm_bench.oracle.notices import handed_the_goal, notices_about, notices_of_changes
from bbllm_bench.report.words import interval
from bbllm_bench.scorers.scoring import earlier_lines
from bbllm_bench.suites.benchmark import is_benchmark


class TaskFigures(Figures):
    """The figures of one task at one K."""

    name: str
    label: str
    """The name in its paper, '' where there is none."""
    instruction: str
    difficulty: str

    @property
    def title(self) -> str:
        """The name of its row, after the name in its paper: `T3 pick_heavier`."""
        return f'{self.label} {self.name}'.strip()


class GroupFigures(Figures):
    """The figures of a split of a suite at one K."""

    name: str
    n_tasks: int


class KFigures(Figures):
    """The figures of one K, over everything and by task."""

    k: int | None
    tasks: tuple[TaskFigures, ...] = ()
    groups: tuple[GroupFigures, ...] = ()


class Timing(SummaryRecord):
    """All that depends on the wall clock, which a second run does not repeat."""

    wall_s: float
    sessions: int
    episode_s: float
    model_s: float
    picture_s: float | None = None
    """Mean time of one picture, drawing and detection included; None without pictures."""


class RunSummary(SummaryRecord):
    """The summary of a run."""

    suite: str
    planner: str
    brain: str
    body: str
    mapping: str
    world: str
    sources: str
    trouble: str
    seed: int
    trials: int
    notices: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """What to know of a replay whose prompts have changed since it was recorded."""
    shards: str = ''
    """Which shards of a run these are, '' where it was never split."""
    planned: int
    played: int
    models: Mapping[str, tuple[str, ...]]
    """Names that the servers gave themselves, by role."""
    earlier: tuple[str, ...] = ()
    """What the episodes before the judged ones took, which no other figure counts."""
    by_k: tuple[KFigures, ...]
    """The least K first."""
    episodes_per_minute: float | None
    timing: Timing

    @property
    def sees(self) -> bool:
        """Whether scenes come from pictures."""
        return self.sources != TRUTH

    @property
    def by_sources(self) -> str:
        """Where scenes come from, for tables of a benchmark that others play by pictures."""
        return f'by {self.sources}' if is_benchmark(self.world) else ''

    @property
    def top(self) -> KFigures:
        """The figures at the largest K."""
        return self.by_k[-1] if self.by_k else KFigures.of((), k=None)


_OF_SETTINGS = {
    *('suite', 'planner', 'brain', 'body', 'mapping', 'world', 'sources', 'trouble', 'seed'),
    'trials',
}
_OF_TASK = {'name', 'label', 'instruction', 'difficulty', 'least_loops'}


def summarize_run(
    settings: RunSettings, results: Sequence[EpisodeResult], sessions: Sequence[Session]
) -> RunSummary:
    """
    Return the summary of a run, also of one that is not complete.

    Raises:
        ValueError: An episode is there twice.
    """
    results = sorted(results, key=lambda result: result.key)
    counts = Counter(result.key.name for result in results)
    if doubles := sorted(name for name, number in counts.items() if number > 1):
        raise ValueError(
            f'A run has each episode once, but these are there twice: {", ".join(doubles)}.'
        )
    ks = sorted({*settings.ks, *ks_of(results)})
    models = _models(results)
    return RunSummary(
        **settings.model_dump(include=_OF_SETTINGS),
        notices=(*_of_benchmark(settings), *notices_about(handed_the_goal(), settings, models)),
        changed=tuple(notices_of_changes(results)),
        planned=len(settings.cases) * len(ks),
        shards=settings.parts,
        played=len(results),
        models=models,
        earlier=tuple(earlier_lines(results)),
        by_k=tuple(_figures_of_k(settings, results, k) for k in ks),
        episodes_per_minute=episodes_per_minute(sessions),
        timing=Timing(
            wall_s=round(math.fsum(session.wall_s for session in sessions), 3),
            sessions=len(sessions),
            episode_s=round(math.fsum(result.wall_s for result in results), 3),
            model_s=round(math.fsum(result.model_s for result in results), 3),
            picture_s=_picture_s(results),
        ),
    )


def _of_benchmark(settings: RunSettings) -> tuple[str, ...]:
    if not is_benchmark(settings.world):
        return ()
    return (
        f'All figures are by {settings.sources}: scenes are the state of the simulator. Figures '
        'of policies and planners that see pictures are not comparable with them.',
    )


def summary_text(summary: RunSummary) -> str:
    # Not pydantic's own writer and reader: they refuse lone surrogates, which replies may have.
    return f'{json.dumps(summary.model_dump(), indent=2)}\n'


def read_summary(path: Path) -> RunSummary:
    """Read `summary.json`; raises ConfigError where it cannot be read, or is no summary."""
    try:
        return RunSummary.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f'Cannot read {path}: {error.strerror}.') from error
    except ValueError as error:
        raise ConfigError(
            f'{path} is no summary of this version of bbllm; `bbllm bench report {path.parent}` '
            'writes it again.'
        ) from error


def closing_line(summary: RunSummary) -> str:
    """Return the last line that a run prints; programs read it."""
    top = summary.top
    knowing = ''
    if top.needing:
        # Over the episodes that need something alone: guessing gives about one half and nothing.
        rates = (f'{key.upper()}={rate_text(top, key)}' for key in ('state', 'informed'))
        knowing = f'{" ".join(rates)} needing={top.needing} '
    seen = f'sources={summary.sources} ' if summary.sees or summary.by_sources else ''
    seen += f'JUDGE={rate_text(top, "judge")} ' if summary.sees else ''
    talk = ''.join(f'{key.upper()}={rate_text(top, key)} ' for key in OF_TALK if top.rate(key).n)
    changed = 'changed_prompts=yes ' if summary.changed else ''
    return (
        f'{summary.suite} planner={summary.planner} brain={summary.brain} {changed}'
        f'SR={rate_text(top, "sr")} GCR={_two_digits(top.value("gcr"))} '
        f'EXEC={_two_digits(top.value("exec"))} {knowing}{talk}{seen}n={top.n}'
    )


def rate_text(figures: Figures, key: str) -> str:
    """Return a rate with its interval: `0.75 [0.30, 0.95]`."""
    rate = figures.rate(key)
    return f'{_two_digits(rate.value)} {interval(rate.low, rate.high)}'.rstrip()


def _figures_of_k(settings: RunSettings, results: Sequence[EpisodeResult], k: int) -> KFigures:
    group = [result for result in results if result.key.k == k]
    talk = any(result.ask or result.answer for result in results)
    pictures = settings.sources != TRUTH
    metrics = (*SUMMARY, *(OF_TALK if talk else ()), *(BY_PICTURES if pictures else ()))
    return KFigures.of(
        group,
        metrics,
        k=k,
        tasks=tuple(
            TaskFigures.of(
                [result for result in group if result.key.task == task.name],
                metrics,
                # The suite's demand is there also for a task that was not played yet.
                **task.model_dump(include=_OF_TASK),
            )
            for task in settings.tasks
        ),
        groups=tuple(
            GroupFigures.of(
                [result for result in group if result.key.task in tasks],
                metrics,
                name=name,
                n_tasks=len(tasks),
            )
            for name, tasks in _splits(settings).items()
        ),
    )


def _splits(settings: RunSettings) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for task in settings.tasks:
        if task.split:
            found.setdefault(task.split, []).append(task.name)
    return found


def _picture_s(results: Sequence[EpisodeResult]) -> float | None:
    seen = [result.by_pictures for result in results if result.by_pictures is not None]
    pictures = sum(each.pictures for each in seen)
    return round(math.fsum(each.wall_s for each in seen) / pictures, 4) if pictures else None


def _models(results: Iterable[EpisodeResult]) -> dict[str, tuple[str, ...]]:
    names: dict[str, set[str]] = {}
    for result in results:
        for role, listed in result.models.items():
            names.setdefault(role, set()).update(listed.split(', '))
    return {role: tuple(sorted(names[role])) for role in sorted(names)}


def _two_digits(value: float | None) -> str:
    return 'none' if value is None else f'{value:.2f}'
