"""LLM-POP: find out what is missing, then act; an evaluator states what was found out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from bbllm.core.errors import GaveUpError
from bbllm.core.events import RepairBegun, StepBegun
from bbllm.core.observation import Observed, observed
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import PlanStep, SkillCall, Task
from bbllm.planners.common.low_level_hands import GrowingPlan
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.prompt_history import PromptHistory, ask_shorter, budget_for
from bbllm.planners.llm_pop.grammar import PlannerReply, parse_evaluator, parse_planner
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

    Source: Sun et al., section 4, appendix A.1 and A.2; docs/design/llm-pop.md lists departures.
    Evaluator and planner are one model under two prompts. `k` rounds may follow the first.
    """

    history: int | None = None
    """Maximum length of the history in a prompt [characters]; see `budget_for`."""
    evaluated: bool = True
    """Whether the model is asked under the evaluator's prompt before it plans."""

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work in rounds until the task is judged to be done, or raise GaveUpError."""
        budget = budget_for(self.brain, self.history)
        history = PromptHistory(HISTORY, budget, on_short=context.warn)
        plan = GrowingPlan(context)
        while (decided := self._decide(task, world, history, context)) is not None:
            reason, reply = decided
            actions = list(map(str, reply.actions))
            if history.n_rounds:
                context.emit(RepairBegun.of(PlanStep(plan.next, actions[0]), reason))
            plan.go_on(actions)
            # The last round cannot be planned anew, so feedback waits.
            listens = history.n_rounds < self.k
            tried, said = attempt_all(
                plan.left, reply.actions, lambda action: action.problem, world, context, listens
            )
            results = [
                TriedAction(text, f'{FAILED}{cause}' if cause else DONE, seen)
                for text, (cause, seen) in zip(actions, tried, strict=False)
            ]
            results += map(TriedAction, actions[len(tried) :])
            history.add(Round(reply.explanation, tuple(results)))
            _note(said, history)
            plan.next += len(tried)

    def _decide(
        self, task: Task, world: World, history: PromptHistory, context: EpisodeContext
    ) -> tuple[str, PlannerReply] | None:
        """Return the reason for a round and its plan, None if the task is done."""
        _note(context.take_human_feedback(), history)
        evaluated: str | None = None
        if self.evaluated:
            scene = world.observe()
            success, evaluated = ask_shorter(
                self.brain,
                partial(evaluator_prompt, task, scene),
                history,
                parse_evaluator,
                request=PromptRequest(kind='evaluate', scene=scene),
                on_retry=context.warn,
            )
            if success:
                context.report_done()
                return None
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


def _note(said: tuple[str, ...], history: PromptHistory) -> None:
    for text in said:
        history.note(feedback_line(text))


class BlockCall(Protocol):
    """An action of a grammar."""

    @property
    def call(self) -> SkillCall: ...


Action = TypeVar('Action', bound=BlockCall)


def attempt_all(
    steps: Sequence[PlanStep],
    actions: Sequence[Action],
    problem: Callable[[Action], str],
    world: World,
    context: EpisodeContext,
    listens: bool,
) -> tuple[Sequence[tuple[str, Observed]], tuple[str, ...]]:
    """
    Execute actions until one fails or, if it `listens`, a person speaks between two.

    Returns:
        Why each tried action failed, '' if it did not, with the observation after it; and what
        the person said. An action with a problem is not executed.
    """
    tried: list[tuple[str, Observed]] = []
    for step, action in zip(steps, actions, strict=True):
        if tried and listens and (said := context.take_human_feedback()):
            return tried, said
        context.emit(StepBegun.of(step))
        if cause := problem(action):
            context.warn(f'Nothing was moved at step {step.index}. {cause}')
        else:
            outcome = world.execute(action.call)
            if not outcome.succeeded:
                cause = outcome.message or f'{outcome.call} failed: {outcome.code.name}.'
        tried.append((cause, observed(world.observe())))
        if cause:
            break
    return tried, ()


def llm_pop_no_evaluator(brain: ChatModel, body: Body, *, k: int = 3) -> LLMPop:
    """Return the paper's ablation `w/o evaluator`: the planner itself reports the end."""
    return LLMPop(brain, body, k=k, evaluated=False)


LLM_POP = PlannerSpec(
    factory=LLMPop, tells_force=True, asks_body=False, domains=frozenset({'tabletop'})
)
LLM_POP_NO_EVALUATOR = replace(LLM_POP, factory=llm_pop_no_evaluator)
