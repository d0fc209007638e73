"""The front door: one object for a robot, simulated here or behind a ROS 2 stack."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import Unpack

from bbllm.api.approved_world import Approve
from bbllm.api.chat import Chat
from bbllm.api.config import (
    HOUSE,
    EpisodeConfig,
    EpisodeOptions,
    check_world,
    kind_of,
    no_world,
    worlds,
)
from bbllm.api.local_session import LocalSession, need_approval
from bbllm.api.ros_environment import need_ros
from bbllm.api.session import Session, run_in_thread
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import ConfigError, ParseError, TaskError, WorldError
from bbllm.core.events import Episode, Event, QuestionAsked
from bbllm.core.plugins import load_part
from bbllm.core.protocols import World, WorldFeatures, features_of
from bbllm.core.tasks import make_remark, make_task
from bbllm.core.types import Outcome, Plan, Scene, Skill, SkillCall

OnQuestion = Callable[[QuestionAsked], str]
"""Returns the answer of a person to a question of the planner."""
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
        world: `sim`: an FR3 at a table, simulated in this process. `fr3`: a Franka Research 3
            over libfranka, with `ip` and `scene` (extra `franka`). `household`: a house of
            symbols. `ros`: the stack that `bbllm up sim` or a launch file started. Or a `World`.
        approve: Asked before a plan moves anything, with an `ApprovalRequest` (`title`, `lines`,
            `reason`); a plan that is denied does not move the robot. Returns whether it may, or an
            `Answer` with who says so and why not. It is asked again for each repaired plan, and
            for a call that its step does not name. `execute` does not ask, but for a real arm.
            A real arm needs it.
        on_question: Called with a question of the planner (`text`, `options`) in a thread of its
            own; returns the answer, '' to leave it to `say`. Without it, planners are informed
            that nobody answers, unless the option `ask` or `answer` is given.
        journal: Whether episodes are recorded for `bbllm show`; those of an arm that is simulated
            here with its motion, an MCAP file beside the journal.
        namespace: ROS namespace of a stack; `bbllm_real` for a real arm.
        options: Fields of `EpisodeConfig`, such as `scene`, `planner`, `brain`, `feedback_loops`,
            `goal`, `speed`, `sources`, `never` or `rehearse`; docs/python.md lists them. None
            stands for the default. A running stack has its own, but for `feedback_loops` and
            `goal`.

    Raises:
        BbllmError: Something that was asked for cannot be had; the text contains what can.
    """

    def __init__(
        self,
        world: str | World = 'sim',
        *,
        approve: Approve | None = None,
        on_question: OnQuestion | None = None,
        journal: bool = True,
        namespace: str | None = None,
        **options: Unpack[EpisodeOptions],
    ):
        self._busy = threading.Lock()
        kind = kind_of(world) if isinstance(world, str) else 'given'
        config = _config_of(world, kind, options)
        self._session: Session = (
            _stack(namespace, config, approve)
            if kind == 'ros'
            else _here(world, config, approve, namespace, journal=journal)
        )
        self._on_question = on_question
        self._session.attended = on_question is not None

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._session.world.skills

    @property
    def features(self) -> WorldFeatures:
        """What its world can do beyond the methods of every `World`."""
        return features_of(self._session.world)

    @property
    def episode(self) -> Episode | None:
        """The record of the last task; None before the first has ended."""
        return self._session.episode

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
        assert self.episode is not None
        return self.episode

    def events(self, task: str, *, goal: str | None = None) -> Generator[Event, None, None]:
        """
        Do a task and yield each event as it happens; `episode` has the record afterwards.

        The episode starts with the first `next`. To leave the iterator (`break` and `close()`)
        stops the robot. Raises as `do`.
        """
        if not self._busy.acquire(blocking=False):
            raise WorldError('The robot does another task; wait for its end, or call stop().')
        try:
            for event in self._session.events(make_task(task), goal=goal):
                self._pass_on(event)
                yield event
        finally:
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
        running = self._session.running
        if running is None:
            raise TaskError('No task is under way that a remark could be for. do() begins one.')
        return running.say(make_remark(text), wait_s, '')

    def chat(self, on_event: Callable[[Event], None] = lambda event: None) -> Chat:
        """
        Return a conversation: its `say(text)` takes a task, a question, a correction or an answer.

        Each turn is given with those before it, which `do` adds to as well. *on_event* is called
        with each event, from any thread. Questions of the planner go to `on_question`, too.
        """

        def receive(event: Event) -> None:
            on_event(event)
            self._pass_on(event)

        return Chat(self._session, receive)

    def _pass_on(self, event: Event) -> None:
        if isinstance(event.data, QuestionAsked) and self._on_question is not None:
            run_in_thread(partial(self._answer, self._on_question, event.data))

    def _answer(self, on_question: OnQuestion, question: QuestionAsked) -> None:
        if answer := on_question(question):
            running = self._session.running
            if running is not None:
                with suppress(TaskError):  # somebody else was faster
                    running.say(make_remark(answer), 0.0, '', question.text)

    def plan(self, task: str) -> Plan:
        """
        Return the plan for a task; nothing moves.

        Nothing is tried, so steps of the plan may still fail.

        Raises:
            TaskError: There is no plan; with the reason.
        """
        return self._session.plan(make_task(task))

    def observe(self) -> Scene:
        """
        Return the scene as it is now: objects, skills and facts.

        Raises:
            WorldError: The world has gone, or its scene is stale.
        """
        return self._session.world.observe()

    def execute(self, call: SkillCall | str) -> Outcome:
        """
        Execute one call to its end: `SkillCall('pick', ('red_cube',))` or `'pick(red_cube)'`.

        A call that fails or is refused is an `Outcome`, with a code and a sentence.

        Raises:
            ParseError: The text is no call.
            WorldError: The world has gone.
        """
        return self._session.execute(_call_of(call) if isinstance(call, str) else call)

    def stop(self) -> None:
        """Stop the call that runs now, from any thread; the hand keeps its object."""
        self._session.world.stop()

    def picture(self) -> bytes:
        """Draw the scene as it is now, from above, as a PNG file, which notebooks show."""
        return Png(load_part('bbllm.pictures', 'scene')(self.observe()))

    def close(self) -> None:
        """Release the simulation, or leave the graph; the robot is of no use afterwards."""
        self._session.close()

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _config_of(world: str | World, kind: str, options: EpisodeOptions) -> EpisodeConfig:
    """Return what was chosen for a kind of world; raises BbllmError where it has none of it."""
    if isinstance(world, str) and world not in worlds():
        raise no_world(world)
    config = EpisodeConfig.of(options)
    check_world(kind, options)
    if kind == 'arm':
        return config.on_arm(str(world))
    if kind != 'household':
        return config
    return config.model_copy(update={'house': config.house or _house_of(config)})


