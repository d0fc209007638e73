"""A step of a plan, as it is mapped to a call and executed, in the world or in a rehearsal."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.core.approval import denied, withdrawn
from bbllm.core.errors import ParseError
from bbllm.core.events import StepBegun, StepFailed
from bbllm.core.protocols import Body, EpisodeContext, Pass, StepFailure, World, features_of
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.steps import failure_cause, leave_passed


def unfinished(
    end: PlanStep, context: EpisodeContext, scene: Scene | None = None
) -> StepFailure | None:
    """Return why the task is not done at the end of the plan; None if nothing shows that."""
    fault = context.unfinished(scene)
    cause = f'The plan has ended, and the task is not done. {fault}'
    return StepFailure(end, cause, tried=False) if fault else None


def attempt(
    step: PlanStep,
    body: Body,
    world: World,
    context: EpisodeContext,
    foreseen: Callable[[Scene], Sequence[SkillCall]],
) -> StepFailure | None:
    """Map one step and execute it; None if it succeeded. What is *foreseen* follows it."""
    context.emit(StepBegun.of(step))
    scene = world.observe()
    call = mapped_step(step, body, scene)
    if isinstance(call, StepFailure):
        return replace(call, human=context.take_human_feedback())
    if expect := features_of(world).expect:
        expect(foreseen(scene))
    failure = executed(step, call, world)
    return failure and replace(failure, human=context.take_human_feedback())


def leave(failure: StepFailure, context: EpisodeContext) -> None:
    """Report a step that no repair replaces."""
    if failure.passed:
        leave_passed(failure.step, failure.cause, context)
    else:
        context.emit(StepFailed.of(failure.step, failure.cause, code=failure.code))


def mapped_step(step: PlanStep, body: Body, scene: Scene) -> SkillCall | StepFailure:
    """Return the call of a step, or why there is none."""
    try:
        call = body.map(step, scene)
    except ParseError as error:
        cause = f'This step could not be turned into a call. {error}'
        return StepFailure(step, cause, code=code_behind(error))
    if isinstance(call, Pass):
        cause = f'The Body found no action for this step: {call.reason}'
        return StepFailure(step, cause, passed=True)
    return call


def executed(step: PlanStep, call: SkillCall, world: World) -> StepFailure | None:
    """Execute the call of a step; return why it failed, None if it succeeded."""
    outcome = world.execute(call)
    if outcome.succeeded:
        return None
    cause = failure_cause(outcome, call)
    denial = denied(outcome)
    if denial is not None or withdrawn(outcome):
        if denial is not None and denial[1]:
            cause = 'A person did not approve it, for the reason that was added to the task.'
        return StepFailure(step, cause, outcome=outcome, tried=False)
    return StepFailure(step, cause, outcome.raw, outcome=outcome)
