"""One episode on a running stack, shown here while its nodes work."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from bbllm.api.backends import is_whole
from bbllm.cli.support.session import Ran
from bbllm.cli.support.supervision import watch
from bbllm.cli.views.output import Output
from bbllm.cli.views.question import ApprovalPrompt
from bbllm.core.errors import ConfigError, LostNodeError, TaskError, WorldError
from bbllm.core.events import Ending, EpisodeStarted, Event, WarningRaised
from bbllm.core.journal import JournalWriter, end_journal, episode_of, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.registry import find_provider, with_remark
from bbllm.core.types import Task

if TYPE_CHECKING:
    from bbllm.ros.stack.client import StackClient


def run_on_stack(
    task: Task,
    client: StackClient,
    output: Output,
    *,
    feedback_loops: int | None = None,
    timeout_s: float | None = None,
    yes: bool = False,
) -> Ran:
    """
    Give a stack a task and show how it goes.

    Args:
        task: What to do.
        client: Of the stack.
        output: Where to show it.
        feedback_loops: K; None takes that of the stack.
        timeout_s: Wall time after which the task is cancelled [s].
        yes: Approve what the stack asks for in place of a person; simulated robots only.

    Raises:
        LostNodeError: One of the nodes has gone.
        TaskError: The stack refused the task.
    """
    loops = -1 if feedback_loops is None else feedback_loops
    events: list[Event] = []
    view = output.view()

    def on_event(event: Event) -> None:
        events.append(event)
        view(event)
        if isinstance(event.data, EpisodeStarted) and find_provider(brain := event.data.brain):
            text = f'The Brain is {with_remark(brain)}; docs/models.md says how to name a model.'
            view(Event(event.stamp_s, WarningRaised(text)))

    too_late = threading.Timer(timeout_s or 0.0, client.cancel)
    with view, ApprovalPrompt(client.approvals, task.id, output, view, yes=yes):
        if timeout_s is not None:
            too_late.start()
        try:
            result, interrupted = watch(
                lambda: client.run_task(
                    task.instruction, episode_id=task.id, feedback_loops=loops, on_event=on_event
                ),
                client.cancel,
            )
        except LostNodeError as error:
            if client.heartbeats.has_ended('brain_planner'):  # it wrote the journal
                end_journal(episodes_dir() / f'{task.id}.jsonl', Ending.WORLD_FAILED, str(error))
            raise
        finally:
            too_late.cancel()
    if result is None:
        raise WorldError(
            'The stack did not end the task within 5 s after Ctrl-C; look at its logs.'
        )
    if result.refused:
        raise TaskError(result.message)
    return _ran(result.episode_id, events, interrupted)


def _ran(episode_id: str, events: list[Event], interrupted: bool) -> Ran:
    """
    Return the episode from its events, or from the stack's journal where some were not received.

    Raises:
        ConfigError: Then the journal cannot be read.
    """
    path = episodes_dir() / f'{episode_id}.jsonl'
    if not is_whole(events):
        return Ran(read_episode(path), path, interrupted)
    hints: tuple[str, ...] = ()
    if not path.exists():  # the stack keeps its journals elsewhere
        try:
            with JournalWriter(path.parent, path.stem) as journal:
                for event in events:
                    journal(event)
        except ConfigError as error:
            hints = (f'The journal {path} is not kept here: {error.__cause__}.',)
    return Ran(episode_of(events), path, interrupted, hints=hints)