def _house_of(config: EpisodeConfig) -> str:
    return config.scene if 'scene' in config.model_fields_set else HOUSE


def _stack(namespace: str | None, config: EpisodeConfig, approve: Approve | None) -> Session:
    if approve is not None:
        raise ConfigError(
            'A running stack asks for approval itself: start it with `bbllm up sim --approval '
            "plan`, and answer with `bbllm approve`. Robot('sim', approve=...) takes a function."
        )
    need_ros("Robot('ros')")
    join = load_part('bbllm.stacks', 'join')
    session: Session = join(namespace or NAMESPACE, config.of_task)
    return session


def _here(
    world: str | World,
    config: EpisodeConfig,
    approve: Approve | None,
    namespace: str | None,
    *,
    journal: bool,
) -> LocalSession:
    """Return a world in this process with its planner and models; raises BbllmError."""
    if namespace is not None:
        raise ConfigError("namespace is for a running stack: Robot('ros', namespace=...).")
    has_arm = world == 'sim' or bool(config.robot)
    if config.robot and not config.simulated_robot:
        need_approval(approve)  # before it connects
    config = config.model_copy(
        update={'rehearse': config.samples(approved=has_arm and approve is not None)}
    )
    if isinstance(world, str):
        domain = config.domain
    else:
        domain = world.observe().domain
        config = config.model_copy(update={'scene': type(world).__name__})
    setup = make_setup(config, domain)
    for notice in setup.models.notices:
        logging.getLogger('bbllm').warning(notice)
    sample, approved = None, False
    never = config.constraints if has_arm else ()
    with ExitStack() as stack:
        if isinstance(world, str):
            stage = stack.enter_context(open_stage(config))
            world, sample, approved = stage.world, stage.record, stage.approved
        close = ExitStack()
        session = LocalSession(
            world,
            setup,
            approve=approve,
            arm=approved,
            journal=journal,
            close=close.close,
            record=sample,
            never=never,
            kept_out=config.kept_out if has_arm else (),
        )
        close.push(stack.pop_all())  # only a session that was made keeps the world open
        return session


def _call_of(text: str) -> SkillCall:
    found = CALL.fullmatch(text)
    if found is None:
        raise ParseError(
            f'{text[:80]!r} is no call. A call is a skill with its arguments, such as '
            "'pick(red_cube)', 'place(location_B)' or 'return_to_base()'."
        )
    parts = (part.strip() for part in (found['args'] or '').split(','))
    return SkillCall(found['skill'], tuple(filter(None, parts)))
