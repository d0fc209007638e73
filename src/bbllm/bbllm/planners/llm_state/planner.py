"""LLM-State: the model keeps a state of the things that matter, and plans on by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bbllm.core.errors import GaveUpError
from bbllm.core.events import BeliefsEstimated
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Outcome, Scene, Task
from bbllm.planners.belief.grammar import ADD, parse_attention
from bbllm.planners.belief.model_state_estimator import ModelEstimator
from bbllm.planners.belief.prompting import PLAN_LIMIT, StatePrompts
from bbllm.planners.common.goal_predicates import refuse_impossible
from bbllm.planners.common.low_level_hands import Hands
from bbllm.planners.common.low_level_plan import (
    LowLevelCall,
    low_level_actions,
    parse_low_level_plan,
)
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.common.reply_diagnostics import Found, RejectedLine, ask_for_lines
from bbllm.planners.common.short_names import ShortNames

MAX_ROUNDS = 150
"""How many plans an episode may have. The paper sets no limit but that of steps, at most 150; a
plan has at least one step; rounds that try nothing end an episode before (`IDLE_LIMIT`)."""


@dataclass(frozen=True, slots=True)
class LLMStateOptions:
    """What of the planner can be varied."""

    states: bool = True
    """Whether a state is kept at all; without, there is only the policy."""
    summary: bool = True
    """Whether the state has a summary of what has happened."""
    objects: bool = True
    """Whether the state has objects with attributes."""
    messages: bool = False
    """Whether the history has the reason of a failure; in the paper it has only the failure."""


class LLMState:
    """
    The planning method of the paper, its Algorithm 1.

    Source: Chen et al., LLM-State: Open World State Representation for Long-horizon Task Planning
    with Large Language Model. Where it departs from the paper, and why, is in
    docs/design/llm-state.md. The number of feedback loops says nothing: after each plan, and
    after each step that fails, the model plans anew until it says that all is done.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: LLMStateOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The model in all three roles.
            body: Not used.
            k: Not used: the method plans anew as often as it has to.
            options: What is varied.
        """
        self._model = brain
        options = options or LLMStateOptions()
        self._objects = options.states and options.objects
        self._summary = options.states and options.summary
        self._messages = options.messages

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the model's plan is empty.

        Raises:
            ParseError: The model gave replies that cannot be read.
            GaveUpError: There is nothing to work on, the model said that it cannot be done, or
                it went on and on.
            BbllmError: Whatever world or model raised.
        """
        hands = Hands(world, context)
        refuse_impossible(task, hands.scene, context)
        mind = _Mind(self._model, hands.names, task, context, self._messages)
        estimator = mind.estimator(summary=self._summary, objects=self._objects)
        state = OpenState()
        for _ in range(MAX_ROUNDS):
            if self._objects:
                state = mind.attend(state, hands.history, hands.scene)
            if self._objects or self._summary:
                state = estimator.estimate(state, hands.history, hands.scene)
                context.emit(BeliefsEstimated(state.attributes, state.summary))
            believed = state if self._objects or self._summary else None
            calls = mind.plan(believed, hands.history, hands.scene)
            if not calls:
                context.report_done()
                return
            hands.carry_out(calls)
        raise GaveUpError(
            f'After {MAX_ROUNDS} plans the model still does not say that it is done. A plan of '
            'several steps at a time would have come further.'
        )


class _Mind:
    """The model in its roles, in one episode."""

    def __init__(
        self,
        model: ChatModel,
        names: ShortNames,
        task: Task,
        context: EpisodeContext,
        messages: bool,
    ):
        self._model = model
        self._names = names
        self._task = task
        self._context = context
        self._messages = messages
        self._prompts = StatePrompts(names, messages=messages)
        self._said: list[str] = []

    def estimator(self, *, summary: bool, objects: bool) -> ModelEstimator:
        """Return the model as state estimator."""
        return ModelEstimator(
            self._model,
            self._names,
            summary=summary,
            objects=objects,
            messages=self._messages,
            on_discarded=self._leave_out,
            on_retry=self._context.warn,
        )

    def attend(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        """Add the things that matter from now on, as the attention."""
        prompt = self._prompts.attention(self._task, state, history, scene)
        found = self._ask(prompt, parse_attention, 'attention', scene)
        known = []
        for thing in found.things:
            name = self._names.name(thing)
            if name is None:
                why = f'There is nothing named {thing[:60]}.'
                self._leave_out(RejectedLine(f'{ADD}("{thing[:60]}")', why, refused=True))
            else:
                known.append(name)
        return state.with_objects(known)

    def plan(
        self, state: OpenState | None, history: Sequence[Outcome], scene: Scene
    ) -> tuple[LowLevelCall, ...]:
        """Return the next calls, as the policy; none where all is done."""
        self._said += self._context.take_human_feedback()
        actions = low_level_actions(scene)
        prompt = self._prompts.policy(self._task, state, history, scene, self._said)
        plan = self._ask(
            prompt, lambda text: parse_low_level_plan(text, actions), 'actions', scene
        )
        for call in plan.calls[PLAN_LIMIT - 1 :]:
            why = f'A plan has fewer than {PLAN_LIMIT} steps; more can be planned afterwards.'
            self._leave_out(RejectedLine(str(call), why, refused=True))
        return plan.calls[: PLAN_LIMIT - 1]

    def _ask(self, prompt: str, read: Callable[[str], Found], kind: str, scene: Scene) -> Found:
        return ask_for_lines(
            self._model,
            prompt,
            read,
            on_discarded=self._leave_out,
            request=PromptRequest(kind=kind, scene=scene),
            on_retry=self._context.warn,
        )

    def _leave_out(self, line: RejectedLine) -> None:
        line.tell(self._context)


LLM_STATE = PlannerSpec(
    factory=LLMState,
    options=LLMStateOptions(),
    uses_feedback=False,
    asks_body=False,
)
