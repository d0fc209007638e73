"""How FLTRNN and its baselines ask for a plan: what is lost of a reply is told and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bbllm.core.errors import ParseError
from bbllm.core.protocols import ChatModel, EpisodeContext
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import Discarded, LeftOut
from bbllm.planners.fltrnn.grammar import FORM, LostPlanError, ParsedPlan, parse_calls


def ask_plan(
    model: ChatModel,
    prompt: str,
    context: EpisodeContext,
    *,
    refusals: Callable[[ParsedPlan], Sequence[Discarded]] = lambda plan: (),
    against: Callable[[Sequence[Discarded]], str] = lambda refused: '',
) -> ParsedPlan:
    """
    Ask for a plan, and once more where the reply cannot be used as it is.

    Each line that is left out and each call that is refused is told as discarded, those of the
    first reply too; what the second repeats is not told again. A second reply with the same
    faults is a plan without these lines.

    Args:
        model: Who is asked.
        prompt: What it is asked.
        context: Is told.
        refusals: Tells which calls of a plan are refused.
        against: Tells what is to be said to the model against these, '' where nothing is.

    Raises:
        LostPlanError: The last reply had lines that should be calls, and none was.
        ParseError: Neither reply had any.
        GaveUpError: The model says that it cannot be done.
        ModelError: No reply.
    """
    latest: list[ParsedPlan | LostPlanError] = []
    left_out = LeftOut(lambda line: line.tell(context))

    def read(text: str) -> ParsedPlan:
        try:
            plan = parse_calls(text)
        except LostPlanError as error:
            if error.left_out:
                latest.append(error)
            left_out.of_reply(_malformed(error.left_out))
            raise
        latest.append(plan)
        refused = refusals(plan)
        left_out.of_reply([*_malformed(plan.left_out), *refused])
        if plan.has_blocks:
            raise ParseError(
                f'Lines stand in a block, and none of these is done. A plan is {FORM}.'
            )
        if why := against(refused):
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


def _malformed(left_out: Sequence[tuple[str, str]]) -> list[Discarded]:
    return [Discarded(text, why) for text, why in left_out]
