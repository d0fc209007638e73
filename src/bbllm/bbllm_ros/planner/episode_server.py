"""Where episodes are begun: one at a time, each with its planner, its limits and its journal."""

import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from bbllm_interfaces.action import RunTask
from bbllm_interfaces.msg import BodyModel, EpisodeEvent

from bbllm.api.config import EpisodeConfig, TalkChoice
from bbllm.api.setup import EpisodeSetup, RemoteBody
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import REHEARSAL_SAMPLES
from bbllm.core.conversation import Conversation
from bbllm.core.dialogue import AskingRules, AskMode
from bbllm.core.episode import EpisodeRun, RemarkFate
from bbllm.core.errors import BbllmError, TaskError, WorldError
from bbllm.core.events import Episode, Event
from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import EventSink, World
from bbllm.core.tasks import make_task
from bbllm.core.types import Task
from bbllm.worlds.scene.goal_keeper import check_wanted
from bbllm_ros.convert.events import event_from_msg
from bbllm_ros.convert.records import EVENTS, LATCHED
from bbllm_ros.parameters.model_params import journal_folder, planner_and_models
from bbllm_ros.parameters.node_params import BrainPlannerParams
from bbllm_ros.planner.ros_world import RosBody, RosWorld, TakePicture, body_client
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_viewer.viz.predicted import PredictedPicture

FREE_S = 10.0
"""How long the end of a task that was cancelled is waited for, wall clock [s]."""
CANCEL_S = 0.5
"""How long the cancel of a task under way is waited for before another one is refused [s]."""


