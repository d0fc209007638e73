"""A client of a running stack, for programs that are no nodes: command line, tests, bench."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bbllm_interfaces.action import ExecuteSkill, RunTask
from bbllm_interfaces.msg import Conversation as ConversationMsg
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.msg import Plan as PlanMsg
from bbllm_interfaces.srv import MapStep, Say
from rclpy.callback_groups import ReentrantCallbackGroup

from bbllm.core.cancel import CancelToken
from bbllm.core.constants import NAMESPACE
from bbllm.core.conversation import Turn
from bbllm.core.errors import LostNodeError, TaskError, WorldError
from bbllm.core.events import Ending, EpisodeEnded, Event
from bbllm.core.tasks import new_episode_id
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm_ros.convert.events import event_from_msg
from bbllm_ros.convert.records import EVENTS, LATCHED, from_msg, to_msg
from bbllm_ros.rclpy_support.calls import (
    ANSWER_S,
    ActionCall,
    ServiceCall,
    not_begun,
)
from bbllm_ros.rclpy_support.heartbeat import listen
from bbllm_ros.rclpy_support.own_nodes import OwnNodes, join_stack
from bbllm_ros.stack.discovery import SEE_THERE, no_stack
from bbllm_ros.stack.service_clients import ApprovalClient, SceneClient
from bbllm_ros.stack.stack import NODES

POLL_S = 0.05
LAST_EVENT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """How a task ended; the twin of RunTask's result."""

    episode_id: str
    ending: Ending
    message: str
    feedback_loops: int = 0
    steps: int = 0
    passed_steps: int = 0
    goal: str = ''
    summary: str = ''
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    wall_s: float = 0.0
    robot_s: float = 0.0

    @property
    def refused(self) -> bool:
        return not self.episode_id


