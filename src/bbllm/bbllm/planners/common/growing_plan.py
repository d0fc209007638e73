"""The plan of an episode that grows by what is planned next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bbllm.core.events import PlanMade
from bbllm.core.protocols import EpisodeContext
from bbllm.core.types import Plan, PlanStep
from bbllm.planners.common.plan_grammar import plan_on


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
