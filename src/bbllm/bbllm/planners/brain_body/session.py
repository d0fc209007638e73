"""What works around the loop: the plan in force, and what is done ahead of it and beside it."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

from bbllm.core.errors import AnsweredError, BrokenPlanError, ParseError, SpokenError
from bbllm.core.events import AnswerGiven, RepairBegun, remarks_text
from bbllm.core.protocols import Body, EpisodeContext, StepFailure, World, features_of
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.planners.brain_body.attempts import attempt, leave, unfinished
from bbllm.planners.brain_body.house_body import body_in
from bbllm.planners.brain_body.options import BrainBodyOptions
from bbllm.planners.brain_body.plan_requests import PlanRequests
from bbllm.planners.brain_body.rehearsal import rehearsed
from bbllm.planners.common.belief.belief_world import believing
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.plan_mapper import PlanMapper
from bbllm.planners.common.steps import failure_cause
from bbllm.planners.common.written_plan import WrittenPlan, plan_stream

ADDED = 'Before this step something was added to the task.'
"""The cause of a repair for a remark; the words are part of the task."""
REST = 'the rest of the plan'
"""Stands for a step that is not written."""


@contextmanager
def plan_session(
    planner: ModelPlanner,
    options: BrainBodyOptions,
    task: Task,
    world: World,
    context: EpisodeContext,
) -> Iterator['PlanSession']:
    """Yield the session of an episode, without a plan yet; end requests under way after it."""
    stream = plan_stream(planner.brain, world)
    world = believing(world, options.open_state, context)
    mapper = PlanMapper(planner.body, reads_calls=options.read_calls)
    body = body_in(world, mapper, options.grounding, task, context)
    requests = PlanRequests(planner, options, task, world, context, stream)
    with context.taking_remarks(), closing(requests):
        yield PlanSession(world, body, context, mapper, requests)


@dataclass
class PlanSession:
    """
    The plan in force, which may still be written, and what is done with its steps.

    A new plan is rehearsed, where the world can do that, before a step of it is carried out. A
    remark is a failure of the step that it came before.
    """

    _world: World
    _body: Body
    _context: EpisodeContext
    _mapper: PlanMapper
    _requests: PlanRequests
    _plan: WrittenPlan = field(init=False)
    ended: bool = field(default=False, init=False)
    """Whether nothing is left to do."""

    def plan(self) -> None:
        """
        Ask the Brain for the first plan.

        Raises:
            ParseError: No reply can be read.
        """
        self._follow(self._requests.first())
        self._rehearse(0)

    def attempt(self, i: int, *, loops_left: int) -> StepFailure | None:
        """
        Map step *i* and execute it; return why it failed, None if it succeeded.

        Behind the last step the plan has ended, which fails if the task is not done and a loop is
        left.

        Raises:
            BrokenPlanError: The rest of the plan cannot be read, and no loop is left.
        """
        failure = self._tried(i, loops_left)
        if failure is not None and (expect := features_of(self._world).expect):
            expect(())
        return failure

    def repair(self, failure: StepFailure, *, loops_left: int, remarked: bool) -> bool:
        """
        Ask the Brain for the plan from a failure on; return whether there is one.

        *remarked* is whether a person asked for it; if not, a repair of the end that adds no step
        is the end.
        """
        start, old = failure.step.index, self._plan
        self._context.emit(_repair_begun(failure, remarked))
        try:
            new = self._requests.repaired(failure, old, loops_left)
        except AnsweredError as error:
            # The plan stays as it was: the remark was a question.
            self._context.emit(AnswerGiven(str(error)))
            return remarked
        except ParseError as error:
            self._context.warn(
                f'The Brain gave no plan from step {start} on that can be read: {error}'
            )
            return False
        if old.fault and old.fault != failure.cause:
            self._context.warn(old.fault)
        self._follow(new)
        self.ended = not remarked and start == len(old.plan.steps) == len(new.plan.steps)
        if not self.ended:
            self._rehearse(start)
        return True

    def leave(self, failure: StepFailure) -> None:
        """Report a step that no repair replaces."""
        leave(failure, self._context)

    def _follow(self, plan: WrittenPlan) -> None:
        self._plan = plan
        self._mapper.keep({})

    def _rehearse(self, start: int) -> None:
        self._plan = rehearsed(
            self._plan, start, self._requests, self._mapper, self._world, self._context
        )

    def _tried(self, i: int, loops_left: int) -> StepFailure | None:
        while True:
            try:
                return self._step(i) if self._plan.has(i) else self._end(i, loops_left)
            except SpokenError:
                steps = self._plan.plan.steps
                if failure := self._added(steps[i] if i < len(steps) else PlanStep(i, REST)):
                    return failure
            except BrokenPlanError as error:
                human = self._context.take_human_feedback()
                if not (loops_left or human):
                    raise
                return StepFailure(PlanStep(i, REST), str(error), human=human, tried=False)

    def _step(self, i: int) -> StepFailure | None:
        step = self._plan.plan.steps[i]

        def foreseen(scene: Scene) -> Sequence[SkillCall]:
            return self._mapper.foreseen(self._plan.plan.steps[i + 1 :], scene)

        return self._added(step) or attempt(step, self._body, self._world, self._context, foreseen)

    def _end(self, i: int, loops_left: int) -> StepFailure | None:
        end = PlanStep(i, 'Done')
        failure = self._added(end)
        if failure is None and loops_left and not self._plan.rest:
            failure = unfinished(end, self._context)
        self.ended = failure is None
        return failure

    def _added(self, step: PlanStep) -> StepFailure | None:
        """Return what was added to the task before a step, as its failure."""
        remarks = self._context.take_human_feedback()
        return StepFailure(step, ADDED, human=remarks, tried=False) if remarks else None


def _repair_begun(failure: StepFailure, remarked: bool) -> RepairBegun:
    """Return the event of a repair; its cause has the words that prompts show in the task."""
    cause = failure.cause
    if failure.outcome is not None:
        cause = failure_cause(failure.outcome, failure.outcome.call)
    elif cause == ADDED:
        cause = f'Before this step {remarks_text(failure.human)}'
    begun = RepairBegun.of(failure.step, cause, code=failure.code)
    return replace(begun, remarked=remarked)
