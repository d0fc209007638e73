"""Carries out low-level calls one by one, and remembers what was tried and what was seen."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.core.errors import GaveUpError
from bbllm.core.instances import class_of
from bbllm.core.protocols import PASS, EpisodeContext, World
from bbllm.core.types import Kind, Outcome, Plan, PlanStep, Scene, SkillCall, Status
from bbllm.planners.low_level_plan import WAIT, LowLevelCall, in_world
from bbllm.planners.parsing import plan_on
from bbllm.planners.short_names import ShortNames
from bbllm.planners.surroundings import CHARACTER, HOUSEHOLD


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
        self._plan = Plan()
        self._n_done = 0
        """Steps of the plan that were carried out; the one that failed is planned anew."""
        self.names = ShortNames()
        """What things are called."""
        self.history: list[Outcome] = []
        """All that was tried, oldest first; a `wait` that no world has counts as a success."""
        self.scene = self._look()
        """What was seen last."""
        _refuse_empty(self.scene)

    def carry_out(self, calls: Sequence[LowLevelCall]) -> None:
        """Do one call after the other, up to the first that fails."""
        start = self._n_done
        steps = [PlanStep(start + i, str(call)) for i, call in enumerate(calls)]
        self._plan = plan_on(self._plan, start, steps)
        self._context.tell_plan(self._plan, start)
        for step, call in zip(steps, calls, strict=True):
            self._context.tell_step(step)
            outcome = self._do(step, call)
            self.history.append(outcome)
            if not outcome.succeeded:
                cause = outcome.message or f'{call} failed with code {outcome.code.name}.'
                self._context.tell_repair(step, cause)
                return
            self._n_done += 1

    def _do(self, step: PlanStep, call: LowLevelCall) -> Outcome:
        made = in_world(call, self.scene, self.names)
        if made is PASS:
            self._context.tell_pass(step)
            return Outcome(call=SkillCall(WAIT), status=Status.SUCCEEDED)
        assert isinstance(made, SkillCall)
        outcome = self._world.execute(made)
        self.scene = self._look()
        return outcome

    def _look(self) -> Scene:
        scene = self._world.observe()
        self.names.see(scene)
        return scene


def _refuse_empty(scene: Scene) -> None:
    things = [item for item in scene.objects if class_of(item.name) != CHARACTER]
    if all(item.kind is Kind.LOCATION for item in things):
        what = 'house' if scene.domain == HOUSEHOLD else 'table'
        raise GaveUpError(
            f'There is nothing in the {what} that could be worked with. A {what} with at least '
            'one thing in it would do.'
        )
