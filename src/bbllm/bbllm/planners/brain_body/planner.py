"""BrainBody-LLM: one model plans, one acts, failures go back to the first (Algorithm 1)."""

from dataclasses import dataclass
from functools import partial
from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.events import PlanMade, RepairBegun, StepBegun, StepFailed
from bbllm.core.protocols import (
    Body,
    EpisodeContext,
    Pass,
    PromptRequest,
    StepFailure,
    World,
)
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import CallError, code_behind
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall, Task
from bbllm.planners.common.belief.belief_world import Estimation, believing
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.low_level_hands import failure_cause, leave_passed
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.plan_grammar import (
    PartialPlan,
    parse_partial_plan,
    plan_form,
    plan_on,
)
from bbllm.planners.common.plan_mapper import PlanMapper
from bbllm.planners.common.program import Referents
from bbllm.planners.common.prompting import Prompts
from bbllm.planners.common.scene_graph import HOUSEHOLD, MOVES, WORLD_WORDS, shown_to_body


class HouseBody:
    """
    Shows another Body classes in place of objects, and grounds its answers; for one episode.

    An object to put somewhere is one in a hand, else the choice of the policy.
    """

    def __init__(self, body: Body, policy: Policy, task: Task, context: EpisodeContext):
        self.name = body.name
        self._body = body
        # Seeded by the episode, so that a replay makes the same choices.
        self._referents = Referents(policy, Random(task.id), context, put_unheld=True)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return a call on objects of the scene, or a pass; see `Body`."""
        call = self._body.map(step, shown_to_body(scene))
        if isinstance(call, Pass):
            return call
        if call.skill in MOVES:
            return Pass(f'{call.skill} changes nothing in a household, which has no positions.')
        try:
            meant = SkillCall(WORLD_WORDS.get(call.skill, call.skill), call.args)
            return self._referents.resolve(meant, scene)
        except CallError as error:
            raise ParseError(str(error)) from error


def body_in(world: World, body: Body, policy: Policy, task: Task, context: EpisodeContext) -> Body:
    in_house = world.observe().domain == HOUSEHOLD
    return HouseBody(body, policy, task, context) if in_house else body


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


@dataclass(frozen=True)
class BrainBody(ModelPlanner):
    """
    The planning method of the paper: the brain plans, and the Body turns steps into calls.

    Source: Bhat et al., Algorithm 1. Two additions where the paper is silent: feedback of people
    during the task, and a second request if a reply cannot be read. In a household the Body
    answers in classes, as theirs does; the paper does not specify how an object is then chosen.
    Two departures: steps are mapped ahead (`map_ahead`), and a step that the Body passes is a
    failure for the Brain to repair; if none does, it stays passed.
    """

    options: BrainBodyOptions = BrainBodyOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Execute the plan to its end; raise ParseError without a first plan; see `Planner`."""
        world = believing(world, self.options.open_state, self.brain, context)
        mapper = PlanMapper(self.body, ahead=self.options.map_ahead)
        body = body_in(world, mapper, self.options.grounding, task, context)
        prompts, scene = self._prompts, world.observe()
        request = PromptRequest(kind='plan', scene=prompts.shown(scene))
        read = partial(parse_partial_plan, form=plan_form(scene))
        first = self.ask(prompts.planning(task, scene), read, request, context)
        plan, rest = Plan(first.steps), first.rest
        mapper.take(plan)
        context.emit(PlanMade.of(plan, 0, rest))
        failures: list[StepFailure] = []
        i = k = 0
        while i != len(plan.steps) or (k != self.k and not rest):
            if i == len(plan.steps):
                step = PlanStep(i, 'Done')
                failure = _unfinished(step, context)
                if failure is None:
                    return
            else:
                step = plan.steps[i]
                failure = self._heard(step, k, context)
                failure = failure or _attempt(step, body, mapper, world, context)
            if failure is None:
                i += 1
            elif k != self.k:
                k += 1
                context.emit(RepairBegun.of(step, failure.cause, code=failure.code))
                failures.append(failure)
                new = self._repair(task, world, plan, failures, context)
                if new is not None:
                    ended = i == len(plan.steps) and not new.steps
                    plan, rest = plan_on(plan, i, new.steps), new.rest
                    mapper.take(plan)
                    context.emit(PlanMade.of(plan, i, rest))
                    if ended:
                        return  # the Brain finds nothing left to do
                elif failure.tried:
                    _leave(failure, context)
                    i += 1
            else:
                _leave(failure, context)
                i += 1

    def _heard(self, step: PlanStep, k: int, context: EpisodeContext) -> StepFailure | None:
        said = context.take_human_feedback()
        if said and k == self.k:
            text = ' / '.join(said)
            context.warn(f'All {k} feedback loops are used up; this came too late: {text!r}')
        elif said:
            cause = f'Before this step a person said: {" / ".join(said)}'
            return StepFailure(step, cause, human=said, tried=False)
        return None

    @property
    def _prompts(self) -> Prompts:
        return Prompts(believed=self.options.open_state != 'no', reach=self.options.reach)

    def _repair(
        self,
        task: Task,
        world: World,
        plan: Plan,
        failed: list[StepFailure],
        context: EpisodeContext,
    ) -> PartialPlan | None:
        """Ask for the plan from the failed step on; None if no reply parses."""
        *earlier, failure = failed
        start = failure.step.index
        prompts, scene = self._prompts, world.observe()
        prompt = prompts.feedback(task, scene, plan, failure, earlier)
        request = PromptRequest(
            kind='repair',
            scene=prompts.shown(scene),
            start=start,
            plan=tuple(step.text for step in plan.steps),
            failures=tuple(failed),
        )
        try:
            read = partial(parse_partial_plan, start=start, form=plan_form(scene))
            return self.ask(prompt, read, request, context)
        except ParseError as error:
            context.warn(f'The Brain gave no plan from step {start} on that can be read: {error}')
            return None


def _unfinished(end: PlanStep, context: EpisodeContext) -> StepFailure | None:
    """Return why the task is not done at the end of the plan; None if nothing shows that."""
    fault = context.unfinished()
    cause = f'The plan has ended, and the task is not done. {fault}'
    return StepFailure(end, cause, tried=False) if fault else None


def _attempt(
    step: PlanStep, body: Body, mapper: PlanMapper, world: World, context: EpisodeContext
) -> StepFailure | None:
    """Map one step and execute it; None if it succeeded."""
    context.emit(StepBegun.of(step))
    try:
        call = body.map(step, world.observe())
    except ParseError as error:
        cause, code = f'This step could not be turned into a call. {error}', code_behind(error)
        return StepFailure(step, cause, human=context.take_human_feedback(), code=code)
    if isinstance(call, Pass):
        # One loop for all steps of the plan that the Body has passed so far.
        later = [f'Nor for {each}: {it.reason}' for each, it in mapper.passed_ahead()]
        cause = ' '.join([f'The Body found no action for this step: {call.reason}', *later])
        return StepFailure(step, cause, human=context.take_human_feedback(), passed=True)
    outcome = world.execute(call)
    if outcome.succeeded:
        return None
    cause = failure_cause(outcome, call)
    return StepFailure(step, cause, outcome.raw, human=context.take_human_feedback())


def _leave(failure: StepFailure, context: EpisodeContext) -> None:
    """Report a step that no repair replaces."""
    if failure.passed:
        leave_passed(failure.step, failure.cause, context)
    else:
        context.emit(StepFailed.of(failure.step, failure.cause, code=failure.code))


BRAIN_BODY = PlannerSpec(factory=BrainBody, options=BrainBodyOptions())
