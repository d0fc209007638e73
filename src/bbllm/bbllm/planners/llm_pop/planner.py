"""LLM-POP: find out what is missing, then act; an evaluator says what was found out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bbllm.core.errors import GaveUpError
from bbllm.core.events import PlanMade, RepairBegun, StepBegun
from bbllm.core.observation import observed
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Plan, PlanStep, Task
from bbllm.planners.common.plan_grammar import plan_on
from bbllm.planners.common.prompt_history import ask_shorter, budget_for
from bbllm.planners.llm_pop.grammar import PlannerReply, PopAction, parse_evaluator, parse_planner
from bbllm.planners.llm_pop.prompting import DONE, FAILED, History, PopPrompts, Round, TriedAction


class LLMPop:
    """
    The planning method of the paper.

    Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
    Robotics Tasks, section 4, appendix A.1 and A.2. Where it departs from that, and why, is in
    docs/design/llm-pop.md. Evaluator and planner are one model under two prompts. The Body is
    not asked: actions are calls already.
    """

    evaluated = True
    """Whether the model is asked under the evaluator's prompt before it plans."""

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        history: int | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The one model.
            body: Not used.
            k: How many rounds may follow the first.
            history: How long the history in a prompt may be [characters]; None as
                `past.budget_for` says.
        """
        self._brain = brain
        self._k = k
        self._budget = budget_for(brain, history)
        self._prompts = PopPrompts()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task, round by round, until it is judged to be done.

        Raises:
            GaveUpError: It is not done when the rounds are used up, or the planner says that it
                cannot be.
            ParseError: A reply could not be read, also when it was asked for again.
            BbllmError: Whatever world or model raised.
        """
        history = History(self._budget, on_short=context.warn)
        plan = Plan()
        while (decided := self._decide(task, world, history, context)) is not None:
            reason, reply = decided
            start = len(plan.steps)
            plan = plan_on(plan, start, _steps(reply, start))
            if history.n_rounds:
                context.emit(RepairBegun.of(plan.steps[start], reason))
            context.emit(PlanMade.of(plan, start))
            n_tried = self._carry_out(plan.steps[start:], reply, world, history, context)
            plan = plan_on(plan, start + n_tried, ())

    def _decide(
        self, task: Task, world: World, history: History, context: EpisodeContext
    ) -> tuple[str, PlannerReply] | None:
        """Return why and how it goes on, None where the task is done."""
        history.hear(context.take_human_feedback())
        evaluated: str | None = None
        if self.evaluated:
            scene = world.observe()
            write = partial(self._prompts.evaluator, task, scene)
            evaluation = ask_shorter(
                self._brain,
                write,
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
        write = partial(self._prompts.planner, task, scene, evaluation=evaluated)
        read = partial(parse_planner, may_end=not self.evaluated)
        request = PromptRequest(kind='plan', scene=scene)
        reply = ask_shorter(
            self._brain, write, history, read, request=request, on_retry=context.warn
        )
        if not reply.actions:
            context.report_done()
            return None
        reason = reply.explanation if evaluated is None else evaluated
        self._need_round(history, reason)
        return reason, reply

    def _need_round(self, history: History, reason: str) -> None:
        if history.n_rounds > self._k:
            used = f'all {self._k} feedback loops are used up' if self._k else 'K is 0'
            raise GaveUpError(f'The task is not done, and {used}: {reason}')

    def _carry_out(
        self,
        steps: tuple[PlanStep, ...],
        reply: PlannerReply,
        world: World,
        history: History,
        context: EpisodeContext,
    ) -> int:
        """Carry out a round until an action fails or a person speaks; return how far it came."""
        tried: list[TriedAction] = []
        said: tuple[str, ...] = ()
        for step, action in zip(steps, reply.actions, strict=True):
            # In the last round nothing can be planned anew, so what people say then waits.
            if tried and history.n_rounds < self._k:
                said = context.take_human_feedback()
            if said:
                break
            tried.append(self._attempt(step, action, world, context))
            if tried[-1].result != DONE:
                break
        rest = [TriedAction(str(action)) for action in reply.actions[len(tried) :]]
        history.add(Round(reply.explanation, (*tried, *rest)))
        history.hear(said)
        return len(tried)

    def _attempt(
        self, step: PlanStep, action: PopAction, world: World, context: EpisodeContext
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


class LLMPopNoEvaluator(LLMPop):
    """The paper's ablation `w/o evaluator`: the planner says itself when the task is done."""

    evaluated = False


def _steps(reply: PlannerReply, start: int) -> list[PlanStep]:
    return [PlanStep(start + i, str(action)) for i, action in enumerate(reply.actions)]


LLM_POP = PlannerSpec(
    factory=LLMPop,
    tells_force=True,
    asks_body=False,
    domains=frozenset({'tabletop'}),
)
LLM_POP_NO_EVALUATOR = replace(LLM_POP, factory=LLMPopNoEvaluator)
