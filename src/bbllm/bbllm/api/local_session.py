"""A world in this process as a session: planner, models, approvals and journals around it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.api.approved_world import Approve, ApprovedWorld
from bbllm.api.session import Running, Seen, Session
from bbllm.api.setup import EpisodeSetup
from bbllm.core.approval import Answer, ApprovalMode, ApprovalQueue, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.conversation import Conversation, Turn
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, TaskError
from bbllm.core.events import Ending, Episode, EpisodeEnded, Event, PlanMade
from bbllm.core.journal import JournalWriter
from bbllm.core.observation import Observed
from bbllm.core.paths import episodes_dir
from bbllm.core.plugins import load_part
from bbllm.core.protocols import EventSink, World
from bbllm.core.tasks import make_remark, make_task
from bbllm.core.types import Outcome, Plan, Scene, SkillCall, Task

if TYPE_CHECKING:
    from bbllm.bags.motion import MotionWriter
    from bbllm.skills.constraints import Never

Record = Callable[[Path], AbstractContextManager['MotionWriter']]
"""Writes how arm and objects move beside a journal."""
ANSWER_S = 3600.0
"""How long a plan waits for a person, wall clock [s]."""


def need_approval(approve: Approve | None) -> None:
    """Raise ConfigError where nobody would be asked before a real arm moves."""
    if approve is None:
        raise ConfigError(
            'A real arm moves after a person has approved: give approve=..., a function that asks '
            'one. A simulated robot moves without it: simulated_robot=True.'
        )


def running_of(
    run: EpisodeRun, execute: Callable[[], Episode], journal: JournalWriter | None = None
) -> Running:
    """Return an episode of this process, as a session hands it out."""
    return Running(
        task=run.task,
        execute=execute,
        cancel=run.cancel,
        say=lambda text, wait_s, by, question='': run.add_feedback(text, by, question).wait(
            wait_s
        ),
        warn=run.warn,
        leave=lambda reason: run.emit(EpisodeEnded(Ending.CANCELLED, reason)),
        journal=journal,
    )


class LocalSession(Session):
    """
    A world in this process, which stays as it is between tasks.

    Args:
        world: The world.
        setup: Planner and models.
        approve: Asked before a plan moves anything, see `Robot`; None for no question.
        asks: Whether plans wait in `approvals`, in place of *approve*.
        arm: Whether a real arm moves: then no program may answer in `approvals`, and `execute`
            asks, too.
        journal: Whether episodes are recorded.
        record: Writes how arm and objects move beside a journal; None where nothing can be
            sampled.
        never: Constraints of the world, which plans are shown with.
        kept_out: Space that the world refuses to enter, in words; planners are told both.
        snapshot: Returns where the arm and the objects are; None where nothing can be sampled.
        close: Releases what is in use.
    """

    approvals: ApprovalQueue

    def __init__(
        self,
        world: World,
        setup: EpisodeSetup,
        *,
        approve: Approve | None = None,
        asks: bool = False,
        arm: bool = False,
        journal: bool = True,
        record: Record | None = None,
        never: tuple[Never, ...] = (),
        kept_out: tuple[str, ...] = (),
        snapshot: Callable[[], Seen] = Seen,
        close: Callable[[], object] = lambda: None,
        name: str = '',
    ):
        super().__init__()
        self.world = world
        self.name = name
        self._setup = setup.keeping((*never, *kept_out))
        self.approvals = ApprovalQueue(timeout_s=ANSWER_S, simulated=not arm)
        self._approve = self._ask if asks else approve
        if arm:
            need_approval(self._approve)
        self._asks_for_calls = arm
        self._journal, self._record, self._never = journal, record, never
        self._snapshot, self._close = snapshot, close
        self._conversation = Conversation(setup.options.turns)
        self._scene: Scene | None = None
        self._waiting = CancelToken()
        """Ends the question that waits."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The tasks so far; see `Session`."""
        return self._conversation.turns

    def begin(self, task: Task, on_event: EventSink, *, goal: str | None = None) -> Running:
        """Return an episode; see `Session`."""
        self._setup.check_goal(self.world.observe, goal)
        task = self._conversation.given_to(task)
        asking = self._setup.options.asking(attended=self.attended)

        def receive(event: Event) -> None:
            on_event(event)
            if self._listener is not None:
                if isinstance(event.data, Observed):
                    # In the thread that has just observed, so the world is not moving.
                    self._scene = self.world.observe()
                self._listener(task.id, event)

        files, journal, sinks = ExitStack(), None, list[EventSink]()
        world = self.world
        if self._journal:
            # First, so that what is shown is on record.
            journal = files.enter_context(JournalWriter(episodes_dir(), task.id))
            sinks.append(journal)
            if self._setup.options.samples():
                sinks.append(load_part('bbllm.pictures', 'predicted')(journal.path))
            if self._record is not None:
                files.enter_context(self._record(journal.path))
        sinks.append(receive)
        if self._approve is not None:
            brain = self._setup.models.brain.name
            world = guarded = ApprovedWorld(world, self._approve, task, brain, self._never)
            sinks.append(guarded.observe_event)
        run, execute_in = self._setup.begin(task, sinks, goal=goal, asking=asking)
        waiting = self._waiting = CancelToken(run.interruption())
        if isinstance(world, ApprovedWorld):
            world.emit, world.interrupt = run.emit, run.interruption()

        def execute() -> Episode:
            with files:
                episode = execute_in(world)
            self._conversation.add(episode)
            return episode

        def cancel(reason: str) -> None:
            waiting.cancel(reason)
            run.cancel(reason)

        return replace(running_of(run, execute, journal), cancel=cancel)

    def say(self, text: str, wait_s: float, question: str = '') -> str:
        """Send a remark; see `Session`."""
        running = self.running
        if running is None or not running.is_under_way:
            raise TaskError('There is no task under way that a remark could be for.')
        return running.say(make_remark(text), wait_s, '', question)

    def stop(self, reason: str) -> None:
        """Stop the task under way; see `Session`."""
        if self.running is not None:
            self.running.cancel(reason)

    def execute(self, call: SkillCall) -> Outcome:
        """Execute a call of a program; see `Session`."""
        world = self.world
        if self._asks_for_calls and self._approve is not None:
            task, by = make_task(f'Execute {call}.'), 'a program'
            world = ApprovedWorld(
                world, self._approve, task, by, self._never, mode=ApprovalMode.STEP
            )
        return world.execute(call)

    def plan(self, task: Task) -> Plan:
        """Return the plan of a task; TaskError with the reason where there is none."""
        episode = self._setup.plan_only(task, self.world.observe())
        plans = [event.data.plan for event in episode.events if isinstance(event.data, PlanMade)]
        if not plans:
            raise TaskError(f'There is no plan. {episode.message}'.rstrip())
        return plans[-1]

    def snapshot(self) -> Seen:
        """Return where the arm and the objects are; the scene is that of the last observation."""
        return self._snapshot()._replace(scene=self._scene)

    def close(self) -> None:
        """Release what is in use."""
        self._close()

    def _ask(self, request: ApprovalRequest) -> Answer:
        return self.approvals.ask(request, self._waiting)
