"""BrainBody-LLM: one model plans, one acts, failures go back to the first (Algorithm 1)."""

from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial

from bbllm.core.errors import BrokenPlanError, ParseError, SpokenError
from bbllm.core.events import RepairBegun, remarks_text
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    PromptRequest,
    ScenePicture,
    StepFailure,
    StreamingModel,
    World,
    features_of,
)
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Plan, PlanStep, Scene, Task
from bbllm.planners.brain_body.attempts import PlanRehearsal, attempt, leave, unfinished
from bbllm.planners.brain_body.house_body import body_in
from bbllm.planners.brain_body.prompting import FeedbackForm, Prompts
from bbllm.planners.common.belief.belief_world import Estimation, believing
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.low_level_hands import failure_cause
from bbllm.planners.common.model_planner import (
    ModelPlanner,
    PictureUse,
    images,
    picture_for,
    sentence,
)
from bbllm.planners.common.plan_grammar import (
    PartialPlan,
    first_steps,
    parse_partial_plan,
    plan_form,
)
from bbllm.planners.common.plan_mapper import PlanMapper
from bbllm.planners.common.written_plan import Read, WrittenPlan, plan_stream

ADDED = 'Before this step something was added to the task.'
"""The cause of a repair for a remark; the words are part of the task."""
REHEARSAL_LOOPS = 3
"""How often a plan is repaired after a rehearsal before it is carried out."""


@dataclass(frozen=True, slots=True)
class BrainBodyOptions:
    """Options of the planner."""

    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""
    map_ahead: bool = True
    """Whether steps that already are calls are read without a model, and the others of a plan
    mapped in one request; if not, the Body is asked for each step, as in the paper."""
    open_state: Estimation = 'given'
    """How beliefs about objects are formed from past actions, for the Brain to read."""
    reach: bool = True
    """On a table, whether the Brain is told what is out of reach, or learns it from feedback only,
    as in the paper."""
    image: PictureUse = 'none'
    """Whether the Brain is sent a picture of the scene: with the first plan, or also with each
    repair."""
    memory: bool = False
    """Whether the first prompt has failures of earlier episodes, and what worked after them."""
    feedback: FeedbackForm = 'full'
    """What repair prompts state of why a step failed."""


