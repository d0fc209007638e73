"""A step of a plan, as it is mapped to a call, and what is reported of it."""

from bbllm.core.errors import ParseError
from bbllm.core.events import StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import Body, EpisodeContext, Pass
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import Outcome, PlanStep, Scene, SkillCall


def failure_cause(outcome: Outcome, call: object) -> str:
    return outcome.message or f'{call} failed with code {outcome.code.name}.'


def map_step(
    body: Body, step: PlanStep, scene: Scene, context: EpisodeContext, problem: str
) -> SkillCall | None:
    """Begin a step and return its call, if any; `problem` precedes the parser's error."""
    context.emit(StepBegun.of(step))
    try:
        call = body.map(step, scene)
    except ParseError as error:
        context.emit(StepFailed.of(step, f'{problem} {error}', code=code_behind(error)))
        return None
    if isinstance(call, Pass):
        leave_passed(step, call.reason, context)
        return None
    return call


def leave_passed(step: PlanStep, reason: str, context: EpisodeContext) -> None:
    """Report that a step stays passed, and the reason for people."""
    context.emit(StepPassed.of(step))
    if reason:
        context.warn(f'Step {step.index} ({step.text[:80]!r}) was passed: {reason}')
