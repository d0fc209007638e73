"""A running stack as a session: its own planner, models and robot, and who else directs it."""

import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bbllm.api.session import Bag, Health, Listener, Running, RunningStack, Seen
from bbllm.core.errors import ConfigError, LostNodeError, TaskError, WorldError
from bbllm.core.events import Ending, Episode, EpisodeEnded, EpisodeStarted, Event
from bbllm.core.journal import end_journal, episode_of, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import EventSink, World
from bbllm.core.tasks import make_remark
from bbllm.core.types import Plan, Skill, Task
from bbllm_ros.rclpy_support.stop_client import StopClient
from bbllm_ros.stack.bag_recorder import BagRecorder
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.newest_states import NewestStates
from bbllm_ros.stack.stack import NODES, REAL_NODES

READY_S = 15.0
"""How long the nodes of a stack may take to answer, wall clock [s]."""
PLANNER = 'brain_planner'
"""The node that runs episodes and writes their journals."""


class StackWorld:
    """The robot of a stack as a `World`."""

    def __init__(self, client: StackClient):
        self.observe, self.execute = client.scene, client.execute
        self._client = client

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self.observe().skills

    def stop(self) -> None:
        self._client.cancel()


class StackSession(RunningStack):
    """
    A running stack, and the tasks that are given to it through one client.

    *chosen* goes with each of them, see `EpisodeConfig.of_task`.
    """

    def __init__(self, client: StackClient, chosen: Mapping[str, Any] = MappingProxyType({})):
        super().__init__()
        self.world: World = StackWorld(client)
        self.name = f'stack /{client.namespace}'
        self._client, self._chosen = client, chosen
        self.approvals = client.approvals
        self._stop = StopClient(client.node, client.group)
        self._ending = threading.Lock()
        self._open = ''
        """The episode that was heard of last, unless it has ended."""

    def begin(self, task: Task, on_event: EventSink, *, goal: str | None = None) -> Running:
        """Return an episode of the stack; see `Session`."""
        client, loops = self._client, self._chosen.get('feedback_loops')
        wanted = goal or self._chosen.get('goal') or ''

        def execute() -> Episode:
            try:
                return episode_on_stack(client, task, loops, on_event, goal=wanted)
            except LostNodeError as error:
                self._end_lost(task.id, str(error))
                raise

        def leave(reason: str) -> None:
            raise WorldError(
                'The stack did not end the task within 5 s after Ctrl-C; look at its logs.'
            )

        return Running(
            task=task,
            execute=execute,
            cancel=lambda reason: client.cancel(),
            say=lambda text, wait_s, by: client.say(
                text, by=by, episode_id=task.id, wait_s=wait_s
            ),
            leave=leave,
        )

    def watch(self, listener: Listener) -> None:
        """Pass on the events of all clients' episodes; see `Session`."""
        super().watch(listener)
        self._client.on_any_event = self._hear

    def say(self, text: str, wait_s: float) -> str:
        """Send a remark on the task of any client; see `Session`."""
        words = make_remark(text)
        self._client.heartbeats.check_serving([PLANNER])
        return self._client.say(words, wait_s=wait_s)

    def stop(self, reason: str) -> None:
        """Stop all goals of the planner and of the arm; WorldError with what was not stopped."""
        self._stop.stop_all()

    def plan(self, task: Task) -> Plan:
        """Refuse; see `Session`."""
        raise ConfigError(
            "A stack plans with models of its own, and moves. For a plan alone use Robot('sim')"
            '.plan(...), or `bbllm plan --ros`, which plans here on the scene of the stack.'
        )

    def look(self) -> Seen:
        """Return what was published last; see `Session`."""
        return self._states.look()

    def check(self) -> Health:
        """Return what does not answer; an episode whose planner has gone is ended."""
        lost = ''
        try:
            self._client.heartbeats.check_serving(NODES)
        except LostNodeError as error:
            lost = str(error)
            if self._open:
                self._end_lost(self._open, lost)
        return Health(self._client.missing(REAL_NODES), lost)

    def record(self, path: Path) -> AbstractContextManager[Bag]:
        """Write what is published to a bag; see `RunningStack`."""
        return BagRecorder(self._client.node, path, self._client.namespace)

    def close(self) -> None:
        """Leave the graph."""
        self._client.close()

    @cached_property
    def _states(self) -> NewestStates:
        # Only who looks subscribes to the joint states.
        return NewestStates(self._client.node)

    def _hear(self, episode_id: str, event: Event) -> None:
        self._open = '' if isinstance(event.data, EpisodeEnded) else episode_id
        if self._listener is not None:
            self._listener(episode_id, event)

    def _end_lost(self, episode_id: str, message: str) -> None:
        """End an episode, once, whose planner has gone, which wrote the journal."""
        if not self._client.heartbeats.has_ended(PLANNER):
            return
        end_journal(episodes_dir() / f'{episode_id}.jsonl', Ending.WORLD_FAILED, message)
        with self._ending:
            if episode_id == self._open:
                end = EpisodeEnded(Ending.WORLD_FAILED, message, 'LostNodeError')
                self._hear(episode_id, Event(time.time(), end))


def join_session(namespace: str, chosen: Mapping[str, Any]) -> StackSession:
    """Return a session with a stack; LostNodeError where it is not there, or not all of it."""
    client = StackClient(namespace)
    try:
        client.wait_ready(REAL_NODES, READY_S)
        return StackSession(client, chosen)
    except BaseException:
        client.close()
        raise


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
