"""One episode in this process: world, models and planner put together, run and stoppable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bbllm.api.options import EpisodeOptions
from bbllm.api.setup import make_chosen_models, make_setup
from bbllm.api.stage import Stage, open_stage
from bbllm.cli.support.supervision import supervise
from bbllm.cli.views.bar_view import BarView
from bbllm.cli.views.output import Output
from bbllm.cli.views.picture_files import rendering_of
from bbllm.core.errors import BbllmError
from bbllm.core.events import Episode
from bbllm.core.journal import JournalWriter, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene


@dataclass(frozen=True, slots=True)
class Ran:
    """An episode that ended, and what there is to see of it."""

    episode: Episode
    journal: Path
    interrupted: bool
    """Whether a person stopped it from the keyboard."""
    settled: Scene | None = None
    """The scene once nothing moved any more; None where the world cannot wait for that."""
    video: Path | None = None
    """The video that was asked for, where it could be drawn."""
    hints: tuple[str, ...] = ()
    """What people should know about pictures that could not be made."""


def run_here(instruction: str, options: EpisodeOptions, output: Output) -> Ran:
    """
    Run one episode on the tabletop or in a house in this process, shown while it runs.

    Raises:
        BbllmError: Something that was asked for cannot be had; nothing was started then.
    """
    from bbllm.planners.assembly import heard_by

    task = make_task(instruction)
    setup = make_setup(options, make_chosen_models(options), options.domain)
    for notice in setup.models.notices:
        output.print(notice, style='yellow')
    if output.live:
        output.print(
            'Furnishing the house ...' if options.house else 'Setting the table ...', style='dim'
        )
    with open_stage(options) as stage, JournalWriter(episodes_dir(), task.id) as journal:
        view = output.view(stage.clock)
        run, planner = setup.begin(task, [journal, view])
        with view, heard_by(run):
            episode, interrupted = supervise(run, planner, stage.world)
        if episode is None:
            # It hangs, and so may the world: there is nothing more to be had of it.
            return Ran(read_episode(journal.path), journal.path, interrupted)
        if interrupted:
            # Whoever pressed Ctrl-C wants to go.
            return Ran(episode, journal.path, interrupted)
        # Where nothing moved, a rendering would show nothing that the drawing does not.
        moved = episode.robot_s and not options.house
        rendering = rendering_of(journal.path) if moved else None
        settled, hints = _look_around(stage, rendering)
        video, reasons = _save_video(stage, options, output)
        hints = (*hints, *reasons, *([journal.broken] if journal.broken else ()))
    return Ran(episode, journal.path, interrupted, settled, video, hints)


def _look_around(stage: Stage, rendering: Path | None) -> tuple[Scene | None, tuple[str, ...]]:
    """Return the settled scene, and why there is no rendering, if so."""
    settled: Scene | None = None
    try:
        settled = stage.settle()
        if rendering is not None:
            stage.render(rendering)
    except BbllmError as error:
        # The episode has ended and is on record; a picture is not worth its failure.
        return settled, (str(error),)
    return settled, ()


def _save_video(
    stage: Stage, options: EpisodeOptions, output: Output
) -> tuple[Path | None, tuple[str, ...]]:
    """Return the video that was asked for, and why there is none, if so."""
    if stage.recorder is None or options.video is None:
        return None, ()
    with BarView(output) as bar:
        try:
            return stage.recorder.save(
                options.video,
                on_progress=lambda n, total: bar.show_count(n, total, 'frames drawn'),
            ), ()
        except BbllmError as error:
            # The episode has ended and is on record; a video is not worth its failure.
            return None, (str(error),)
