"""LLM-State: the model keeps a state of the relevant objects, and plans on by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from bbllm.core.errors import GaveUpError
from bbllm.core.events import BeliefsEstimated
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Task
from bbllm.planners.common.belief.grammar import ADD, parse_attention
from bbllm.planners.common.belief.model_state_estimator import ModelEstimator
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.belief.prompting import PLAN_LIMIT, StatePrompts
from bbllm.planners.common.goal_predicates import refuse_impossible
from bbllm.planners.common.low_level_hands import Hands
from bbllm.planners.common.low_level_plan import (
    LowLevelCall,
    low_level_actions,
    parse_low_level_plan,
)
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import Found, RejectedLine, reporting

MAX_ROUNDS = 150
"""How many plans an episode may have. The paper limits steps only, to at most 150; a plan has at
least one step, and rounds without a call end an episode earlier (`IDLE_LIMIT`)."""


@dataclass(frozen=True, slots=True)
class LLMStateOptions:
    """Options of the planner."""

    states: bool = True
    """Whether a state is kept at all; without, there is only the policy."""
    summary: bool = True
    """Whether the state has a summary of what has happened."""
    objects: bool = True
    """Whether the state has objects with attributes."""
    messages: bool = False
    """Whether the history has the reason of a failure; in the paper it has only the failure."""


@dataclass(frozen=True)
class LLMState:
    """
    The planning method of the paper, its Algorithm 1.

    Source: Chen et al., LLM-State: Open World State Representation for Long-horizon Task Planning
    with Large Language Model. docs/design/llm-state.md lists departures. After each plan, and
    after each failed step, the model plans anew until it reports the end.
    """

    brain: ChatModel
    """The model in all three roles."""
    body: Body
    """Not used."""
    k: int = 3
    """Not used: there is no limit of feedback loops."""
    options: LLMStateOptions = LLMStateOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the model's plan is empty; see `Planner`.

        Raises:
            GaveUpError: There is no object to work with, the model gave up, or it did not end.
        """
        hands = Hands(world, context)
        refuse_impossible(task, hands.scene, context)
        options = self.options
        objects = options.states and options.objects
        summary = options.states and options.summary
        mind = _Mind(self.brain, hands, task, context, options.messages)
        estimator = ModelEstimator(
            self.brain,
            hands.names,
            summary=summary,
            objects=objects,
            messages=options.messages,
            on_discarded=lambda line: line.report(context),
            on_retry=context.warn,
        )
        state = OpenState()
        for _ in range(MAX_ROUNDS):
            if objects:
                state = mind.attend(state)
            if objects or summary:
                state = estimator.estimate(state, hands.history, hands.scene)
                context.emit(BeliefsEstimated(state.attributes, state.summary))
            calls = mind.plan(state if objects or summary else None)
            if not calls:
                context.report_done()
                return
            hands.carry_out(calls)
        raise GaveUpError(
            f'After {MAX_ROUNDS} plans the model still does not say that it is done. A plan of '
            'several steps at a time would have come further.'
        )


@dataclass
class _Mind:
    """The model as attention and policy, in one episode."""

    model: ChatModel
    hands: Hands
    task: Task
    context: EpisodeContext
    messages: bool
    said: list[str] = field(default_factory=list)
    """Feedback of people since the start."""

    def __post_init__(self) -> None:
        self.prompts = StatePrompts(self.hands.names, messages=self.messages)

    def attend(self, state: OpenState) -> OpenState:
        """Add the objects that the attention asks for."""
        prompt = self.prompts.attention(self.task, state, self.hands.history, self.hands.scene)
        found = self._ask(prompt, parse_attention, 'attention')
        known = []
        for word in found.things:
            if (name := self.hands.names.name(word)) is None:
                why = f'There is nothing named {word[:60]}.'
                RejectedLine(f'{ADD}("{word[:60]}")', why, refused=True).report(self.context)
            else:
                known.append(name)
        return state.with_objects(known)

    def plan(self, state: OpenState | None) -> tuple[LowLevelCall, ...]:
        """Return the next calls of the policy; none if the task is done."""
        self.said += self.context.take_human_feedback()
        scene = self.hands.scene
        prompt = self.prompts.policy(self.task, state, self.hands.history, scene, self.said)
        read = partial(parse_low_level_plan, actions=low_level_actions(scene))
        plan = self._ask(prompt, read, 'actions')
        for call in plan.calls[PLAN_LIMIT - 1 :]:
            why = f'A plan has fewer than {PLAN_LIMIT} steps; more can be planned afterwards.'
            RejectedLine(str(call), why, refused=True).report(self.context)
        return plan.calls[: PLAN_LIMIT - 1]

    def _ask(self, prompt: str, read: Callable[[str], Found], kind: str) -> Found:
        read = reporting(read, lambda line: line.report(self.context))
        request = PromptRequest(kind=kind, scene=self.hands.scene)
        return ask(self.model, prompt, read, request=request, on_retry=self.context.warn)


LLM_STATE = PlannerSpec(
    factory=LLMState, options=LLMStateOptions(), uses_feedback=False, asks_body=False
)
