"""Recorded tasks for `bbllm demo`: what a language model replied, played again without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from textwrap import shorten

from bbllm.api.session import run_in_thread
from bbllm.bags.motion_recorder import MotionRecorder
from bbllm.cli.support.session import Ran, finish
from bbllm.cli.support.supervision import REASON, watch
from bbllm.cli.views.output import Output
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, UnknownNameError, WorldError
from bbllm.core.events import Event
from bbllm.core.journal import JournalWriter, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import World
from bbllm.core.tasks import make_task
from bbllm.core.text import count_of
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_models import open_models
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_here import play_with
from bbllm_bench.runner.recorded_runs import RecordedTask, origin_of, recorded_tasks, shipped

LIST = 'list'
TITLE = 48
"""The longest beginning of an instruction in the menu [characters]."""


def show_recorded(name: str, output: Output) -> None:
    """
    Play the first episode of a recorded task again, judge it and exit; `list` prints all names.

    Raises:
        UnknownNameError: No such task is recorded.
        ReplayError: Its recording cannot be read.
    """
    known = recorded_tasks(place := shipped())
    if name == LIST:
        _print_menu(known, output)
        output.result({'recorded': [*known]})
        return
    if not known:
        raise ConfigError(f'There are no recordings in {place}; leave --recorded out.')
    if name not in known:
        raise UnknownNameError('recorded task', name, known)
    ran, result = _play(known[name], place, output)
    if result.changed_prompts:
        output.print(
            f'{len(result.changed_prompts)} of {count_of(result.model_calls, "prompt")} changed '
            'since: this is what the recorded replies come to, not what the model replies now.',
            style='yellow',
        )
    words = f'Check of the bench: {result.finding}'
    finding = f'{words}; {result.reason}' if result.reason else f'{words}.'
    finish(ran, output, finding=finding, passed=result.passed)


def _print_menu(known: Mapping[str, RecordedTask], output: Output) -> None:
    """Print one line for each task: its name, and the beginning of what the model was told."""
    if not known:
        output.print('There are no recordings.')
        return
    width = max(map(len, known))
    for name, task in known.items():
        title = task.instruction.partition(' What counts: ')[0]
        output.print_line(f'  {name:<{width}}  {shorten(title, TITLE, placeholder=" …")}')
    output.print(f'\nTo play one: bbllm demo --recorded {next(iter(known))}')


def _play(task: RecordedTask, folder: Path, output: Output) -> tuple[Ran, EpisodeResult]:
    """Play the first episode of a task from the recordings in a folder, shown while it runs."""
    run = task.run
    job = run.job(folder, task.name)
    origin = origin_of(folder / run.file)
    output.print(
        f'A recording: {", ".join(origin.models)} gave these replies on '
        f'{", ".join(origin.dates)} to {run.planner}; no model is asked now.',
        style='yellow',
    )
    output.print(f'Task: {job.case.instruction}')
    with JournalWriter(episodes_dir(), make_task(job.case.instruction).id) as journal:
        shown = _WatchedEpisode(journal.path)
        view = output.view()

        def sink(event: Event) -> None:
            journal(event)
            view(event)

        def play() -> EpisodeResult:
            with open_models(job) as (models, _):
                return play_with(job, models, sink, shown)

        with view:
            result, interrupted = watch(lambda: run_in_thread(play), shown.stop)
    if result is None:
        raise WorldError('The episode did not end within 5 s after Ctrl-C.')
    return Ran(read_episode(journal.path), journal.path, interrupted), result


class _WatchedEpisode(Alone):
    """An episode that may be stopped, and whose motion is written beside its journal."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._run: EpisodeRun | None = None
        self._motion: MotionRecorder | None = None
        self._reason = ''

    def stop(self) -> None:
        self._reason = REASON
        if self._run is not None:
            self._run.cancel(REASON)

    def stopped(self) -> str:
        return self._reason

    def opened(self, world: World) -> None:
        if isinstance(world, TabletopWorld):
            self._motion = MotionRecorder(world.robot.simulation)

    def advanced(self) -> None:
        if self._motion is not None:
            self._motion.sample()

    @contextmanager
    def taking_remarks(self, run: EpisodeRun) -> Iterator[None]:
        self._run = run
        motion = nullcontext() if self._motion is None else self._motion.record(self._journal)
        with motion, super().taking_remarks(run):
            yield
