"""Assembles episodes: planner and models that fit, a run on their account; faults come first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from bbllm.api.config import AnyModel, AnyPlanner, EpisodeConfig
from bbllm.core.dialogue import AskingRules
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode, Event, Limits, never_of
from bbllm.core.goals import NO_GOAL
from bbllm.core.protocols import Body, ChatModel, EventSink, World
from bbllm.core.registry import PlannerSpec, fault_of, load_planner
from bbllm.core.tasks import make_task
from bbllm.core.types import Outcome, Scene, Skill, SkillCall, Status, Task
from bbllm.planners.common.methods import MappingMethod

if TYPE_CHECKING:
    from bbllm.llm.models.factory import Models
    from bbllm.planners.common.experience.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBody:
    """A Body in another process."""

    name: str
    connect: Callable[[EpisodeRun], Body]
    """Returns what asks it, on the account of an episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSetup:
    """
    A planner and models that fit each other and their world.

    `begin` assembles each episode of bbllm: in this process, in a bench and in a node.
    """

    planner: str
    """Name of the planner, with its options."""
    spec: PlannerSpec
    models: Models
    options: EpisodeConfig
    settings: Mapping[str, object]
    """JSON values that journals record."""
    memory: Memory | None = None
    """What is shown of earlier episodes; None for what the options say."""
    remote_body: RemoteBody | None = None
    """What maps steps, where the models of this process do not."""
    check: Callable[[], object] | None = None
    """Raises where the Brain shall not be waited for any more, see `CancelToken`."""
    taking_remarks: Callable[[EpisodeRun], AbstractContextManager[None]] | None = None
    """Surrounds the episode; by default `planners.assembly.with_client_log`."""

    def keeping(self, never: Sequence[object]) -> EpisodeSetup:
        """Return the same for a world with constraints, which journals record."""
        if not never:
            return self
        return replace(self, settings={**self.settings, 'never': [*map(str, never)]})

    def begin(
        self,
        task: Task,
        sinks: Sequence[EventSink] = (),
        *,
        k: int | None = None,
        goal: str | None = None,
        moves: bool = True,
        asking: AskingRules | None = None,
    ) -> tuple[EpisodeRun, Callable[[World], Episode]]:
        """
        Return an episode, and what executes it in a world, once.

        Its goal is that of the options where *goal* is None; it is checked where anything *moves*.
        *asking* is how questions of its planner are answered; None where no person gave the task.
        """
        from bbllm.planners.assembly import with_client_log
        from bbllm.planners.body.mapping import body_name, make_body
        from bbllm.planners.common.experience.memory import Memory
        from bbllm.worlds.scene.goal_keeper import goal_keeper

        models, mapping, remote = self.models, self.options.mapping, self.remote_body
        memory = self.memory or Memory.of(self.options.experience)
        run = EpisodeRun(
            replace(task, constraints=never_of(self.settings)),
            planner=self.planner,
            brain=models.brain.name,
            body=body_name(mapping, models) if remote is None else remote.name,
            limits=self.options.limits,
            sinks=sinks,
            settings=self.settings,
            keep_prompts=models.keep_prompts,
            stream=self.options.stream and moves,
            recall=memory.recall,
            notices=memory.faults,
            asking=asking,
        )
        brain = run.model(models.brain, 'brain', self.check)
        run.translate = partial(_translated, brain, task.instruction)
        body = make_body(mapping, run, models) if remote is None else remote.connect(run)
        loops = self.options.feedback_loops if k is None else k
        planner = self.spec.build(brain, body, k=loops)
        goals = goal_keeper(self.goal(goal), brain, moves=moves)
        taking_remarks = self.taking_remarks or with_client_log

        def execute(world: World) -> Episode:
            with taking_remarks(run):
                rehearsed = self.options.rehearsed(world) if moves else world
                episode = run.execute(planner, rehearsed, goals)
            if moves:
                memory.keep(episode)
            return episode

        return run, execute

    def goal(self, given: str | None = None) -> str:
        """Return what is checked at the end: what was given, else what the options say."""
        return self.options.goal if given is None else given

    def check_goal(self, observe: Callable[[], Scene], given: str | None = None) -> None:
        """Raise ConfigError where a scene cannot have the conditions that a person gave."""
        from bbllm.worlds.scene.goal_keeper import check_wanted

        check_wanted(self.goal(given), observe)

    def plan_only(self, task: Task, scene: Scene) -> Episode:
        """Run the planner on a scene in which every call succeeds and nothing moves."""
        self.check_goal(lambda: scene)
        asking = self.options.asking(attended=False)
        _, execute = self.begin(task, k=0, moves=False, asking=asking)
        return execute(StillWorld(scene))


def _translated(brain: ChatModel, task: str, report: str, language: str) -> str:
    from bbllm.planners.common.translation import translated

    return translated(brain, report, language, task)


