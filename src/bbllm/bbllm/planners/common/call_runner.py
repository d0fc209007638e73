"""Carries out plans of calls, while the plan of the episode grows by what is planned next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bbllm.core.events import StepBegun, StepFailed
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import Outcome, SkillCall
from bbllm.planners.common.growing_plan import GrowingPlan


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
