"""What a `Robot` drives: a world in this process, or a running ROS 2 stack."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from bbllm.api.approved_world import Approve, ApprovedWorld
from bbllm.api.ros_environment import need_ros
from bbllm.api.setup import EpisodeSetup
from bbllm.core.errors import ConfigError, TaskError
from bbllm.core.events import Episode, EpisodeEnded, EpisodeStarted, Event, PlanMade
from bbllm.core.journal import JournalWriter, episode_of, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import EventSink, World
from bbllm.core.types import Plan, Skill, Task

T = TypeVar('T')
READY_S = 15.0
"""How long the nodes of a stack may take to answer, wall clock [s]."""


@dataclass(frozen=True, slots=True)
class Running:
    """An episode that can be executed once, and stopped from any thread."""

    execute: Callable[[], Episode]
    cancel: Callable[[str], object]
    """Stop it, with a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalBackend:
    """A world in this process."""

    world: World
    setup: EpisodeSetup
    approve: Approve | None
    journal: bool
    close: Callable[[], object]
    """Release what is in use."""

    def begin(self, task: Task, on_event: EventSink) -> Running:
        """Return an episode; `on_event` may be called from any thread."""
        sinks: list[EventSink] = [on_event]
        world = self.world
        if self.approve is not None:
            brain = self.setup.models.brain.name
            world = guarded = ApprovedWorld(world, self.approve, task, brain)
            sinks.append(guarded.observe_event)
        files = ExitStack()
        if self.journal:
            sinks.append(files.enter_context(JournalWriter(episodes_dir(), task.id)))
        run, execute_in = self.setup.begin(task, sinks)
        if isinstance(world, ApprovedWorld):
            world.emit = run.emit

        def execute() -> Episode:
            with files:
                return execute_in(world)

        return Running(execute, run.cancel)

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

    def __init__(self, namespace: str, feedback_loops: int | None):
        need_ros("Robot('ros')")
        from bbllm.ros.stack.client import StackClient
        from bbllm.ros.stack.stack import REAL_NODES

        self._loops = -1 if feedback_loops is None else feedback_loops
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

    def begin(self, task: Task, on_event: EventSink) -> Running:
        events: list[Event] = []

        def receive(event: Event) -> None:
            events.append(event)
            on_event(event)

        def execute() -> Episode:
            result = self._client.run_task(
                task.instruction,
                episode_id=task.id,
                feedback_loops=self._loops,
                on_event=receive,
            )
            if result.refused:
                raise TaskError(result.message)
            if is_whole(events):
                return episode_of(events)
            return read_episode(episodes_dir() / f'{task.id}.jsonl')

        return Running(execute, lambda reason: self._client.cancel())

    def plan(self, task: Task) -> Plan:
        raise ConfigError(
            "A stack plans with models of its own, and moves. For a plan alone use Robot('sim')"
            '.plan(...), or `bbllm plan --ros`, which plans here on the scene of the stack.'
        )


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


def is_whole(events: list[Event]) -> bool:
    """Return whether the first and the last event of an episode are there."""
    return (
        bool(events)
        and isinstance(events[0].data, EpisodeStarted)
        and isinstance(events[-1].data, EpisodeEnded)
    )
