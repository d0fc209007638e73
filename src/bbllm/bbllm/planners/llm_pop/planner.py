"""LLM-POP: find out what is missing, then act; an evaluator states what was found out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from bbllm.core.errors import GaveUpError
from bbllm.core.events import RepairBegun, StepBegun
from bbllm.core.observation import observed
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import PlanStep, Task
from bbllm.planners.common.low_level_hands import GrowingPlan
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.prompt_history import PromptHistory, ask_shorter, budget_for
from bbllm.planners.llm_pop.grammar import PlannerReply, PopAction, parse_evaluator, parse_planner
from bbllm.planners.llm_pop.prompting import (
    DONE,
    FAILED,
    HISTORY,
    Round,
    TriedAction,
    evaluator_prompt,
    feedback_line,
    planner_prompt,
)


@dataclass(frozen=True)
class LLMPop(ModelPlanner):
    """
    The planning method of the paper.

    Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
    Robotics Tasks, section 4, appendix A.1 and A.2. docs/design/llm-pop.md lists departures.
    Evaluator and planner are one model under two prompts. `k` rounds may follow the first.
    """

    history: int | None = None
    """Maximum length of the history in a prompt [characters]; see `budget_for`."""
    evaluated: bool = True
    """Whether the model is asked under the evaluator's prompt before it plans."""

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task in rounds until it is judged to be done; see `Planner`.

        Raises:
            GaveUpError: No round is left, or the planner gave up.
        """
        budget = budget_for(self.brain, self.history)
        history = PromptHistory(HISTORY, budget, on_short=context.warn)
        plan = GrowingPlan(context)
        while (decided := self._decide(task, world, history, context)) is not None:
            reason, reply = decided
            actions = list(map(str, reply.actions))
            if history.n_rounds:
                context.emit(RepairBegun.of(PlanStep(plan.next, actions[0]), reason))
            plan.go_on(actions)
            plan.next += self._carry_out(plan.left, reply, world, history, context)

    def _decide(
        self, task: Task, world: World, history: PromptHistory, context: EpisodeContext
    ) -> tuple[str, PlannerReply] | None:
        """Return the reason for a round and its plan, None if the task is done."""
        _note(context.take_human_feedback(), history)
        evaluated: str | None = None
        if self.evaluated:
            scene = world.observe()
            evaluation = ask_shorter(
                self.brain,
                partial(evaluator_prompt, task, scene),
                history,
                parse_evaluator,
                request=PromptRequest(kind='evaluate', scene=scene),
                on_retry=context.warn,
            )
            if evaluation.success:
                context.report_done()
                return None
            evaluated = evaluation.reason
            self._need_round(history, evaluated)
        scene = world.observe()
        reply = ask_shorter(
            self.brain,
            partial(planner_prompt, task, scene, evaluation=evaluated),
            history,
            partial(parse_planner, may_end=not self.evaluated),
            request=PromptRequest(kind='plan', scene=scene),
            on_retry=context.warn,
        )
        if not reply.actions:
            context.report_done()
            return None
        reason = reply.explanation if evaluated is None else evaluated
        self._need_round(history, reason)
        return reason, reply

    def _need_round(self, history: PromptHistory, reason: str) -> None:
        if history.n_rounds > self.k:
            used = f'all {self.k} feedback loops are used up' if self.k else 'K is 0'
            raise GaveUpError(f'The task is not done, and {used}: {reason}')

    def _carry_out(
        self,
        steps: tuple[PlanStep, ...],
        reply: PlannerReply,
        world: World,
        history: PromptHistory,
        context: EpisodeContext,
    ) -> int:
        """Execute a round until an action fails or a person speaks; return how many were tried."""
        tried: list[TriedAction] = []
        said: tuple[str, ...] = ()
        for step, action in zip(steps, reply.actions, strict=True):
            # The last round cannot be planned anew, so feedback waits.
            if tried and history.n_rounds < self.k:
                said = context.take_human_feedback()
            if said:
                break
            tried.append(_attempt(step, action, world, context))
            if tried[-1].result != DONE:
                break
        rest = [TriedAction(str(action)) for action in reply.actions[len(tried) :]]
        history.add(Round(reply.explanation, (*tried, *rest)))
        _note(said, history)
        return len(tried)


def _note(said: tuple[str, ...], history: PromptHistory) -> None:
    for text in said:
        history.note(feedback_line(text))


def _attempt(
    step: PlanStep, action: PopAction, world: World, context: EpisodeContext
) -> TriedAction:
    context.emit(StepBegun.of(step))
    cause = action.problem
    if cause:
        context.warn(f'Nothing was moved at step {step.index}. {cause}')
    else:
        outcome = world.execute(action.call)
        if not outcome.succeeded:
            cause = outcome.message or f'{outcome.call} failed: {outcome.code.name}.'
    result = f'{FAILED}{cause}' if cause else DONE
    return TriedAction(step.text, result, observed(world.observe()))


def llm_pop_no_evaluator(brain: ChatModel, body: Body, *, k: int = 3) -> LLMPop:
    """Return the paper's ablation `w/o evaluator`: the planner itself reports the end."""
    return LLMPop(brain, body, k=k, evaluated=False)


LLM_POP = PlannerSpec(
    factory=LLMPop, tells_force=True, asks_body=False, domains=frozenset({'tabletop'})
)
LLM_POP_NO_EVALUATOR = replace(LLM_POP, factory=llm_pop_no_evaluator)
