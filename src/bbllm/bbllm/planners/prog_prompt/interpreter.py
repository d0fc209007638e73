"""Executes programs of ProgPrompt call by call; no line is ever passed to Python."""

from collections.abc import Callable
from dataclasses import dataclass

from bbllm.core.events import RepairBegun, StepBegun, StepFailed
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import Scene
from bbllm.planners.common.low_level_hands import GrowingPlan
from bbllm.planners.common.program import (
    Call,
    CallFailure,
    Program,
    ProgramCondition,
    ProgramPart,
    Referents,
    attempt,
)

STEPS_OF_A_SUB_GOAL = 10
"""How many calls a sub-goal may make, including recoveries; further calls are skipped."""

Check = Callable[[ProgramCondition, Scene, str | None], bool]
"""Whether a condition is true in a scene, given the object that the program last went to."""


@dataclass(frozen=True, slots=True)
class TriedCall:
    """One call of a program and its result."""

    call: Call
    failed: CallFailure | None = None


@dataclass
class Interpreter:
    """
    Executes one program after the other, and checks their assertions.

    If `stops`, a failed call ends its program. In the paper it is skipped.
    """

    world: World
    context: EpisodeContext
    referents: Referents
    check: Check
    stops: bool = False

    def __post_init__(self) -> None:
        self.tried: list[TriedCall] = []
        """All calls so far, oldest first."""
        self._plan = GrowingPlan(self.context)

    @property
    def n_in_world(self) -> int:
        """How many calls reached the world."""
        return sum(item.failed is None or item.failed.code is None for item in self.tried)

    def run(self, program: Program) -> None:
        """Execute a program to its end, or to the first failed call if `stops`."""
        self._plan.go_on(map(str, program.calls))
        for goal in program.sub_goals:
            if not self._work_on(goal):
                return

    def _work_on(self, goal: ProgramPart) -> bool:
        """Execute a sub-goal; return whether the program continues."""
        begun = self._plan.next
        for i, item in enumerate(goal.statements):
            made = self._plan.next - begun
            if goal.text and made >= STEPS_OF_A_SUB_GOAL and _calls(goal, i):
                return self._leave_out(goal, i)
            goes_on = True
            if isinstance(item, Call):
                goes_on = self._act(item)
            elif not self.check(item.condition, self.world.observe(), self.referents.found):
                room = STEPS_OF_A_SUB_GOAL - made if goal.text else len(item.recoveries)
                goes_on = self._recover(item.recoveries[:room])
            if not goes_on:
                return False
        return True

    def _recover(self, calls: tuple[Call, ...]) -> bool:
        """Insert the recoveries of an assertion into the plan, and execute them."""
        if calls:
            self._plan.go_on([*map(str, calls), *(step.text for step in self._plan.left)])
        return all(self._act(call) for call in calls)

    def _act(self, call: Call) -> bool:
        """Execute a call; return whether the program continues."""
        step = self._plan.left[0]
        self.context.emit(StepBegun.of(step))
        failed = attempt(call, self.referents, self.world)
        self.tried.append(TriedCall(call, failed))
        if failed is not None and self.stops:
            self.context.emit(RepairBegun.of(step, failed.cause, code=failed.code))
            return False  # the next plan replaces this step
        self._plan.next += 1
        if failed is not None:
            self.context.emit(StepFailed.of(step, failed.cause, code=failed.code))
        return True

    def _leave_out(self, goal: ProgramPart, start: int) -> bool:
        """Skip the rest of a sub-goal that has made all its calls; return whether to continue."""
        step = self._plan.left[0]
        n_left = _calls(goal, start)
        cause = (
            f'The part {goal.text[:80]!r} has made {STEPS_OF_A_SUB_GOAL} calls, which is all that '
            f'a part may; its last {n_left} are left out. A program of shorter parts is carried '
            'out whole.'
        )
        if self.stops:
            self.context.emit(RepairBegun.of(step, cause))
            return False
        self.context.emit(StepFailed.of(step, cause))
        self._plan.next += n_left
        return True


def _calls(goal: ProgramPart, start: int) -> int:
    return sum(isinstance(item, Call) for item in goal.statements[start:])
