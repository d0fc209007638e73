"""Carries out low-level calls one by one, and remembers what was tried and what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bbllm.core.errors import GaveUpError
from bbllm.core.events import PlanMade, RepairBegun, StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import PASS, EpisodeContext, World
from bbllm.core.types import Outcome, Plan, PlanStep, Scene, SkillCall, Status
from bbllm.planners.common.goal_predicates import refuse_empty
from bbllm.planners.common.low_level_plan import WAIT, LowLevelCall, in_world
from bbllm.planners.common.plan_grammar import plan_on
from bbllm.planners.common.short_names import ShortNames


class GrowingPlan:
    """
    A plan that is told in whole whenever it goes on.

    Args:
        context: Is told it.
    """

    def __init__(self, context: EpisodeContext):
        self._context = context
        self._plan = Plan()
        self.next = 0
        """Number of the step that is next; whoever carries the plan out moves it on. A step that
        is to be planned anew stays the next one."""

    @property
    def left(self) -> tuple[PlanStep, ...]:
        """The steps from the next one on."""
        return self._plan.steps[self.next :]

    def go_on(self, texts: Iterable[str]) -> Sequence[PlanStep]:
        """Put new steps in the place of all from the next one on, tell the plan, return them."""
        steps = [PlanStep(i, text) for i, text in enumerate(texts, start=self.next)]
        self._plan = plan_on(self._plan, self.next, steps)
        self._context.emit(PlanMade.of(self._plan, self.next))
        return steps


class CallRunner:
    """
    Carries out one plan after the other; each goes on where the last one ended.

    Args:
        world: Where it is done.
        context: Is told the plan and each step.
        for_good: Whether a step that fails stays failed, and is told so; otherwise whoever plans
            sees to it that it is made up for.
    """

    def __init__(self, world: World, context: EpisodeContext, *, for_good: bool = True):
        self._world = world
        self._context = context
        self._for_good = for_good
        self._plan = GrowingPlan(context)

    def run(self, calls: Sequence[SkillCall]) -> Iterator[Outcome]:
        """
        Carry out calls, one for each outcome that is taken; what was not is no step any more.

        Raises:
            WorldError: The world has gone.
        """
        steps = self._plan.go_on(map(str, calls))
        for step, call in zip(steps, calls, strict=True):
            self._context.emit(StepBegun.of(step))
            self._plan.next = step.index + 1
            outcome = self._world.execute(call)
            if self._for_good and not outcome.succeeded:
                cause = outcome.message or f'{call} failed with code {outcome.code.name}.'
                self._context.emit(StepFailed.of(step, cause))
            yield outcome


IDLE_LIMIT = 3
"""How many rounds in a row may try nothing in the world. No limit of steps counts them, so that
without this one a model that only waits would be asked until its planner's own limit."""

MAX_WAITS = 150
"""How often an episode may wait: the highest limit of steps in LLM-State, where `wait` is a step.
Each stands in the history that later prompts tell."""


class Hands:
    """
    Does what low-level plans say, in one episode.

    Whoever replays a history on a copy of the start gives things the same names, because names
    go by when a thing was seen: this looks at the start and after each step, and at no other time.

    Args:
        world: Where things are done.
        context: Is told plans and steps.

    Raises:
        GaveUpError: There is nothing to work with.
    """

    def __init__(self, world: World, context: EpisodeContext):
        self._world = world
        self._context = context
        self._plan = GrowingPlan(context)
        self._n_idle = 0
        self._n_waits = 0
        self.names = ShortNames()
        """What things are called."""
        self.history: list[Outcome] = []
        """All that was tried, oldest first; a `wait` that no world has counts as a success."""
        self.scene = self._look()
        """What was seen last."""
        refuse_empty(self.scene)

    def carry_out(self, calls: Sequence[LowLevelCall]) -> None:
        """
        Do one call after the other, up to the first that fails.

        Raises:
            GaveUpError: Nothing was tried for IDLE_LIMIT rounds in a row, or it waited more than
                MAX_WAITS times.
        """
        steps = self._plan.go_on(map(str, calls))
        self.idle(self._do_all(steps, calls))

    def idle(self, nothing_tried: bool) -> None:
        """
        Count a round in which nothing was tried, or begin to count anew.

        Raises:
            GaveUpError: It was the last of IDLE_LIMIT in a row.
        """
        self._n_idle = self._n_idle + 1 if nothing_tried else 0
        if self._n_idle >= IDLE_LIMIT:
            raise GaveUpError(
                f'In {IDLE_LIMIT} rounds in a row the model has asked for nothing that can be '
                'tried. Any action but `wait`, or the line `done`, would have gone on.'
            )

    def _do_all(self, steps: Sequence[PlanStep], calls: Sequence[LowLevelCall]) -> bool:
        """Do the calls; tell whether the world never heard of one."""
        idle = True
        for step, call in zip(steps, calls, strict=True):
            self._context.emit(StepBegun.of(step))
            idle = idle and in_world(call, self.scene, self.names) is PASS
            outcome = self._do(step, call)
            self.history.append(outcome)
            if not outcome.succeeded:
                cause = outcome.message or f'{call} failed with code {outcome.code.name}.'
                self._context.emit(RepairBegun.of(step, cause))
                break
            self._plan.next += 1  # the one that failed is planned anew
        return idle

    def _do(self, step: PlanStep, call: LowLevelCall) -> Outcome:
        made = in_world(call, self.scene, self.names)
        if made is PASS:
            self._n_waits += 1
            if self._n_waits > MAX_WAITS:
                raise GaveUpError(
                    f'The model has waited {MAX_WAITS} times, and nothing comes of waiting. Any '
                    'other action, or the line `done`, would have gone on.'
                )
            self._context.emit(StepPassed.of(step))
            return Outcome(call=SkillCall(WAIT), status=Status.SUCCEEDED)
        assert isinstance(made, SkillCall)
        outcome = self._world.execute(made)
        self.scene = self._look()
        return outcome

    def _look(self) -> Scene:
        scene = self._world.observe()
        self.names.see(scene)
        return scene