class StillWorld:
    """A world in which every call succeeds and nothing moves."""

    def __init__(self, scene: Scene):
        self._scene = scene

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._scene.skills

    def observe(self) -> Scene:
        return self._scene

    def execute(self, call: SkillCall) -> Outcome:
        return Outcome(call=call, status=Status.SUCCEEDED)

    def stop(self) -> None:
        pass


def make_setup(options: EpisodeConfig, domain: str) -> EpisodeSetup:
    """
    Build planner and models for a kind of world, `tabletop` or `household`; nothing is started.

    Raises:
        BbllmError: They do not fit; the text contains what would have worked.
    """
    from bbllm.planners.assembly import check_brain, check_domain, check_experience

    models = make_chosen_models(options)
    name, spec = _spec_of(options.planner)
    check_domain(name, spec, domain)
    check_brain(name, models.brain)
    check_experience(name, spec, options.experience)
    return EpisodeSetup(
        planner=name,
        spec=spec,
        models=models,
        options=options,
        settings=options.settings,
    )


def make_chosen_models(options: EpisodeConfig) -> Models:
    """
    Build what plans and what maps, from config file, options and environment.

    Raises:
        ConfigError: See `llm.models.factory.make_models`.
    """
    from bbllm.core.registry import fallback_name
    from bbllm.llm.models.factory import Models, load_config
    from bbllm.planners.body.mapping import models_for

    chosen = {'brain': options.brain, 'body': options.body}
    own = {role: x for role, x in chosen.items() if not isinstance(x, str | None)}
    if own and (options.record or options.replay):
        raise ConfigError('record and replay are for models that are given by their names.')
    if own and options.mapping is not MappingMethod.EMBEDDING and options.body is None:
        own['body'] = own['brain']
    if len(own) == 2:
        return Models(own['brain'], own['body'])
    # The name in place of a model that was given is never asked.
    made = models_for(
        options.mapping,
        load_config(options.llm_config),
        brain=options.brain if isinstance(options.brain, str | None) else fallback_name(),
        body=options.body if isinstance(options.body, str | None) else fallback_name(),
        record=options.record,
        replay=options.replay,
    )
    return replace(made, brain=own.get('brain', made.brain), body=own.get('body', made.body))


def run_episode(
    task: str | Task,
    planner: AnyPlanner,
    world: World,
    *,
    brain: AnyModel | None = None,
    body: AnyModel | None = None,
    feedback_loops: int | None = None,
    limits: Limits | None = None,
    goal: str = NO_GOAL,
    on_event: Callable[[Event], None] | None = None,
) -> Episode:
    """
    Run a planner on a task in a world, and return the record of it.

    A step that fails, a refusal of the planner and a model that cannot be reached are endings of
    the episode, not exceptions: see `Episode.ending` and `Episode.message`.

    Args:
        task: What to do, in plain words.
        planner: Its name, with or without options (`llm_state:states=no`), its spec, or its
            class, which is called as `planner(brain, body, k=feedback_loops)`.
        world: Where to do it: a `Robot`, or anything with the methods of `World`.
        brain: Model that plans: a name, `offline`, or a `ChatModel`. None takes what
            config/llm.yaml and the environment say.
        body: Model that turns steps into calls; where it is None, a `ChatModel` that is the
            Brain is also the Body.
        feedback_loops: How often the planner may repair its plan (K), 3 by default.
        limits: What the episode may use.
        goal: What the scene must show at the end for FINISHED: conditions such as
            `on(red_cube, blue_cube)`, `auto` to let the Brain read them from the task, or `no`.
        on_event: Called with each event, in this thread.

    Raises:
        BbllmError: Something that was asked for cannot be had; nothing has moved.
    """
    task = make_task(task) if isinstance(task, str) else task
    chosen = {'brain': brain, 'body': body, 'feedback_loops': feedback_loops, 'limits': limits}
    options = EpisodeConfig.of({'planner': planner, 'goal': goal, **chosen})
    setup = make_setup(options, world.observe().domain)
    setup = replace(setup, settings={'feedback_loops': options.feedback_loops})
    setup.check_goal(world.observe)
    _, execute = setup.begin(task, [on_event] if on_event is not None else [])
    return execute(world)


def _spec_of(planner: AnyPlanner) -> tuple[str, PlannerSpec]:
    if isinstance(planner, str):
        return planner, load_planner(planner)
    spec = planner if isinstance(planner, PlannerSpec) else PlannerSpec(factory=planner)
    if fault := fault_of(spec):
        raise ConfigError(
            f'The planner cannot be used: {fault}. Give its name (`bbllm run --help-all` lists '
            'them), its class, or a function that is called as planner(brain, body, k=3) and '
            'returns it.'
        )
    return getattr(spec.factory, '__name__', type(spec.factory).__name__), spec