class StackClient(AbstractContextManager['StackClient']):
    """
    One client with a ROS context and a thread; close it, or use it with `with`.

    All methods may be called from any thread but that of their own callbacks. *environ* has the
    domain and the boundary (by default the process's own); *own* is what `join_stack` returned,
    and is closed with this.
    """

    def __init__(
        self,
        namespace: str = NAMESPACE,
        *,
        name: str = 'bbllm_client',
        environ: Mapping[str, str] | None = None,
        own: OwnNodes | None = None,
    ):
        self.namespace = namespace
        self._own = own or join_stack(namespace, environ)
        self.node = self._own.join(f'{name}_{os.getpid()}', f'/{namespace}')
        self.heartbeats = listen(self.node)
        self.group = ReentrantCallbackGroup()
        self._tasks = ActionCall(self.node, RunTask, 'run_task', 'brain_planner', self.group)
        self._skills = ActionCall(
            self.node, ExecuteSkill, 'execute_skill', 'fr3_executor', self.group
        )
        self._scenes = SceneClient(self.node, self.group)
        self.approvals = ApprovalClient(self.node, self.group)
        self._map = self.node.create_client(MapStep, 'map_step', callback_group=self.group)
        # A request that was made twice would be two remarks.
        self._say = ServiceCall(
            self.node, Say, 'say', 'brain_planner', self.group, first=Say.Request()
        )
        self._listeners: dict[str, Callable[[Event], None]] = {}
        self.on_any_event: Callable[[str, Event], None] | None = None
        """Called with every event of every episode, whoever began it, and the episode's id."""
        self.node.create_subscription(
            EpisodeEvent, 'episode_events', self._receive, EVENTS, callback_group=self.group
        )
        self.turns: tuple[Turn, ...] = ()
        """The conversation of the stack so far, whoever gave the tasks."""
        self.node.create_subscription(
            ConversationMsg, 'conversation', self._take_turns, LATCHED, callback_group=self.group
        )
        self._own.spin(self.node, 'ros client')

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._own.close()

    def missing(self, nodes: Iterable[str] = NODES) -> tuple[str, ...]:
        """Return the names of the nodes that do not serve yet."""
        serves: dict[str, Callable[[], bool]] = {
            'brain_planner': lambda: self._tasks.ready,
            'fr3_executor': lambda: self._skills.ready,
            'state_estimator': lambda: self._scenes.ready,
            'body_mapper': self._map.service_is_ready,
        }
        return tuple(
            node
            for node in nodes
            if not (self.heartbeats.alive(node) and serves.get(node, lambda: True)())
        )

    def wait_ready(
        self,
        nodes: Iterable[str] = NODES,
        timeout_s: float = 5.0,
        *,
        on_progress: Callable[[tuple[str, ...]], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        """
        Wait until all nodes serve and, where one of them is its server, there is a scene.

        Raises LostNodeError with those that are not ready in time.
        """
        nodes, cancel = tuple(nodes), cancel or CancelToken()
        cancel.raise_if_cancelled()
        deadline_s = time.monotonic() + timeout_s
        reported: tuple[str, ...] | None = None
        while True:
            missing = self.missing(nodes)
            if on_progress is not None and missing != reported:
                on_progress(missing)
                reported = missing
            if not missing and ('state_estimator' not in nodes or not self._scene_fault()):
                return
            if time.monotonic() > deadline_s:
                raise LostNodeError(self._not_ready(nodes, missing, timeout_s))
            cancel.wait(POLL_S)

    def run_task(
        self,
        task: str,
        *,
        episode_id: str = '',
        feedback_loops: int = -1,
        goal: str = '',
        ask: str = '',
        answers: Sequence[str] = (),
        person: bool = True,
        history: Sequence[str] = (),
        on_event: Callable[[Event], None] | None = None,
    ) -> TaskResult:
        """
        Give the stack a task and wait for its end; `cancel` from another thread stops it.

        Without an *episode_id* it gets a new one, with K = -1 and without a *goal* or *ask* the
        stack's parameters, without a *history* that of the stack. *on_event* is called with every
        event, in the client's own thread. Raises LostNodeError where `brain_planner` is not there,
        or has gone.
        """
        # The feedback of actions keeps ten messages and drops those that come after the result;
        # the topic keeps all.
        episode_id = episode_id or new_episode_id()
        ended = threading.Event()

        def receive(event: Event) -> None:
            if on_event is not None:
                on_event(event)
            if isinstance(event.data, EpisodeEnded):
                ended.set()

        self._listeners[episode_id] = receive
        begun_s = time.monotonic()
        try:
            request = RunTask.Goal(
                task=task,
                episode_id=episode_id,
                feedback_loops=feedback_loops,
                goal=goal,
                ask=ask,
                answers=list(answers),
                person=person,
                history=list(history),
            )
            status, result = self._tasks.run(
                request,
                cancel=CancelToken(lambda: self.heartbeats.check(['brain_planner'], begun_s)),
            )
            if result is None:
                raise WorldError(not_begun(status, 'the task', 'brain_planner'))
            if result.episode_id:
                ended.wait(LAST_EVENT_S)
        finally:
            del self._listeners[episode_id]
        return from_msg(TaskResult, result)

    def execute(
        self,
        call: SkillCall,
        *,
        plan: PlanMsg | None = None,
        step: int = -1,
        expected: Sequence[SkillCall] = (),
        on_activity: Callable[[str], object] = lambda _: None,
    ) -> Outcome:
        """
        Run one call of a skill, of a plan or alone, to its end; `cancel` stops it.

        What is *expected* to follow it is planned while it moves.
        """
        begun_s = time.monotonic()
        goal = ExecuteSkill.Goal(
            call=to_msg(call),
            plan=plan or PlanMsg(),
            step=step,
            expected=[to_msg(each) for each in expected],
        )
        status, result = self._skills.run(
            goal,
            cancel=CancelToken(lambda: self.heartbeats.check(['fr3_executor'], begun_s)),
            on_feedback=lambda feedback: on_activity(feedback.activity),
        )
        if result is None:
            raise WorldError(not_begun(status, f'the call {call}', 'fr3_executor'))
        return from_msg(Outcome, result, call=call)

    def cancel(self) -> bool:
        """Cancel what this client has begun, from any thread; returns whether there was any."""
        tasks, skills = self._tasks.cancel(), self._skills.cancel()
        return tasks or skills

    @property
    def accepts_remarks(self) -> bool:
        return self._say.ready

    def send_remark(
        self,
        text: str,
        *,
        by: str = '',
        episode_id: str = '',
        wait_s: float = 0.0,
        question: str = '',
    ) -> str:
        """
        Send the planner a remark of a person, or of the program *by*.

        It is for the episode under way, or only for *episode_id*, and answers the question that
        waits, or only *question*. Returns what became of it, or
        what was still waited for after *wait_s*, wall clock [s]. Raises TaskError where the
        planner refuses it, and LostNodeError where `brain_planner` does not answer.
        """
        request = Say.Request(
            text=text, by=by, episode_id=episode_id, question=question, wait=wait_s
        )
        reply = self._say.run(request, wait_s + ANSWER_S)
        if not reply.success:
            raise TaskError(reply.message)
        return str(reply.message)

    def scene(self, *, or_stopped: bool = False) -> Scene:
        """
        Return the scene as it is now; raises SceneError where it is stale or empty.

        With *or_stopped* the last state of a stopped robot is good enough.
        """
        return self._scenes.get(or_stopped=or_stopped)

    def _take_turns(self, msg: ConversationMsg) -> None:
        self.turns = tuple(from_msg(Turn, turn) for turn in msg.turns)

    def _receive(self, msg: EpisodeEvent) -> None:
        listener = self._listeners.get(msg.episode_id)
        if listener is None and self.on_any_event is None:
            return
        event = event_from_msg(msg)
        if self.on_any_event is not None:
            self.on_any_event(msg.episode_id, event)
        if listener is not None:
            listener(event)

    def _not_ready(self, nodes: Iterable[str], missing: tuple[str, ...], waited_s: float) -> str:
        if missing and set(missing) == set(nodes):
            return no_stack(self.namespace, waited_s)
        fault = '' if missing else self._scene_fault() or 'it came too late'
        names = ', '.join(missing) or f'a scene from state_estimator ({fault})'
        return (
            f'The stack under /{self.namespace} is not ready after {waited_s:g} s; missing: '
            f'{names}. {SEE_THERE}'
        )

    def _scene_fault(self) -> str:
        try:
            self._scenes.get()
        except WorldError as error:
            return str(error)
        return ''
