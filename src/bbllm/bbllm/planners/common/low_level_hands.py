"""Executes low-level calls one by one, and records what was tried and seen."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bbllm.core.approval import denied, withdrawn
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import PlanMade, RepairBegun, StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import Body, EpisodeContext, Pass, World
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import Outcome, Plan, PlanStep, Scene, Skill, SkillCall, Status
from bbllm.planners.common.goal_predicates import refuse_empty
from bbllm.planners.common.plan_grammar import plan_on
from bbllm.planners.domains.household.low_level import WAIT
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.observation_text import ShortNames


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


class GrowingPlan:
    """A plan that is emitted as a whole whenever it changes."""

    def __init__(self, context: EpisodeContext):
        self._context = context
        self._plan = Plan()
        self.next = 0
        """Number of the next step, advanced by the user; a step to replan stays the next one."""

    @property
    def left(self) -> tuple[PlanStep, ...]:
        return self._plan.steps[self.next :]

    def go_on(self, texts: Iterable[str]) -> Sequence[PlanStep]:
        """Replace all steps from the next one on, emit the plan, and return the new steps."""
        steps = [PlanStep(i, text) for i, text in enumerate(texts, start=self.next)]
        self._plan = plan_on(self._plan, self.next, steps)
        self._context.emit(PlanMade.of(self._plan, self.next))
        return steps


class CallRunner:
    """Executes one plan after the other; a failed step is replanned unless it fails `for_good`."""

    def __init__(self, world: World, context: EpisodeContext, *, for_good: bool = True):
        self._world = world
        self._context = context
        self._for_good = for_good
        self._plan = GrowingPlan(context)

    def run(self, calls: Sequence[SkillCall]) -> Iterator[Outcome]:
        """Execute a call for each outcome that is consumed; the rest are dropped from the plan."""
        steps = self._plan.go_on(map(str, calls))
        for step, call in zip(steps, calls, strict=True):
            self._context.emit(StepBegun.of(step))
            self._plan.next = step.index + 1
            outcome = self._world.execute(call)
            if self._for_good and not outcome.succeeded:
                self._context.emit(StepFailed.of(step, failure_cause(outcome, call)))
            yield outcome


IDLE_LIMIT = 3
"""How many rounds in a row may try no call in the world. No step limit counts such rounds."""
MAX_WAITS = 150
"""How often an episode may wait: the highest step limit in LLM-State, where `wait` is a step."""


class Hands:
    """
    Executes low-level plans in one episode; raises GaveUpError if there is nothing to work with.

    It observes at the start and after each step only, because names depend on first sight.
    """

    def __init__(self, world: World, context: EpisodeContext):
        self._world = world
        self._context = context
        self._plan = GrowingPlan(context)
        self._n_idle = 0
        self._n_waits = 0
        self.names = ShortNames()
        self.history: list[Outcome] = []
        """All outcomes, oldest first; a `wait` that the world lacks counts as a success."""
        self.scene = self._observe()
        """The latest scene."""
        refuse_empty(self.scene)

    @property
    def actions(self) -> tuple[Skill, ...]:
        """What a low-level plan may have now."""
        return language_of(self.scene).low_level_actions(self.scene)

    def carry_out(self, calls: Sequence[SkillCall]) -> None:
        """
        Execute calls up to the first that fails, or up to a remark.

        Raises GaveUpError if nothing comes of it.
        """
        idle, first = True, self._plan.next
        for step, call in zip(self._plan.go_on(map(str, calls)), calls, strict=True):
            if step.index > first and self._context.spoken:
                idle = False
                break
            self._context.emit(StepBegun.of(step))
            made = language_of(self.scene).low_level_call(call, self.scene, self.names)
            if isinstance(made, Pass):
                outcome = self._wait(step)
            else:
                outcome, idle = self._world.execute(made), False
                self.scene = self._observe()
            self.history.append(outcome)
            if not outcome.succeeded:
                remarked = denied(outcome) is not None or withdrawn(outcome)
                begun = RepairBegun.of(step, failure_cause(outcome, call))
                self._context.emit(replace(begun, remarked=remarked))
                break
            self._plan.next += 1  # a failed step is planned anew
        self.idle(idle)

    def idle(self, nothing_tried: bool) -> None:
        """Count a round without a call in the world; raise GaveUpError at IDLE_LIMIT in a row."""
        self._n_idle = self._n_idle + 1 if nothing_tried else 0
        if self._n_idle >= IDLE_LIMIT:
            raise GaveUpError(
                f'In {IDLE_LIMIT} rounds in a row the model has asked for nothing that can be '
                'tried. Any action but `wait`, or the line `done`, would have gone on.'
            )

    def _wait(self, step: PlanStep) -> Outcome:
        self._n_waits += 1
        if self._n_waits > MAX_WAITS:
            raise GaveUpError(
                f'The model has waited {MAX_WAITS} times, and nothing comes of waiting. Any '
                'other action, or the line `done`, would have gone on.'
            )
        self._context.emit(StepPassed.of(step))
        return Outcome(call=SkillCall(WAIT), status=Status.SUCCEEDED)

    def _observe(self) -> Scene:
        scene = self._world.observe()
        self.names.see(scene)
        return scene
