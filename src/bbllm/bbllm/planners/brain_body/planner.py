"""BrainBody-LLM: one model plans, one acts, failures go back to the first (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.events import PlanMade, RepairBegun, StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import PASS, Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import Plan, PlanStep, Task
from bbllm.planners.brain_body.household_body import HouseBody
from bbllm.planners.common.belief.belief_world import Estimation, believing
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.low_level_hands import failure_cause
from bbllm.planners.common.plan_grammar import parse_plan, plan_on
from bbllm.planners.common.prompting import PlanFailure, Prompts, ask
from bbllm.planners.common.scene_graph import HOUSEHOLD


@dataclass(frozen=True, slots=True)
class BrainBodyOptions:
    """Options of the planner."""

    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""
    open_state: Estimation = 'no'
    """How beliefs about objects are formed from past actions, for the Brain to read."""


class BrainBody:
    """
    The planning method of the paper.

    Source: Bhat et al., Grounding LLMs For Robot Task Planning Using Closed-loop State Feedback,
    Algorithm 1. Two additions where the paper is silent: feedback of people during the task, and
    a second request if a reply cannot be read. In a household the Body answers in classes, as
    theirs does; the paper does not specify how an object is then chosen.

    Args:
        brain: The model that plans.
        body: Turns steps into calls.
        k: Number of feedback loops in an episode.
        options: See there.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: BrainBodyOptions = BrainBodyOptions(),
    ):
        self._brain = brain
        self._body = body
        self._k = k
        self._options = options
        self._prompts = Prompts(believed=options.open_state != 'no')

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Execute the plan to its end; see `Planner`.

        Raises:
            ParseError: The Brain gave no first plan that parses.
        """
        world = believing(world, self._options.open_state, self._brain, context)
        body = self._body_for(task, world, context)
        plan = self._plan(task, world, context)
        context.emit(PlanMade.of(plan, 0))
        failures: list[PlanFailure] = []
        i = k = 0
        while i != len(plan.steps):
            step = plan.steps[i]
            failure = self._heard(step, k, context) or self._attempt(step, body, world, context)
            if failure is None:
                i += 1
            elif k != self._k:
                k += 1
                context.emit(RepairBegun.of(step, failure.cause, code=failure.code))
                failures.append(failure)
                new = self._repair(task, world, plan, failures, context)
                if new is not None:
                    plan = new
                    context.emit(PlanMade.of(plan, i))
                elif failure.tried:
                    context.emit(StepFailed.of(step, failure.cause))
                    i += 1
            else:
                context.emit(StepFailed.of(step, failure.cause, code=failure.code))
                i += 1

    def _body_for(self, task: Task, world: World, context: EpisodeContext) -> Body:
        if world.observe().domain != HOUSEHOLD:
            return self._body
        # Seeded by the episode, so that a replay makes the same choices.
        return HouseBody(self._body, self._options.grounding, Random(task.id), context)

    def _plan(self, task: Task, world: World, context: EpisodeContext) -> Plan:
        scene = world.observe()
        prompt = self._prompts.planning(task, scene)
        request = PromptRequest(kind='plan', scene=self._prompts.shown(scene))
        return Plan(ask(self._brain, prompt, parse_plan, request=request, on_retry=context.warn))

    def _attempt(
        self, step: PlanStep, body: Body, world: World, context: EpisodeContext
    ) -> PlanFailure | None:
        """Map one step and execute it; None if it succeeded or was passed."""
        context.emit(StepBegun.of(step))
        try:
            call = body.map(step, world.observe())
        except ParseError as error:
            cause, code = f'This step could not be turned into a call. {error}', code_behind(error)
            return PlanFailure(step, cause, human=context.take_human_feedback(), code=code)
        if call is PASS:
            context.emit(StepPassed.of(step))
            return None
        outcome = world.execute(call)
        if outcome.succeeded:
            return None
        cause = failure_cause(outcome, call)
        return PlanFailure(step, cause, outcome.raw, human=context.take_human_feedback())

    def _heard(self, step: PlanStep, k: int, context: EpisodeContext) -> PlanFailure | None:
        """Return the feedback of people before this step."""
        said = context.take_human_feedback()
        if said and k == self._k:
            text = ' / '.join(said)
            context.warn(f'All {k} feedback loops are used up; this came too late: {text!r}')
        elif said:
            cause = f'Before this step a person said: {" / ".join(said)}'
            return PlanFailure(step, cause, human=said, tried=False)
        return None

    def _repair(
        self,
        task: Task,
        world: World,
        plan: Plan,
        failures: list[PlanFailure],
        context: EpisodeContext,
    ) -> Plan | None:
        """Ask for the plan from the failed step on; None if no reply parses."""
        *earlier, failure = failures
        start = failure.step.index
        scene = world.observe()
        prompt = self._prompts.feedback(task, scene, plan, failure, earlier)
        request = PromptRequest(
            kind='repair',
            scene=self._prompts.shown(scene),
            start=start,
            plan=tuple(step.text for step in plan.steps),
            failures=tuple(item.as_data for item in failures),
        )
        read = partial(parse_plan, start=start)
        try:
            new = ask(self._brain, prompt, read, request=request, on_retry=context.warn)
            return plan_on(plan, start, new)
        except ParseError as error:
            context.warn(f'The Brain gave no plan from step {start} on that can be read: {error}')
            return None


BRAIN_BODY = PlannerSpec(factory=BrainBody, options=BrainBodyOptions())
