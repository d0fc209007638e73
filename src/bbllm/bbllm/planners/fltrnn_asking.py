"""How FLTRNN and its baselines ask for a plan: what is lost of a reply is told and counted."""

from __future__ import annotations

from collections.abc import Callable

from bbllm.core.errors import ParseError
from bbllm.core.protocols import ChatModel, EpisodeContext
from bbllm.planners.fltrnn_parsing import FORM, LostPlanError, ParsedPlan, parse_calls
from bbllm.planners.prompting import ask


def ask_plan(
    model: ChatModel,
    prompt: str,
    context: EpisodeContext,
    *,
    against: Callable[[ParsedPlan], str] = lambda plan: '',
) -> ParsedPlan:
    """
    Ask for a plan, and once more where the reply cannot be used as it is.

    Each line that is left out, of the first reply too, is told as discarded. A second reply with
    the same faults is a plan without these lines.

    Args:
        model: Who is asked.
        prompt: What it is asked.
        context: Is told.
        against: Tells what is to be said to the model against a plan, '' where nothing is.

    Raises:
        LostPlanError: The last reply had lines that should be calls, and none was.
        ParseError: Neither reply had any.
        GaveUpError: The model says that it cannot be done.
        ModelError: No reply.
    """
    latest: list[ParsedPlan | LostPlanError] = []

    def read(text: str) -> ParsedPlan:
        try:
            plan = parse_calls(text)
        except LostPlanError as error:
            if error.left_out:
                latest.append(error)
            _tell(error.left_out, context)
            raise
        latest.append(plan)
        _tell(plan.left_out, context)
        if plan.has_blocks:
            raise ParseError(
                f'Lines stand in a block, and none of these is done. A plan is {FORM}.'
            )
        if why := against(plan):
            raise ParseError(why)
        return plan

    try:
        return ask(model, prompt, read, on_retry=context.warn)
    except ParseError as error:
        if not latest:
            raise
        if isinstance(latest[-1], LostPlanError):
            raise LostPlanError(str(error), latest[-1].left_out) from error
        return latest[-1]


def _tell(left_out: tuple[tuple[str, str], ...], context: EpisodeContext) -> None:
    for text, why in left_out:
        context.tell_discarded(text, why)
