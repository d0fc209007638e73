"""Executes the calls of a plan one by one, and records what was tried and seen."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bbllm import (
    EpisodeContext,
    Outcome,
    Plan,
    PlanStep,
    Scene,
    Skill,
    SkillCall,
    Status,
    World,
    errors,
    events,
)
from bbllm.planning import Pass, ShortNames, denied, failure_cause, language_of, withdrawn
from bbllm_planners.goal_predicates import refuse_empty


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

    def at(self, text: str) -> PlanStep:
        """Return the next step; where the plan has none, it gets one with this text."""
        return self.left[0] if self.left else self.go_on([text])[0]

    def go_on(self, texts: Iterable[str]) -> Sequence[PlanStep]:
        """Replace all steps from the next one on, emit the plan, and return the new steps."""
        steps = [PlanStep(i, text) for i, text in enumerate(texts, start=self.next)]
        self._plan = Plan((*self._plan.steps[: self.next], *steps))
        self._context.emit(events.PlanMade.of(self._plan, self.next))
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
            self._context.emit(events.StepBegun.of(step))
            self._plan.next = step.index + 1
            outcome = self._world.execute(call)
            if self._for_good and not outcome.succeeded:
                self._context.emit(events.StepFailed.of(step, failure_cause(outcome, call)))
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
        self.plan = GrowingPlan(context)
        self.n_in_world = 0
        """How many calls the world has received."""
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
        n_in_world = self.n_in_world
        failed, n_done = self.run(calls)
        if failed is not None:
            remarked = denied(failed) is not None or withdrawn(failed)
            step = self.plan.left[0]
            begun = events.RepairBegun.of(step, failure_cause(failed, calls[n_done]))
            self._context.emit(replace(begun, remarked=remarked))
        spoken = failed is None and n_done < len(calls)
        self.idle(self.n_in_world == n_in_world and not spoken)

    def run(self, calls: Sequence[SkillCall]) -> tuple[Outcome | None, int]:
        """
        Execute calls up to the first that fails, or up to a remark.

        Returns the outcome of the one that failed, whose step stays the next one to be planned,
        and how many succeeded; what comes of a failure is the caller's.
        """
        steps = self.plan.go_on(map(str, calls))
        for n_done, (step, call) in enumerate(zip(steps, calls, strict=True)):
            if n_done and self._context.spoken:
                return None, n_done
            outcome = self._try(step, call)
            if not outcome.succeeded:
                return outcome, n_done
            self.plan.next += 1  # a failed step is planned anew
        return None, len(calls)

    def attempt(self, call: SkillCall) -> Outcome:
        """
        Execute one more call; what comes of a failure is the caller's.

        The step of a failed call is replaced by the next one.
        """
        (step,) = self.plan.go_on([str(call)])
        outcome = self._try(step, call)
        self.plan.next += outcome.succeeded
        return outcome

    def look(self) -> Scene:
        """Observe the scene once more, and return it."""
        self.scene = self._observe()
        return self.scene

    def _try(self, step: PlanStep, call: SkillCall) -> Outcome:
        self._context.emit(events.StepBegun.of(step))
        made = language_of(self.scene).low_level_call(call, self.scene, self.names)
        if isinstance(made, Pass):
            outcome = self._wait(step, call)
        else:
            outcome = self._world.execute(made)
            self.n_in_world += 1
            self.scene = self._observe()
        self.history.append(outcome)
        return outcome

    def idle(self, nothing_tried: bool) -> None:
        """Count a round without a call in the world; raise GaveUpError at IDLE_LIMIT in a row."""
        self._n_idle = self._n_idle + 1 if nothing_tried else 0
        if self._n_idle >= IDLE_LIMIT:
            raise errors.GaveUpError(
                f'In {IDLE_LIMIT} rounds in a row the model has asked for nothing that can be '
                'tried. Any action but `wait`, or the line `done`, would have gone on.'
            )

    def _wait(self, step: PlanStep, call: SkillCall) -> Outcome:
        self._n_waits += 1
        if self._n_waits > MAX_WAITS:
            raise errors.GaveUpError(
                f'The model has waited {MAX_WAITS} times, and nothing comes of waiting. Any '
                'other action, or the line `done`, would have gone on.'
            )
        self._context.emit(events.StepPassed.of(step))
        return Outcome(call=call, status=Status.SUCCEEDED)

    def _observe(self) -> Scene:
        scene = self._world.observe()
        self.names.see(scene)
        return scene
