"""What a `Robot` drives: a world in this process, or a running ROS 2 stack."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bbllm.api.approved_world import Approve, ApprovedWorld
from bbllm.api.ros_environment import need_ros
from bbllm.api.setup import EpisodeSetup
from bbllm.core.errors import ConfigError, TaskError
from bbllm.core.events import Episode, EpisodeEnded, EpisodeStarted, Event, PlanMade
from bbllm.core.journal import JournalWriter, episode_of, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import EventSink, World
from bbllm.core.types import Plan, Skill, Task

if TYPE_CHECKING:
    from bbllm.bags.motion import MotionWriter
    from bbllm.skills.constraints import Never
    from bbllm_ros.stack.client import StackClient

T = TypeVar('T')
Record = Callable[[Path], AbstractContextManager['MotionWriter']]
"""Writes how arm and objects move beside a journal."""
READY_S = 15.0
"""How long the nodes of a stack may take to answer, wall clock [s]."""


@dataclass(frozen=True, slots=True)
class Running:
    """An episode that can be executed, once."""

    execute: Callable[[], Episode]
    cancel: Callable[[str], object]
    """Stops it from any thread, with a reason."""
    say: Callable[[str, float], str]
    """Sends its planner a person's words, from any thread, and returns what became of them, or
    what was still waited for after a time [s]; TaskError where they are refused."""
    interrupt: Callable[[], None] = lambda: None
    """Raises SpokenError where something was added to the task since its planner read it last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalBackend:
    """A world in this process."""

    world: World
    setup: EpisodeSetup
    approve: Approve | None
    journal: bool
    close: Callable[[], object]
    """Release what is in use."""
    record: Record | None = None
    """Writes how arm and objects move beside a journal; None where nothing can be sampled."""
    never: tuple[Never, ...] = ()
    """Constraints of the world, which plans are shown with."""

    def begin(self, task: Task, on_event: EventSink, goal: str | None) -> Running:
        """Return an episode; `on_event` may be called from any thread."""
        self.setup.check_goal(self.world.observe, goal)
        sinks: list[EventSink] = [on_event]
        world = self.world
        if self.approve is not None:
            brain = self.setup.models.brain.name
            world = guarded = ApprovedWorld(world, self.approve, task, brain, self.never)
            sinks.append(guarded.observe_event)
        files = ExitStack()
        if self.journal:
            journal = files.enter_context(JournalWriter(episodes_dir(), task.id))
            sinks.append(journal)
            if self.setup.options.samples():
                from bbllm_viewer.viz.predicted import PredictedPicture

                sinks.append(PredictedPicture(journal.path))
            if self.record is not None:
                files.enter_context(self.record(journal.path))
        run, execute_in = self.setup.begin(task, sinks, goal=goal)
        if isinstance(world, ApprovedWorld):
            world.emit, world.interrupt = run.emit, run.interruption()

        def execute() -> Episode:
            with files:
                return execute_in(world)

        def say(text: str, wait_s: float) -> str:
            return run.add_feedback(text).wait(wait_s)

        return Running(execute, run.cancel, say, run.interruption())

    def plan(self, task: Task) -> Plan:
        """Return the plan of a task; nothing moves."""
        episode = self.setup.plan_only(task, self.world.observe())
        plans = [event.data.plan for event in episode.events if isinstance(event.data, PlanMade)]
        if not plans:
            raise TaskError(f'There is no plan. {episode.message}'.rstrip())
        return plans[-1]


class StackBackend:
    """
    A running stack, and the world that it is: its own planner, models and robot.

    Raises:
        ConfigError: There is no ROS in this environment.
        LostNodeError: No stack runs under the namespace, or not all of it.
    """

    def __init__(self, namespace: str, feedback_loops: int | None, goal: str | None):
        need_ros("Robot('ros')")
        from bbllm_ros.stack.client import StackClient
        from bbllm_ros.stack.stack import REAL_NODES

        self._feedback_loops, self._goal = feedback_loops, goal
        client = self._client = StackClient(namespace)
        try:
            client.wait_ready(REAL_NODES, READY_S)
        except BaseException:
            client.close()
            raise
        self.observe, self.execute, self.close = client.scene, client.execute, client.close

    @property
    def world(self) -> World:
        return self

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self.observe().skills

    def stop(self) -> None:
        self._client.cancel()

    def begin(self, task: Task, on_event: EventSink, goal: str | None) -> Running:
        execute = partial(
            episode_on_stack,
            self._client,
            task,
            self._feedback_loops,
            on_event,
            goal=goal or self._goal or '',
        )
        client = self._client

        def say(text: str, wait_s: float) -> str:
            return client.say(text, episode_id=task.id, wait_s=wait_s)

        return Running(execute, lambda _: client.cancel(), say)

    def plan(self, task: Task) -> Plan:
        raise ConfigError(
            "A stack plans with models of its own, and moves. For a plan alone use Robot('sim')"
            '.plan(...), or `bbllm plan --ros`, which plans here on the scene of the stack.'
        )


def episode_on_stack(
    client: StackClient,
    task: Task,
    feedback_loops: int | None,
    on_event: EventSink,
    *,
    goal: str = '',
) -> Episode:
    """
    Give a stack a task and return the episode: from its journal where events were not received.

    Raises:
        TaskError: The stack refused the task.
        BbllmError: A node has gone, or the journal that is needed cannot be read.
    """
    events: list[Event] = []

    def receive(event: Event) -> None:
        events.append(event)
        on_event(event)

    result = client.run_task(
        task.instruction,
        episode_id=task.id,
        feedback_loops=-1 if feedback_loops is None else feedback_loops,
        goal=goal,
        on_event=receive,
    )
    if result.refused:
        raise TaskError(result.message)
    ends = [type(event.data) for event in (*events[:1], *events[-1:])]
    if ends == [EpisodeStarted, EpisodeEnded]:
        return episode_of(events)
    return read_episode(episodes_dir() / f'{task.id}.jsonl')


def run_in_thread(call: Callable[[], T]) -> Future[T]:
    """Make a call in a daemon thread: a model that never answers must not delay the exit."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised again in the thread that asks for the result
            future.set_exception(error)

    threading.Thread(target=work, name='episode', daemon=True).start()
    return future
