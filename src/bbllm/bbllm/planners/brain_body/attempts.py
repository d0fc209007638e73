"""Steps of a plan as they are tried: one on the arm, or all that are left in a rehearsal."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bbllm.core.approval import denied, withdrawn
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError
from bbllm.core.events import SceneRecorded, StepBegun, StepFailed
from bbllm.core.protocols import (
    Body,
    EpisodeContext,
    Pass,
    Rehearsal,
    StepFailure,
    World,
    features_of,
)
from bbllm.core.skill_calls import code_behind
from bbllm.core.text import rehearsed_cause
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall
from bbllm.planners.common.low_level_hands import failure_cause, leave_passed
from bbllm.planners.common.plan_mapper import PlanMapper


def unfinished(
    end: PlanStep, context: EpisodeContext, scene: Scene | None = None
) -> StepFailure | None:
    """Return why the task is not done at the end of the plan; None if nothing shows that."""
    fault = context.unfinished(scene)
    cause = f'The plan has ended, and the task is not done. {fault}'
    return StepFailure(end, cause, tried=False) if fault else None


def attempt(
    step: PlanStep, body: Body, mapper: PlanMapper, world: World, context: EpisodeContext
) -> StepFailure | None:
    """Map one step and execute it; None if it succeeded."""
    context.emit(StepBegun.of(step))
    scene = world.observe()
    call = _mapped(step, body, mapper, scene)
    if isinstance(call, StepFailure):
        return replace(call, human=context.take_human_feedback())
    if expect := features_of(world).expect:
        expect(mapper.foreseen(step))
    mapper.look_ahead(step)
    failure = _executed(step, call, world, scene)
    return failure and replace(failure, human=context.take_human_feedback())


def leave(failure: StepFailure, context: EpisodeContext) -> None:
    """Report a step that no repair replaces."""
    if failure.passed:
        leave_passed(failure.step, failure.cause, context)
    else:
        context.emit(StepFailed.of(failure.step, failure.cause, code=failure.code))


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What became of a plan in its rehearsal."""

    failure: StepFailure | None
    """The first step that failed, marked as rehearsed; None where none did."""
    scene: Scene
    """As predicted before that step, or at the end of the plan."""


class PlanRehearsal:
    """
    Rehearsals of one plan and of what repairs make of it, from one step on.

    A repaired plan goes on where the failed step left the simulations, if that moved nothing in
    them; else its steps are tried again from the first, with the calls that they became.
    """

    def __init__(
        self,
        begin: Callable[[CancelToken | None], Rehearsal],
        start: int,
        mapper: PlanMapper,
        context: EpisodeContext,
    ) -> None:
        self._begin, self._start = begin, start
        self._mapper, self._context = mapper, context
        self._rehearsal: Rehearsal | None = None
        self.calls: dict[int, SkillCall] = {}
        """Of the steps that have succeeded so far, by their number."""

    def try_steps(self, plan: Plan, *, checks_end: bool) -> Rehearsed:
        """Try the steps of a plan; *checks_end* is whether the goal is checked at its end."""
        failed_at = len(self.calls) + self._start
        if self._rehearsal is not None and self._rehearsal.is_intact:
            rehearsal, steps = self._rehearsal, plan.steps[failed_at:]
        else:
            self.close()
            rehearsal = self._rehearsal = self._begin(None)
            steps = plan.steps[self._start :]
        failure, scene = None, rehearsal.observe()
        for step in steps:
            call = self.calls.get(step.index) or _mapped(step, self._mapper, self._mapper, scene)
            if isinstance(call, StepFailure):
                failure = call
                break
            failure = _executed(step, call, rehearsal, scene)
            if failure is not None:
                break
            self.calls[step.index] = call
            scene = rehearsal.observe()
        if failure is None and checks_end:
            failure = unfinished(PlanStep(len(plan.steps), 'Done'), self._context, scene)
        result = rehearsal.result
        if failure is None:
            self._context.emit(result)
            self._context.emit(SceneRecorded('predicted', scene))
            return Rehearsed(None, scene)
        self._context.emit(replace(result, index=failure.step.index, cause=failure.cause))
        return Rehearsed(replace(failure, cause=rehearsed_cause(failure.cause)), scene)

    def close(self) -> None:
        """Release the simulations."""
        if self._rehearsal is not None:
            self._rehearsal.close()


def _mapped(
    step: PlanStep, body: Body, mapper: PlanMapper, scene: Scene
) -> SkillCall | StepFailure:
    """Return the call of a step, or why there is none."""
    try:
        call = body.map(step, scene)
    except ParseError as error:
        cause = f'This step could not be turned into a call. {error}'
        return StepFailure(step, cause, code=code_behind(error))
    if isinstance(call, Pass):
        # One loop for all steps of the plan that the Body has passed so far.
        later = [f'Nor for {each}: {it.reason}' for each, it in mapper.passed_ahead()]
        cause = ' '.join([f'The Body found no action for this step: {call.reason}', *later])
        return StepFailure(step, cause, passed=True)
    return call


def _executed(step: PlanStep, call: SkillCall, world: World, before: Scene) -> StepFailure | None:
    outcome = world.execute(call)
    if outcome.succeeded:
        return None
    cause = failure_cause(outcome, call)
    denial = denied(outcome)
    if denial is not None or withdrawn(outcome):
        if denial is not None and denial[1]:
            cause = 'A person did not approve it, for the reason that was added to the task.'
        return StepFailure(step, cause, outcome=outcome, tried=False)
    return StepFailure(step, cause, outcome.raw, outcome=outcome, before=before)