@dataclass(frozen=True)
class BrainBody(ModelPlanner):
    """
    The planning method of the paper: the brain plans, and the Body turns steps into calls.

    Source: Bhat et al., Algorithm 1. Two additions where the paper is silent: feedback of people
    during the task, which uses no loop, and a second request if a reply cannot be read. In a
    household the Body answers in classes, as theirs does; the paper does not specify how an object
    is then chosen.
    Two departures: steps are mapped ahead (`map_ahead`), and a step that the Body passes is a
    failure for the Brain to repair; if none does, it stays passed.
    """

    options: BrainBodyOptions = BrainBodyOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Execute the plan to its end; raise ParseError without a first plan; see `Planner`."""
        stream = plan_stream(self.brain, world)
        world = believing(world, self.options.open_state, self.brain, context)
        mapper = PlanMapper(self.body, ahead=self.options.map_ahead)
        body = body_in(world, mapper, self.options.grounding, task, context)
        with ExitStack() as requests:
            requests.enter_context(context.hearing())
            requests.callback(mapper.close)
            plan = self._first(task, world, stream, requests, context)
            mapper.follow(plan)
            failures: list[StepFailure] = []
            i = k = 0
            plan = self._rehearsed(task, plan, i, failures, mapper, world, context)
            while True:
                failure: StepFailure | None
                try:
                    if plan.has(i):
                        step = plan.plan.steps[i]
                        failure = self._heard(step, context)
                        failure = failure or attempt(step, body, mapper, world, context)
                        if failure is None:
                            i += 1
                            continue
                    elif heard := self._heard(PlanStep(i, 'Done'), context):
                        failure = heard
                    elif k == self.k or plan.rest:
                        return
                    else:
                        failure = unfinished(PlanStep(i, 'Done'), context)
                        if failure is None:
                            return
                except SpokenError:
                    steps = plan.plan.steps
                    step = steps[i] if i < len(steps) else PlanStep(i, 'the rest of the plan')
                    failure = self._heard(step, context)
                    if failure is None:
                        continue
                except BrokenPlanError as error:
                    human = context.take_human_feedback()
                    if k == self.k and not human:
                        raise
                    step = PlanStep(i, 'the rest of the plan')
                    failure = StepFailure(step, str(error), human=human, tried=False)
                mapper.discard()
                if expect := features_of(world).expect:
                    expect(())
                # K counts failures of the robot: a person's word is free, also where none is left.
                remarked = bool(failure.human) and (not failure.tried or k == self.k)
                if k == self.k and not remarked:
                    leave(failure, context)
                    i += 1
                    continue
                k += not remarked
                context.emit(_repair_begun(failure, remarked))
                try:
                    old = plan
                    new = self._repaired(
                        task, world, plan, failure, failures, self.k - k, stream, requests, context
                    )
                    if old.fault and old.fault != failure.cause:
                        context.warn(old.fault)
                except ParseError as error:
                    context.warn(
                        f'The Brain gave no plan from step {i} on that can be read: {error}'
                    )
                    if failure.tried:
                        leave(failure, context)
                        i += 1
                    continue
                ended = not remarked and i == len(plan.plan.steps) == len(new.plan.steps)
                plan = new
                mapper.follow(plan)
                if ended:
                    return  # the Brain finds nothing left to do
                plan = self._rehearsed(task, plan, i, failures, mapper, world, context)

    def _first(
        self,
        task: Task,
        world: World,
        stream: StreamingModel | None,
        requests: ExitStack,
        context: EpisodeContext,
    ) -> WrittenPlan:
        """Return the first plan, of the task and what was added to it until it was written."""
        prompts = self._prompts
        memory = context.memory.failures if self.options.memory else ()
        while True:
            try:
                if context.spoken:
                    context.take_human_feedback()
                scene = world.observe()
                picture = picture_for(world, self.options.image, moved=False)
                told = sentence(picture)
                now = context.current(task)
                prompt = prompts.planning(now, scene, picture=told, memory=memory)
                request = PromptRequest(kind='plan', scene=prompts.shown(scene))
                plan = self._written(prompt, request, scene, context, images(picture))
                requests.callback(plan.close)
                plan.begin(self.brain, stream)
            except SpokenError:
                continue
            return plan

    def _repaired(
        self,
        task: Task,
        world: World,
        plan: WrittenPlan,
        failure: StepFailure,
        failures: list[StepFailure],
        loops_left: int,
        stream: StreamingModel | None,
        requests: ExitStack,
        context: EpisodeContext,
    ) -> WrittenPlan:
        """Return the plan from a failure on, which is added to *failures*, with new remarks."""
        failures.append(failure)
        while True:
            try:
                scene = world.observe()
                failures[-1] = self._prompts.reported(failure, scene)
                picture = picture_for(world, self._pictures_after, moved=True)
                new = self._repair(
                    task, scene, plan.whole(), failures, context, picture, loops_left
                )
                requests.callback(new.close)
                new.begin(self.brain, stream)
            except SpokenError:
                human = (*failure.human, *context.take_human_feedback())
                failure = replace(failure, human=human)
                continue
            return new

    def _rehearsed(
        self,
        task: Task,
        plan: WrittenPlan,
        start: int,
        failures: list[StepFailure],
        mapper: PlanMapper,
        world: World,
        context: EpisodeContext,
    ) -> WrittenPlan:
        """
        Return the plan to carry out: repaired until its rehearsal succeeds, where there is one.

        A repair after a rehearsal uses up no feedback loop. After `REHEARSAL_LOOPS` of them the
        plan is carried out as far as it goes.
        """
        rehearse = features_of(world).rehearse
        if rehearse is None:
            return plan
        rehearsal = PlanRehearsal(rehearse, start, mapper, context)
        with closing(rehearsal), suppress(SpokenError):  # what was said comes before the next step
            for loop in range(REHEARSAL_LOOPS + 1):
                found = rehearsal.try_steps(plan.whole(), checks_end=not plan.rest)
                if found.failure is None or loop == REHEARSAL_LOOPS:
                    break
                failure, old = found.failure, plan.plan
                code = failure.outcome.code if failure.outcome else failure.code
                repair = RepairBegun.of(failure.step, failure.cause, code=code)
                context.emit(replace(repair, rehearsed=True))
                failures.append(failure)
                new = self._repair(task, found.scene, old, failures, context)
                try:
                    new.begin(self.brain, None)
                except ParseError as error:
                    context.warn(f'The plan stays as it was rehearsed: {error}')
                    break
                plan = new
                mapper.follow(plan)
                if plan.plan == old and failure.step.index == len(old.steps):
                    break  # the Brain finds nothing left to do
            mapper.keep(rehearsal.calls)
        return plan

    def _heard(self, step: PlanStep, context: EpisodeContext) -> StepFailure | None:
        remarks = context.take_human_feedback()
        if not remarks:
            return None
        return StepFailure(step, ADDED, human=remarks, tried=False)

    @property
    def _prompts(self) -> Prompts:
        options, believed = self.options, self.options.open_state != 'no'
        return Prompts(believed=believed, reach=options.reach, form=options.feedback)

    @property
    def _pictures_after(self) -> PictureUse:
        return 'each' if self.options.feedback == 'picture' else self.options.image

    def _repair(
        self,
        task: Task,
        scene: Scene,
        plan: Plan,
        failed: Sequence[StepFailure],
        context: EpisodeContext,
        picture: ScenePicture | None = None,
        loops_left: int = 0,
    ) -> WrittenPlan:
        """Return the request for the plan from the failed step on, in a scene."""
        *earlier, failure = failed
        start, prompts = failure.step.index, self._prompts
        told, now = sentence(picture), context.current(task)
        prompt = prompts.feedback(
            now,
            scene,
            plan,
            failure,
            earlier,
            picture=told,
            loops_left=loops_left,
            before=context.before,
        )
        request = PromptRequest(
            kind='repair',
            scene=prompts.shown(scene),
            start=start,
            plan=tuple(step.text for step in plan.steps),
            failures=tuple(failed),
        )
        kept = plan.steps[:start]
        return self._written(prompt, request, scene, context, images(picture), kept)

    def _written(
        self,
        prompt: str,
        request: PromptRequest,
        scene: Scene,
        context: EpisodeContext,
        images: tuple[bytes, ...],
        kept: tuple[PlanStep, ...] = (),
    ) -> WrittenPlan:
        """Return the request for a plan that goes on after other steps."""
        form = plan_form(scene)

        def ask(brain: ChatModel, read: Read) -> PartialPlan:
            return replace(self, brain=brain).ask(prompt, read, request, context, images)

        return WrittenPlan(
            ask,
            partial(parse_partial_plan, start=request.start, form=form),
            partial(first_steps, start=request.start, form=form, headed=bool(request.failures)),
            context,
            kept,
        )


def _repair_begun(failure: StepFailure, remarked: bool) -> RepairBegun:
    """Return the event of a repair; its cause has the words that prompts show in the task."""
    cause = failure.cause
    if failure.outcome is not None:
        cause = failure_cause(failure.outcome, failure.outcome.call)
    elif cause == ADDED:
        cause = f'Before this step {remarks_text(failure.human)}'
    begun = RepairBegun.of(failure.step, cause, code=failure.code)
    return replace(begun, remarked=remarked)


BRAIN_BODY = PlannerSpec(factory=BrainBody, options=BrainBodyOptions())