class EpisodeDesk:
    """
    Runs episodes over the graph; used from the callbacks of one node.

    Raises ConfigError where the models cannot be made, or do not fit the planner.
    """

    def __init__(
        self,
        node: StackNode,
        params_now: Callable[[], BrainPlannerParams],
        take_picture: TakePicture | None = None,
    ):
        self._params_now = params_now
        params = params_now()
        self._spec, self._models = planner_and_models(params)
        for notice in self._models.notices:
            node.get_logger().info(notice)
        self._world = RosWorld(
            node,
            node.group,
            node.heartbeats,
            controller=params.controller,
            skill_timeout_s=params.skill_timeout_s,
            weighs=self._spec.uses_force,
            take_picture=take_picture,
        )
        self._body = body_client(node, node.group)
        self._reported = BodyModel(name=self._models.body.name)
        node.create_subscription(
            BodyModel, 'body_model', self._learn_body, LATCHED, callback_group=node.group
        )
        node.create_subscription(
            EpisodeEvent,
            'approval_events',
            self._receive_approval,
            EVENTS,
            callback_group=node.group,
        )
        self._folder = journal_folder(params)
        self.conversation = Conversation(params.turns)
        self._lock = threading.Lock()
        self._task: Task | None = None
        self._owner = b''
        self._run: EpisodeRun | None = None
        self._cancelled = ''

    @property
    def brain_name(self) -> str:
        return self._models.brain.name

    @property
    def episode_id(self) -> str:
        task = self._task
        return task.id if task is not None else ''

    def run(
        self, request: RunTask.Goal, *, owner: bytes, on_event: Callable[[Event], None]
    ) -> Episode:
        """
        Run one task to its end; only *owner* may cancel it.

        What the request leaves open is as the action states. Raises TaskError where the
        instruction cannot be taken, or another task is under way, and ConfigError where the scene
        cannot have the goal.
        """
        task = make_task(request.task, request.episode_id)
        self._claim(task, owner)
        try:
            params = self._params_now()
            loops = request.feedback_loops
            goal = request.goal.strip() or params.goal
            check_wanted(goal, self._world.observe)
            talk = TalkChoice(
                ask=AskMode(request.ask or params.ask),
                answer=tuple(request.answers) or params.answer,
                answer_timeout_s=params.answer_timeout_s,
            )
            if request.history:
                task = replace(task, history=tuple(request.history))
            else:
                task = self.conversation.given_to(task)
            with JournalWriter(self._folder, task.id) as journal:
                drawn = PredictedPicture(journal.path)
                sinks: list[EventSink] = [self._world.on_event, on_event, journal, drawn]
                asking = talk.asking(attended=False) if request.person else None
                k = loops if loops >= 0 else params.feedback_loops
                episode = self._run_planner(task, k, goal, sinks, asking)
            self.conversation.add(episode)
            return episode
        finally:
            with self._lock:
                self._task = self._run = None

    def cancel(self, reason: str, *, owner: bytes | None = None, wait_s: float = 0.0) -> None:
        """Stop the episode under way, or only that of one owner, and wait for its end."""
        with self._lock:
            if self._task is None or (owner is not None and owner != self._owner):
                return
            self._cancelled = reason
            run = self._run
        if run is not None:
            run.cancel(reason)
        self.wait_for_end(wait_s)

    def lost_node(self) -> str:
        try:
            self._world.check()
        except WorldError as error:
            return str(error)
        return ''

    def wait_for_end(self, timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        while self._task is not None and time.monotonic() < deadline_s:
            time.sleep(0.02)

    def add_remark(
        self, text: str, by: str = '', episode_id: str = '', question: str = ''
    ) -> RemarkFate:
        """
        Pass on a remark of a person, or of the program *by*, for any episode or for one.

        Returns what becomes of it. Raises TaskError where that episode is not under way, or the
        text cannot be taken.
        """
        run = self._run
        if run is None:
            raise TaskError('No task is under way that a remark could be for.')
        if episode_id not in ('', run.task.id):
            raise TaskError(
                f'The remark is for the episode {episode_id[:40]!r}, which is not under way; '
                f'{run.task.id} is.'
            )
        if by and not re.fullmatch(r'[a-z][a-z0-9_]{0,31}', by):
            raise TaskError(f'{by[:40]!r} names no program; use a-z, 0-9 and _, such as mcp.')
        return run.add_feedback(text, by, question)

    def _claim(self, task: Task, owner: bytes) -> None:
        """
        Take the arm for a task; waits for the end of one that is cancelled.

        Also where its cancel comes only now: a process that stood still takes what came meanwhile
        in any order.
        """
        begun_s = time.monotonic()
        while True:
            with self._lock:
                before, cancelled = self._task, self._cancelled
                if before is None:
                    self._task, self._owner, self._cancelled = task, owner, ''
                    return
            if time.monotonic() - begun_s > (FREE_S if cancelled else CANCEL_S):
                break
            time.sleep(0.02)
        what = f'{before.id} ({before.instruction[:80]!r})'
        if cancelled:
            raise TaskError(
                f'The task before, {what}, has not ended within {FREE_S:g} s. It was cancelled: '
                f'{cancelled} Try again, or start the stack again.'
            )
        raise TaskError(
            f'Another task is under way, and the robot has one arm: {what}. Wait for its end or '
            'cancel it.'
        )

    def _run_planner(
        self,
        task: Task,
        k: int,
        goal: str,
        sinks: Sequence[Callable[[Event], None]],
        asking: AskingRules | None,
    ) -> Episode:
        params, reported = self._params_now(), self._reported
        world = _rehearsed(self._world, params.rehearse)
        setup = EpisodeSetup(
            planner=params.planner,
            spec=self._spec,
            models=self._models,
            options=EpisodeConfig.of(
                {
                    'limits': params.limits,
                    'stream': params.stream,
                    'experience': params.experience,
                }
            ),
            settings={'feedback_loops': k, 'goal': goal, 'world': 'ros'},
            remote_body=RemoteBody(
                name=reported.name,
                connect=lambda run: RosBody(
                    self._body, params.map_timeout_s, run, self._world, reported
                ),
            ),
            check=self._world.check,
        ).keeping(self._world.constraints)
        run, execute = setup.begin(task, sinks, k=k, goal=goal, asking=asking)
        self._world.interrupt = run.interruption()
        with self._lock:
            self._run = run
            cancelled = self._cancelled
        if cancelled:
            run.cancel(cancelled)
        with suppress(BbllmError):  # the episode meets it again, and ends with it
            self._world.wait_ready(run.token)
        return execute(world)

    def _receive_approval(self, msg: EpisodeEvent) -> None:
        run = self._run
        if run is not None and msg.episode_id == run.task.id:
            run.emit(event_from_msg(msg).data)

    def _learn_body(self, reported: BodyModel) -> None:
        self._reported = reported


def _rehearsed(world: RosWorld, samples: int) -> World:
    """
    Return a world whose plans are tried in so many simulations first; itself for none.

    Negative *samples* stand for `REHEARSAL_SAMPLES` where a person approves plans. Raises
    WorldError where the executor does not report its rules in time.
    """
    if samples < 0:
        samples = REHEARSAL_SAMPLES if world.approves_plans() else 0
    if not samples:
        return world
    # Physics takes a second to import, which a planner without rehearsals need not wait for.
    from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld

    safety = world.executor_settings.envelope(CancelToken(world.check))
    return RehearsedWorld(world, RehearsalSettings(samples=samples, safety=safety))
