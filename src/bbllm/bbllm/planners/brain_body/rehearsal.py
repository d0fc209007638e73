"""Plans that are tried in a simulation, and repaired there, before they are carried out."""

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError, SpokenError
from bbllm.core.events import RepairBegun, SceneRecorded
from bbllm.core.protocols import EpisodeContext, Rehearsal, StepFailure, World, features_of
from bbllm.core.text import rehearsed_cause
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall
from bbllm.planners.brain_body.attempts import executed, mapped_step, unfinished
from bbllm.planners.brain_body.plan_requests import PlanRequests
from bbllm.planners.common.plan_mapper import PlanMapper
from bbllm.planners.common.written_plan import WrittenPlan

REHEARSAL_LOOPS = 3
"""How often a plan is repaired after a rehearsal before it is carried out."""


def rehearsed(
    plan: WrittenPlan,
    start: int,
    requests: PlanRequests,
    mapper: PlanMapper,
    world: World,
    context: EpisodeContext,
) -> WrittenPlan:
    """
    Return the plan to carry out: repaired until its rehearsal succeeds, where the world has one.

    A repair after a rehearsal uses up no feedback loop. After `REHEARSAL_LOOPS` of them the plan
    is carried out as far as it goes.
    """
    rehearse = features_of(world).rehearse
    if rehearse is None:
        return plan
    rehearsal = PlanRehearsal(rehearse, start, mapper, context)
    with closing(rehearsal), suppress(SpokenError):  # what was said comes before the next step
        for loop in range(REHEARSAL_LOOPS + 1):
            found = rehearsal.try_steps(plan.whole(), checks_end=not plan.rest)
            if found.failure is None or loop == REHEARSAL_LOOPS:
                break
            failure, old = found.failure, plan.plan
            code = failure.outcome.code if failure.outcome else failure.code
            repair = RepairBegun.of(failure.step, failure.cause, code=code)
            context.emit(replace(repair, rehearsed=True))
            try:
                plan = requests.after_rehearsal(failure, old, found.scene)
            except ParseError as error:
                context.warn(f'The plan stays as it was rehearsed: {error}')
                break
            if plan.plan == old and failure.step.index == len(old.steps):
                break  # the Brain finds nothing left to do
        mapper.keep(rehearsal.calls)
    return plan


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
            call = self.calls.get(step.index) or mapped_step(step, self._mapper, scene)
            if isinstance(call, StepFailure):
                failure = call
                break
            failure = executed(step, call, rehearsal)
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
