"""One episode, in this process or on a running stack, shown while it runs; and its end."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import typer

from bbllm.api.local_session import LocalSession
from bbllm.api.session import Session
from bbllm.api.setup import EpisodeSetup
from bbllm.api.stage import Settled, open_stage
from bbllm.cli.support.options import StackOptions
from bbllm.cli.support.supervision import supervise
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.cli.views.picture_files import Pictures, rendering_of, write_pictures
from bbllm.cli.views.question import can_ask, person_prompt
from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.events import Ending, Episode, EpisodeStarted, Event, WarningRaised
from bbllm.core.journal import JournalWriter, read_episode, summarize
from bbllm.core.paths import episodes_dir
from bbllm.core.plugins import load_part
from bbllm.core.registry import find_provider, with_remark
from bbllm.core.types import Task


@dataclass(frozen=True, slots=True)
class Ran:
    """An episode that ended, and what there is to see of it."""

    episode: Episode
    journal: Path
    interrupted: bool
    """Whether a person stopped it from the keyboard."""
    settled: Settled | None = None
    """The scene once nothing moved any more; None where the world cannot wait for that."""
    hints: tuple[str, ...] = ()
    """What people should know about pictures that could not be made."""


def found_session(
    verb: str,
    stack: StackOptions,
    output: Output,
    of_task: Mapping[str, Any] = MappingProxyType({}),
) -> AbstractContextManager[Session]:
    """Find the running stack for a verb, see `Session`; raises BbllmError."""
    find = load_part('bbllm.stacks', 'find')
    found: AbstractContextManager[Session] = find(verb, stack, output, of_task)
    return found


def run_here(task: Task, setup: EpisodeSetup, output: Output, *, yes: bool = False) -> Ran:
    """
    Run one episode on the tabletop or in a house in this process, shown while it runs.

    Or on a robot over its network interface: its plans are approved here, with *yes* by this
    program where the robot is simulated.

    Raises:
        BbllmError: Something that was asked for cannot be had; nothing was started then.
    """
    options = setup.options
    for notice in setup.models.notices:
        output.print(notice, style='yellow')
    if options.safety or options.keep_out:
        for line in options.envelope.boxes():
            output.print(line, style='yellow')
    if options.robot and not options.simulated_robot and not can_ask(output):
        raise ConfigError(
            'A real arm moves after a person has approved the plan: start this in a terminal.'
        )
    if output.live:
        begun = 'Connecting to the robot ...' if options.robot else 'Setting the table ...'
        output.print('Furnishing the house ...' if options.house else begun, style='dim')
    with open_stage(options) as stage, ExitStack() as files:
        view = output.view(stage.clock)
        session = LocalSession(
            stage.world,
            setup,
            asks=bool(options.robot),
            arm=stage.approved,
            never=options.constraints,
            kept_out=options.kept_out,
        )
        session.attended = can_ask(output)
        running = session.begin(task, view)
        journal = running.journal
        assert journal is not None  # the session keeps one
        motion = None
        if stage.record is not None:
            motion = files.enter_context(stage.record(journal.path))
        with view, person_prompt(running, session.approvals, output, view, yes=yes):
            episode, interrupted = supervise(running)
        if interrupted:
            # An episode that hangs is on record.
            return Ran(episode or read_episode(journal.path), journal.path, interrupted)
        assert episode is not None  # only one that was interrupted can hang
        settled = None
        hints = [journal.broken] if journal.broken else []
        # The episode has ended and is on record; no picture is worth its failure.
        try:
            if episode.robot_s:
                with output.doing('Rendering the scene at rest'):
                    settled = stage.settle()
                    stage.render(rendering_of(journal.path))
            else:
                settled = stage.settle()
        except BbllmError as error:
            hints.append(str(error))
    if motion is not None and motion.broken:
        hints.append(motion.broken)
    return Ran(episode, journal.path, interrupted, settled, tuple(hints))


def run_on_stack(
    task: Task, session: Session, output: Output, wall_limit_s: float, *, yes: bool = False
) -> Ran:
    """
    Give a stack a task and show how it goes.

    It is cancelled after a wall time; 0 is no limit [s]. With *yes*, what the stack asks for is
    approved in place of a person; simulated robots only.

    Raises:
        LostNodeError: One of the nodes has gone.
        TaskError: The stack refused the task.
        WorldError: The stack did not end the task after Ctrl-C.
    """
    path = episodes_dir() / f'{task.id}.jsonl'
    view = output.view()

    def on_event(event: Event) -> None:
        view(event)
        if isinstance(event.data, EpisodeStarted) and find_provider(brain := event.data.brain):
            text = f'The Brain is {with_remark(brain)}; docs/models.md shows how to name a model.'
            view(Event(event.stamp_s, WarningRaised(text)))

    session.attended = can_ask(output)
    running = session.begin(task, on_event)
    too_late = threading.Timer(wall_limit_s, running.cancel, ('The time is over.',))
    with view, person_prompt(running, session.approvals, output, view, yes=yes):
        if wall_limit_s:
            too_late.start()
        try:
            episode, interrupted = supervise(running)
        finally:
            too_late.cancel()
    assert episode is not None  # else `supervise` has raised
    hints: tuple[str, ...] = ()
    if not path.exists():  # the stack keeps its journals elsewhere
        try:
            with JournalWriter(path.parent, path.stem) as journal:
                for event in episode.events:
                    journal(event)
        except ConfigError as error:
            hints = (f'The journal {path} is not kept here: {error.__cause__}.',)
    return Ran(episode, path, interrupted, hints=hints)


def finish(ran: Ran, output: Output, *, finding: str = '', passed: bool = True) -> NoReturn:
    """
    Draw an episode, print where its files are and one JSON object, and exit.

    *finding* is what a check of the result found, as a sentence. Exits with 0 only where the
    episode finished and that check passed.
    """
    undrawn = f'`bbllm show {ran.journal.stem}` draws the scene.'
    if ran.interrupted:  # whoever pressed Ctrl-C wants to go
        pictures = Pictures((), (f'Nothing was drawn; {undrawn}',))
    elif not ran.episode.robot_s:
        pictures = Pictures((), (f'No call was completed, so nothing was drawn; {undrawn}',))
    else:
        with output.doing('Drawing the scene before and after'):
            pictures = write_pictures(ran.episode, ran.journal, finding)
    if finding:
        style = 'bold green' if passed else 'bold red'
        output.print()
        output.print(f'  {"✓" if passed else "✗"} {finding}', style)
    output.print()
    for path in pictures.paths:
        output.print_path('picture', path)
    output.print_path('journal', ran.journal)
    output.print(f'  again    bbllm show {ran.journal.stem}', 'dim')
    for hint in (*pictures.hints, *ran.hints):
        output.print(f'  {hint}', 'yellow')
    output.result(
        {
            **summarize(ran.episode),
            'journal': str(ran.journal),
            'pictures': [str(path) for path in pictures.paths],
            **({'check': {'passed': passed, 'finding': finding}} if finding else {}),
        }
    )
    if ran.interrupted and ran.episode.ending is Ending.CANCELLED:
        raise typer.Exit(INTERRUPTED)
    ending = ran.episode.ending
    raise typer.Exit(0 if ending is not None and ending.is_success and passed else FAILED)
