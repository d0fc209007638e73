"""The front door: one object for a robot, simulated here or behind a ROS 2 stack."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue

from bbllm.api.approved_world import Approve
from bbllm.api.backends import LocalBackend, Running, StackBackend, run_in_thread
from bbllm.api.options import (
    FEEDBACK_LOOPS,
    GOAL,
    HOUSE,
    PLANNER,
    SCENE,
    STEPS,
    WORLDS,
    AnyModel,
    AnyPlanner,
    EpisodeOptions,
    no_world,
)
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.core.constants import NAMESPACE, REHEARSAL_SAMPLES
from bbllm.core.errors import ConfigError, ParseError, TaskError, WorldError
from bbllm.core.events import Episode, Event, Limits
from bbllm.core.protocols import World, WorldFeatures, features_of
from bbllm.core.tasks import make_remark, make_task
from bbllm.core.types import Outcome, Plan, Scene, Skill, SkillCall
from bbllm.scene.sources import NO_TROUBLE, TRUTH, Sources, TroubleName

OF_SIMULATIONS = (
    *('scene', 'sources', 'trouble', 'planner', 'brain', 'body', 'speed', 'seed', 'limits'),
    *('approve', 'stream', 'record', 'replay', 'safety', 'never', 'keep_out', 'rehearse'),
    'memory',
)
"""What cannot be chosen for a running stack any more."""
GRACE_S = 5.0
"""How long an episode that was cancelled may take to end, wall clock [s]."""
CALL = re.compile(r'\s*(?P<skill>\w+)\s*(?:\((?P<args>[^()]*)\))?\s*')


class Png(bytes):
    """A PNG file, which notebooks show as a picture."""

    def __repr__(self) -> str:
        return f'<PNG of {len(self)} bytes>'

    def _repr_png_(self) -> bytes:
        return bytes(self)


class Robot:
    """
    A robot that does tasks given in plain words.

        with Robot('sim') as robot:
            episode = robot.do('stack the red cube on the blue cube')
            print(episode.ending.name)

    The world stays as it is between tasks. A `Robot` is also a `World`: `run_episode` and worlds
    that wrap another one take it.

    Args:
        world: `sim`: an FR3 at a table, simulated in this process. `household`: a house of
            symbols. `ros`: the stack that `bbllm up sim` or a launch file started. Or a `World`.
        scene: Name or file of the scene (`bbllm scenes` lists them); of the house in a household.
        sources: Where scenes of the simulated table come from: `truth`, the simulator's state, or
            `camera`, pictures of simulated cameras alone. `truth` by default.
        trouble: With `camera`, what makes pictures harder to use: `light`, `clutter` (unknown
            objects) or `moved` (cameras 5 mm from where their calibration has them).
        planner: Name of the planner, its spec, or its class; see `run_episode`.
        brain: Model that plans: a name, `offline`, or a `ChatModel`. None takes what
            config/llm.yaml and the environment say.
        body: Model that turns steps into calls; as the Brain.
        feedback_loops: How often the planner may repair a plan; 3 by default, in a stack what
            that was started with.
        speed: Simulated seconds per second; 0 is as fast as the simulation runs.
        seed: Of the noise of the sensors.
        limits: What each episode may use; 200 calls by default.
        goal: What is checked at the end of each task: `auto` lets the Brain read it from the task,
            `no` checks nothing; see `do`. `auto` by default, in a stack what that was started
            with.
        approve: Asked before a plan moves anything, with an `ApprovalRequest` (`title`, `lines`,
            `reason`); a plan that is denied does not move the robot. Returns whether it may, or an
            `Answer` with who says so and why not. It is asked again for each repaired plan, and
            for a call that its step does not name. `execute` does not ask.
        stream: Whether a plan begins while its model still writes it, and steps are mapped while
            the arm moves; True by default. Not while a person approves plans, nor in a recording.
        record: Record the conversation with the models in this new file.
        replay: Answer from such a file; no model is asked.
        safety: File with the safety rules of a simulated arm; config/safety.yaml by default.
        never: What no call and no motion may do, in plain words: `touch the blue cylinder`,
            `move any cube`, `place anything on location_A`. What would is refused with the reason.
        keep_out: Boxes that nothing may enter, each by two corners: `x y z x y z` [m].
        rehearse: Whether each plan is tried first in simulations of the table, in three or in a
            number of them, and repaired where it fails there; by default where *approve* is given.
        memory: Ledger whose failures the planner `brain_body:memory=yes` shows its Brain; `bbllm
            show --failures --out FILE` makes one.
        journal: Whether episodes are recorded for `bbllm show`; those of an arm that is simulated
            here with its motion, an MCAP file beside the journal.
        namespace: Of the stack; `bbllm_real` for a real arm.

    Raises:
        BbllmError: Something that was asked for cannot be had; the text contains what can.
    """

    def __init__(
        self,
        world: str | World = 'sim',
        *,
        scene: str | Path | None = None,
        sources: Sources | None = None,
        trouble: TroubleName | None = None,
        planner: AnyPlanner | None = None,
        brain: AnyModel | None = None,
        body: AnyModel | None = None,
        feedback_loops: int | None = None,
        speed: float | None = None,
        seed: int | None = None,
        limits: Limits | None = None,
        goal: str | None = None,
        approve: Approve | None = None,
        stream: bool | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        safety: str | Path | None = None,
        never: str | Sequence[str] | None = None,
        keep_out: str | Sequence[str] | None = None,
        rehearse: bool | int | None = None,
        memory: str | Path | None = None,
        journal: bool = True,
        namespace: str | None = None,
    ):
        self._episode: Episode | None = None
        self._busy = threading.Lock()
        self._running: Running | None = None
        self._backend: StackBackend | LocalBackend
        if world == 'ros':
            early = (scene, sources, trouble, planner, brain, body, speed, seed, limits)
            late = (approve, stream, record, replay, safety, never, keep_out, rehearse, memory)
            pairs = zip(OF_SIMULATIONS, (*early, *late), strict=True)
            if names := [name for name, value in pairs if value is not None]:
                raise ConfigError(
                    f'A running stack cannot take {", ".join(names)} any more: these are options '
                    "of `bbllm up` and of the launch files. Robot('sim') takes them."
                )
            self._backend = StackBackend(namespace or NAMESPACE, feedback_loops, goal)
            return
        if namespace is not None:
            raise ConfigError("namespace is for a running stack: Robot('ros', namespace=...).")
        name = world if isinstance(world, str) else ''
        if name not in ('', *WORLDS):
            raise no_world(name)
        if not name and any(x is not None for x in (scene, sources, trouble, speed, seed)):
            raise ConfigError(
                'scene, sources, trouble, speed and seed belong to the world that was given.'
            )
        if name != 'sim' and any((safety, never, keep_out)):
            raise ConfigError(
                "safety, never and keep_out are for an arm that is simulated here: Robot('sim', "
                'never=...).'
            )
        if name != 'sim' and rehearse:
            raise ConfigError(
                "rehearse is for an arm that is simulated here: Robot('sim', rehearse=True)."
            )
        if rehearse is None:
            rehearse = name == 'sim' and approve is not None
        house = str(scene or HOUSE) if name == 'household' else ''
        options = EpisodeOptions(
            scene=str(scene or SCENE) if name == 'sim' else type(world).__name__,
            house=house,
            sources=sources or TRUTH,
            trouble=trouble or NO_TROUBLE,
            planner=planner or PLANNER,
            brain=brain,
            body=body,
            k=FEEDBACK_LOOPS if feedback_loops is None else feedback_loops,
            seed=seed,
            speed=speed,
            limits=limits or Limits(steps=STEPS),
            stream=stream is not False,
            goal=GOAL if goal is None else goal,
            safety='' if safety is None else str(safety),
            never=_texts(never),
            keep_out=_texts(keep_out),
            rehearse=REHEARSAL_SAMPLES if rehearse is True else int(rehearse),
            record=None if record is None else Path(record),
            replay=None if replay is None else Path(replay),
            memory=None if memory is None else Path(memory),
        )
        domain = options.domain if isinstance(world, str) else world.observe().domain
        setup = make_setup(options, domain)
        for notice in setup.models.notices:
            logging.getLogger('bbllm').warning(notice)
        stack, sample = ExitStack(), None
        kept = options.constraints if name == 'sim' else ()
        if isinstance(world, str):
            stage = stack.enter_context(open_stage(options))
            world, sample = stage.world, stage.record
        self._backend = LocalBackend(
            world=world,
            setup=setup.keeping(kept),
            approve=approve,
            journal=journal,
            close=stack.close,
            record=sample,
            never=kept,
        )

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._backend.world.skills

    @property
    def features(self) -> WorldFeatures:
        """What its world can do beyond the methods of every `World`."""
        return features_of(self._backend.world)

    @property
    def episode(self) -> Episode | None:
        """The record of the last task; None before the first has ended."""
        return self._episode

    def do(
        self,
        task: str,
        *,
        goal: str | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> Episode:
        """
        Do a task and return the record of it, whether or not it was finished.

        Ctrl-C stops the robot, which keeps its grip, and raises KeyboardInterrupt;
        `episode` then has the record.

        Args:
            task: What to do, in plain words.
            goal: What the scene must show at the end: conditions, such as
                `on(red_cube, blue_cube)`; `no` for no check. By default the Brain reads them from
                the task, as `Robot(goal=...)` says. `Episode.goal` is `met`, `unmet` or
                `not checked`, and only the first or the last go with FINISHED.
            on_event: Called with each event as it happens, in this thread.

        Raises:
            TaskError: The task is empty or too long, or the stack refused it.
            ConfigError: The goal cannot be read, or names what is not in the scene.
            BbllmError: The journal cannot be written, or the stack has gone.
        """
        with closing(self.events(task, goal=goal)) as events:
            for event in events:
                if on_event is not None:
                    on_event(event)
        assert self._episode is not None
        return self._episode

    def events(self, task: str, *, goal: str | None = None) -> Generator[Event, None, None]:
        """
        Do a task and yield each event as it happens; `episode` has the record afterwards.

        The episode starts with the first `next`. To leave the iterator (`break` and `close()`)
        stops the robot. Raises as `do`.
        """
        if not self._busy.acquire(blocking=False):
            raise WorldError('The robot does another task; wait for its end, or call stop().')
        try:
            queue = SimpleQueue[Event | None]()
            running = self._running = self._backend.begin(make_task(task), queue.put, goal)
            future = run_in_thread(running.execute)
            future.add_done_callback(lambda _: queue.put(None))
            try:
                while (event := queue.get()) is not None:
                    yield event
            finally:
                if not future.done():
                    running.cancel('The program stopped the task.')
                    wait((future,), GRACE_S)
                if future.done():
                    self._episode = future.result()
        finally:
            self._running = None
            self._busy.release()

    def say(self, text: str, *, wait_s: float = 0.0) -> str:
        """
        Add to the task under way, from any thread: `no wait, put it on location_B`.

        The plan changes after the call that runs now, and the goal that is checked follows. A
        request to a model and a question for approval are begun anew.

        Returns:
            What became of it, or what was still waited for after *wait_s*, wall clock [s].

        Raises:
            TaskError: No task is under way, the text cannot be taken, or it comes too late.
        """
        running = self._running
        if running is None:
            raise TaskError('No task is under way that a remark could be for. do() begins one.')
        return running.say(make_remark(text), wait_s)

    def plan(self, task: str) -> Plan:
        """
        Return the plan for a task; nothing moves.

        Nothing is tried, so steps of the plan may still fail.

        Raises:
            TaskError: There is no plan; with the reason.
        """
        return self._backend.plan(make_task(task))

    def observe(self) -> Scene:
        """
        Return the scene as it is now: objects, skills and facts.

        Raises:
            WorldError: The world has gone, or its scene is stale.
        """
        return self._backend.world.observe()

    def execute(self, call: SkillCall | str) -> Outcome:
        """
        Execute one call to its end: `SkillCall('pick', ('red_cube',))` or `'pick(red_cube)'`.

        A call that fails or is refused is an `Outcome`, with a code and a sentence.

        Raises:
            ParseError: The text is no call.
            WorldError: The world has gone.
        """
        return self._backend.world.execute(_call_of(call) if isinstance(call, str) else call)

    def stop(self) -> None:
        """Stop the call that runs now, from any thread; the hand keeps its object."""
        self._backend.world.stop()

    def picture(self) -> bytes:
        """Draw the scene as it is now, from above, as a PNG file, which notebooks show."""
        from bbllm_viewer.viz.png import to_png
        from bbllm_viewer.viz.sheet import draw_alone

        return Png(to_png(draw_alone(self.observe()), scale=1.0))

    def close(self) -> None:
        """Release the simulation, or leave the graph; the robot is of no use afterwards."""
        self._backend.close()

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _texts(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _call_of(text: str) -> SkillCall:
    found = CALL.fullmatch(text)
    if found is None:
        raise ParseError(
            f'{text[:80]!r} is no call. A call is a skill with its arguments, such as '
            "'pick(red_cube)', 'place(location_B)' or 'return_to_base()'."
        )
    parts = (part.strip() for part in (found['args'] or '').split(','))
    return SkillCall(found['skill'], tuple(filter(None, parts)))
