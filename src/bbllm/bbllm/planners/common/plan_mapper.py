"""The mapping of a plan: each step at its turn, without a model where it already is a call."""

from collections.abc import Mapping, Sequence
from itertools import islice

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, Pass
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import settled
from bbllm.planners.common.step_grammar import call_of

FORESEEN = 3
"""How many calls are foreseen: a world prepares the next one or two."""


class PlanMapper:
    """
    A Body that reads steps which already are calls, and asks another Body for the others.

    Args:
        body: The Body to ask.
        reads_calls: Whether steps are read if the Body allows it; if not, it is asked for each,
            as in the paper.
    """

    def __init__(self, body: Body, *, reads_calls: bool = True):
        self.name = body.name
        self.reads_calls = reads_calls and body.reads_calls
        self._body = body
        self._kept: Mapping[int, SkillCall] = {}

    def keep(self, calls: Mapping[int, SkillCall]) -> None:
        """Take these calls for steps of the plan in force, by number, as a rehearsal of it did."""
        self._kept = dict(calls)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return the call of a step of the plan, or a pass; see `Body`."""
        call = self._known(step, scene) if self.reads_calls else self._kept.get(step.index)
        return self._body.map(step, scene) if call is None else settled(call, scene)

    def foreseen(self, later: Sequence[PlanStep], scene: Scene) -> tuple[SkillCall, ...]:
        """Return the calls that the steps to come will probably be, as far as they are known."""
        calls: list[SkillCall] = []
        for step in islice(later, FORESEEN):
            try:
                call = self._known(step, scene)
            except ParseError:
                break
            if call is None:
                break
            calls.append(call)
        return tuple(calls)

    def _known(self, step: PlanStep, scene: Scene) -> SkillCall | None:
        return self._kept.get(step.index) or call_of(step.text, scene)
