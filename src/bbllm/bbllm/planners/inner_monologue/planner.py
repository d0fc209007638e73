"""Inner Monologue: one step at a time, in one prompt that grows by what came of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from bbllm.core.errors import GaveUpError
from bbllm.core.events import LineDiscarded
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Task
from bbllm.planners.common.goal_predicates import refuse_impossible
from bbllm.planners.common.low_level_hands import Hands
from bbllm.planners.common.low_level_plan import low_level_actions
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import RejectedLine
from bbllm.planners.inner_monologue.prompting import (
    Monologue,
    MonologuePrompt,
    NextStep,
    parse_next,
)

MAX_STEPS = 300
"""How many thoughts an episode may have. The paper sets no limit; the limit of steps that every
run has ends an episode before this, and so do thoughts that try nothing (`IDLE_LIMIT`)."""


@dataclass(frozen=True, slots=True)
class InnerMonologueOptions:
    """What of the planner can be varied."""

    window: Literal[5, 10, 20, 40, 'all'] = 20
    """How many of the newest steps the prompt contains."""
    messages: bool = False
    """Whether it has the reason of a failure; in the paper it has only the failure."""


class InnerMonologue:
    """
    The planning method of the paper, and with a window that of its baseline in LLM-State.

    Source: Huang et al., Inner Monologue: Embodied Reasoning through Planning with Language
    Models; Chen et al., LLM-State, section IV (InnerMonologue-W: a window, because the whole
    monologue outgrows the model's context; how long it is they do not say). After each step the
    model hears whether it succeeded and what is seen that was not, and says the next one. The
    number of feedback loops says nothing here: each step is one.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: InnerMonologueOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: Whose monologue it is.
            body: Not used.
            k: Not used: after each step the model is asked for the next.
            options: What is varied.
        """
        self._model = brain
        options = options or InnerMonologueOptions()
        self._window = None if options.window == 'all' else options.window
        self._messages = options.messages
        self._prompt = MonologuePrompt()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the model says that it is done.

        Raises:
            ParseError: The model gave two replies in a row without an action.
            GaveUpError: There is nothing to work with, the model said that it cannot be done, or
                it went on and on.
            BbllmError: Whatever world or model raised.
        """
        hands = Hands(world, context)
        refuse_impossible(task, hands.scene, context)
        monologue = Monologue(hands.names, hands.scene, self._window)
        for _ in range(MAX_STEPS):
            monologue.hear(context.take_human_feedback())
            step = self._next(task, monologue, hands, context)
            if step.call is None:
                context.report_done()
                return
            self._take(step, hands, monologue, context)
        raise GaveUpError(
            f'After {MAX_STEPS} thoughts the model still does not say that it is done. A lower '
            'limit of steps would have ended this earlier.'
        )

    def _next(
        self, task: Task, monologue: Monologue, hands: Hands, context: EpisodeContext
    ) -> NextStep:
        prompt = self._prompt.next(task, monologue, hands.scene)
        read = partial(parse_next, actions=low_level_actions(hands.scene))
        request = PromptRequest(kind='next_action', scene=hands.scene)
        step = ask(self._model, prompt, read, request=request, on_retry=context.warn)
        for line in step.extra:
            context.emit(
                LineDiscarded(
                    line,
                    'It stands behind the action; what comes of that is not the model to say.',
                )
            )
        return step

    def _take(
        self, step: NextStep, hands: Hands, monologue: Monologue, context: EpisodeContext
    ) -> None:
        """Do what the step says, and add it to the monologue with what came of it."""
        assert step.call is not None
        if isinstance(step.call, RejectedLine):
            step.call.tell(context)
            # No call was made of it, so that only its grammar can be at fault: that is told.
            monologue.add(step.thought, step.call.text, None, hands.scene, why=step.call.why)
            hands.idle(True)
            return
        hands.carry_out([step.call])
        outcome = hands.history[-1]
        why = outcome.message if self._messages else ''
        monologue.add(step.thought, str(step.call), outcome, hands.scene, why=why)


INNER_MONOLOGUE = PlannerSpec(
    factory=InnerMonologue,
    options=InnerMonologueOptions(),
    uses_feedback=False,
    asks_body=False,
)
