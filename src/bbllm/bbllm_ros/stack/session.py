"""A running stack as a session: its own planner, models and robot, and who else directs it."""

import threading
import time
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from bbllm_interfaces.msg import ObjectStates
from bbllm_interfaces.msg import Scene as SceneMsg
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.api.session import Health, Listener, Running, Seen, Session
from bbllm.core.conversation import Turn
from bbllm.core.dialogue import AskMode
from bbllm.core.errors import ConfigError, LostNodeError, TaskError, WorldError
from bbllm.core.events import Ending, Episode, EpisodeEnded, EpisodeStarted, Event
from bbllm.core.journal import end_journal, episode_of, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import EventSink, World
from bbllm.core.tasks import make_remark
from bbllm.core.types import Plan, Scene, Skill, Task
from bbllm_ros.convert.arm import arm_from_msg, width_from_msg
from bbllm_ros.convert.records import BEST_EFFORT, LATCHED, from_msg, objects_from_msg
from bbllm_ros.rclpy_support.calls import StopClient
from bbllm_ros.rclpy_support.entities import take_all
from bbllm_ros.rclpy_support.executor import UnspunGroup
from bbllm_ros.stack.client import StackClient
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


class NewestStates:
    """
    Takes the newest message of each topic when it is asked; no executor wakes up for them.

    The aggregated `joint_states` goes on with frozen values while a real robot is stopped: this is
    for pictures, not for control.
    """

    def __init__(self, node: Node):
        group = UnspunGroup()

        def subscribe(kind: Any, topic: str, qos: QoSProfile) -> Any:
            return node.create_subscription(
                kind, topic, lambda msg: None, qos, callback_group=group
            )

        self._joint_states = subscribe(JointStateMsg, 'joint_states', BEST_EFFORT)
        self._objects = subscribe(ObjectStates, 'objects', BEST_EFFORT)
        self._scenes = subscribe(SceneMsg, 'scene', LATCHED)
        self._seen = Seen()

    def read(self) -> Seen:
        """Return what is known now; what it was before once the node is destroyed."""
        seen = self._seen
        try:
            for msg in _taken(self._joint_states):
                measured, width_m = arm_from_msg(msg), width_from_msg(msg)
                if measured is not None and width_m is not None:
                    seen = seen._replace(joints_rad=measured[0], width_m=width_m)
            for msg in _taken(self._scenes):
                scene = from_msg(Scene, msg)
                seen = seen._replace(scene=scene, objects=scene.objects)
            for msg in _taken(self._objects):
                seen = seen._replace(objects=objects_from_msg(msg))
        except InvalidHandle:
            return self._seen
        self._seen = seen
        return seen


def _taken(subscription: Any) -> list[Any]:
    """Return the newest message that waits, if one does."""
    messages: list[Any] = []
    take_all(subscription, lambda msg, _: messages.append(msg))
    return messages[-1:]


class StackSession(Session):
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

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The tasks of all clients; see `Session`."""
        return self._client.turns

    def begin(self, task: Task, on_event: EventSink, *, goal: str | None = None) -> Running:
        """Return an episode of the stack; see `Session`."""
        client, loops = self._client, self._chosen.get('feedback_loops')
        wanted = goal or self._chosen.get('goal') or ''
        ask = AskMode(self._chosen.get('ask') or AskMode.AUTO)
        if ask is AskMode.AUTO and self.attended:
            ask = AskMode.YES
        answers = tuple(self._chosen.get('answer') or ())

        def execute() -> Episode:
            try:
                return episode_on_stack(
                    client, task, loops, on_event, goal=wanted, ask=ask, answers=answers
                )
            except LostNodeError as error:
                self._end_lost(task.id, str(error))
                raise

        def leave(reason: str) -> None:
            raise WorldError(
                'The stack did not end the task within 5 s after Ctrl-C; see its logs.'
            )

        return Running(
            task=task,
            execute=execute,
            cancel=lambda reason: client.cancel(),
            say=lambda text, wait_s, by, question='': client.send_remark(
                text, by=by, episode_id=task.id, wait_s=wait_s, question=question
            ),
            leave=leave,
        )

    def watch(self, listener: Listener) -> None:
        """Pass on the events of all clients' episodes; see `Session`."""
        super().watch(listener)
        self._client.on_any_event = self._receive

    def say(self, text: str, wait_s: float, question: str = '') -> str:
        """Send a remark on the task of any client; see `Session`."""
        words = make_remark(text)
        self._client.heartbeats.check_serving([PLANNER])
        return self._client.send_remark(words, wait_s=wait_s, question=question)

    def stop(self, reason: str) -> None:
        """Stop all goals of the planner and of the arm; WorldError with what was not stopped."""
        self._stop.stop_all()

    def plan(self, task: Task) -> Plan:
        """Refuse; see `Session`."""
        raise ConfigError(
            "A stack plans with models of its own, and moves. For a plan alone use Robot('sim')"
            '.plan(...), or `bbllm plan --ros`, which plans here on the scene of the stack.'
        )

    def snapshot(self) -> Seen:
        """Return what was published last; see `Session`."""
        return self._states.read()

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

    def close(self) -> None:
        """Leave the graph."""
        self._client.close()

    @cached_property
    def _states(self) -> NewestStates:
        # Only who looks subscribes to the joint states.
        return NewestStates(self._client.node)

    def _receive(self, episode_id: str, event: Event) -> None:
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
                self._receive(episode_id, Event(time.time(), end))


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
    ask: str = '',
    answers: tuple[str, ...] = (),
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
        ask=ask,
        answers=answers,
        on_event=receive,
    )
    if result.refused:
        raise TaskError(result.message)
    ends = [type(event.data) for event in (*events[:1], *events[-1:])]
    if ends == [EpisodeStarted, EpisodeEnded]:
        return episode_of(events)
    return read_episode(episodes_dir() / f'{task.id}.jsonl')
