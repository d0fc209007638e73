"""Recorded tasks for `bbllm demo`: what a language model replied, played again without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.runner.episode_models import open_models
from bbllm.bench.runner.episode_setup import Alone
from bbllm.bench.runner.play_here import play_with
from bbllm.bench.runner.recorded_runs import RecordedRun, origin_of, read_index, shipped
from bbllm.bench.suites.suite import load_suite
from bbllm.bench.suites.task_spec import SuiteFileError
from bbllm.cli.support.session import Ran
from bbllm.cli.support.supervision import REASON, watch
from bbllm.cli.views.output import Output
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, UnknownNameError, WorldError
from bbllm.core.events import Event
from bbllm.core.journal import JournalWriter, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.tasks import make_task
from bbllm.planners.assembly import heard_by


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """A task of the bench that a language model has been asked to do."""

    run: RecordedRun
    name: str
    instruction: str


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
                yield RecordedTask(run, task.name, task.instruction)


def play_recorded(
    name: str, output: Output, folder: Path | None = None
) -> tuple[Ran, EpisodeResult]:
    """
    Play the first episode of a recorded task again, shown while it runs, and judge it.

    Raises:
        UnknownNameError: No such task is recorded.
        ReplayError: Its recording cannot be read.
    """
    place = folder or shipped()
    known = recorded_tasks(place)
    if not known:
        raise ConfigError(f'There are no recordings in {place}; leave --recorded out.')
    if name not in known:
        raise UnknownNameError('recorded task', name, known)
    run = known[name].run
    job = run.job(place, known[name].name)
    origin = origin_of(place / run.file)
    output.print(
        f'A recording: {", ".join(origin.models)} gave these replies on '
        f'{", ".join(origin.dates)} to {run.planner}; no model is asked now.',
        style='yellow',
    )
    output.print(f'Task: {job.case.instruction}')
    shown = _Shown()
    with JournalWriter(episodes_dir(), make_task(job.case.instruction).id) as journal:
        view = output.view()

        def sink(event: Event) -> None:
            journal(event)
            view(event)

        def play() -> EpisodeResult:
            with open_models(job) as (models, _):
                return play_with(job, models, sink, shown)

        with view:
            result, interrupted = watch(play, shown.stop)
    if result is None:
        raise WorldError('The episode did not end within 5 s after Ctrl-C.')
    return Ran(read_episode(journal.path), journal.path, interrupted), result


class _Shown(Alone):
    """An episode that a person watches, and may stop."""

    def __init__(self) -> None:
        self._run: EpisodeRun | None = None
        self._reason = ''

    def stop(self) -> None:
        self._reason = REASON
        if self._run is not None:
            self._run.cancel(REASON)

    def stopped(self) -> str:
        return self._reason

    def hearing(self, run: EpisodeRun) -> AbstractContextManager[None]:
        self._run = run
        return heard_by(run)
