"""What a `Robot` drives: a world in this process, or a running ROS 2 stack."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from bbllm.api.approved_world import Approve, ApprovedWorld
from bbllm.api.ros_environment import need_ros
from bbllm.api.setup import EpisodeSetup
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, TaskError
from bbllm.core.events import Episode, EpisodeEnded, EpisodeStarted, Event, PlanMade
from bbllm.core.journal import JournalWriter, episode_of, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import EventSink, Planner, World
from bbllm.core.types import Outcome, Plan, Scene, Skill, SkillCall, Task

if TYPE_CHECKING:
    from bbllm.ros.stack.client import StackClient

READY_S = 15.0
"""How long the nodes of a stack may take to answer, wall clock [s]."""


class Running(Protocol):
    """An episode that can be executed once, and stopped from any thread."""

    def execute(self) -> Episode:
        """Run the episode to its end."""
        ...

    def cancel(self, reason: str) -> None:
        """Stop it."""
        ...


class Backend(World, Protocol):
    """A world that can also plan and run episodes."""

    def begin(self, task: Task, on_event: EventSink) -> Running:
        """Return an episode; `on_event` may be called from any thread."""
        ...

    def plan(self, task: Task) -> Plan:
        """Return the plan of a task; nothing moves."""
        ...

    def close(self) -> None:
        """Release what is in use."""
        ...


class LocalBackend:
    """A world in this process."""

    def __init__(
        self,
        world: World,
        setup: EpisodeSetup,
        stack: ExitStack,
        *,
        approve: Approve | None,
        journal: bool,
    ):
        self._world = world
        self._setup = setup
        self._stack = stack
        self._approve = approve
        self._journal = journal

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._world.skills

    def observe(self) -> Scene:
        return self._world.observe()

    def execute(self, call: SkillCall) -> Outcome:
        return self._world.execute(call)

    def stop(self) -> None:
        self._world.stop()

    def begin(self, task: Task, on_event: EventSink) -> Running:
        sinks: list[EventSink] = [on_event]
        world = self._world
        if self._approve is not None:
            brain = self._setup.models.brain.name
            world = guarded = ApprovedWorld(world, self._approve, task, brain)
            sinks.append(guarded.observe_event)
        files = ExitStack()
        if self._journal:
            sinks.append(files.enter_context(JournalWriter(episodes_dir(), task.id)))
        run, planner = self._setup.begin(task, sinks)
        if isinstance(world, ApprovedWorld):
            world.emit = run.emit
        return _LocalRun(run, planner, world, files)

    def plan(self, task: Task) -> Plan:
        episode = self._setup.plan_only(task, self._world.observe())
        plans = [event.data.plan for event in episode.events if isinstance(event.data, PlanMade)]
        if not plans:
            raise TaskError(f'There is no plan. {episode.message}'.rstrip())
        return plans[-1]

    def close(self) -> None:
        self._stack.close()


class _LocalRun:
    def __init__(self, run: EpisodeRun, planner: Planner, world: World, files: ExitStack):
        self._run = run
        self._planner = planner
        self._world = world
        self._files = files

    def execute(self) -> Episode:
        from bbllm.planners.assembly import heard_by

        with self._files, heard_by(self._run):
            return self._run.execute(self._planner, self._world)

    def cancel(self, reason: str) -> None:
        self._run.cancel(reason)


class StackBackend:
    """
    A running stack: its own planner, models and robot.

    Raises:
        ConfigError: There is no ROS in this environment.
        LostNodeError: No stack runs under the namespace, or not all of it.
    """

    def __init__(self, namespace: str, feedback_loops: int | None):
        need_ros("Robot('ros')")
        from bbllm.ros.stack.client import StackClient
        from bbllm.ros.stack.stack import REAL_NODES

        self._loops = -1 if feedback_loops is None else feedback_loops
        self._client = StackClient(namespace)
        try:
            self._client.wait_ready(REAL_NODES, READY_S)
        except BaseException:
            self._client.close()
            raise

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self.observe().skills

    def observe(self) -> Scene:
        return self._client.scene()

    def execute(self, call: SkillCall) -> Outcome:
        return self._client.execute(call)

    def stop(self) -> None:
        self._client.cancel()

    def begin(self, task: Task, on_event: EventSink) -> Running:
        return _StackRun(self._client, task, on_event, self._loops)

    def plan(self, task: Task) -> Plan:
        raise ConfigError(
            "A stack plans with models of its own, and moves. For a plan alone use Robot('sim')"
            '.plan(...), or `bbllm plan --ros`, which plans here on the scene of the stack.'
        )

    def close(self) -> None:
        self._client.close()


class _StackRun:
    def __init__(self, client: StackClient, task: Task, on_event: EventSink, loops: int):
        self._client = client
        self._task = task
        self._on_event = on_event
        self._loops = loops

    def execute(self) -> Episode:
        events: list[Event] = []

        def hear(event: Event) -> None:
            events.append(event)
            self._on_event(event)

        result = self._client.run_task(
            self._task.instruction,
            episode_id=self._task.id,
            feedback_loops=self._loops,
            on_event=hear,
        )
        if result.refused:
            raise TaskError(result.message)
        if (
            events
            and isinstance(events[0].data, EpisodeStarted)
            and isinstance(events[-1].data, EpisodeEnded)
        ):
            return episode_of(events)
        return read_episode(episodes_dir() / f'{self._task.id}.jsonl')

    def cancel(self, reason: str) -> None:
        self._client.cancel()
