"""A world in which no plan moves anything before a callable has approved it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import (
    Answer,
    ApprovalMode,
    ApprovalRequest,
    Provenance,
    withdrawn_call,
)
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import SpokenError
from bbllm.core.events import (
    Event,
    EventData,
    GoalStated,
    PlanMade,
    PlanRehearsed,
    StepBegun,
)
from bbllm.core.protocols import World, WorldFeatures, features_of
from bbllm.core.types import Outcome, SkillCall, Task
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.skills.constraints import Never

Approve = Callable[[ApprovalRequest], bool | Answer]
"""Returns whether a plan or a call may move the robot, or the answer with who gave it and why."""


def answer_of(reply: bool | Answer) -> Answer:
    """Return the answer that a function of the type `Approve` has given."""
    if isinstance(reply, Answer):
        return reply
    return Answer(granted=bool(reply), by='the approve function', automatic=True)


class ApprovedWorld(WorldWrapper):
    """
    A world for one episode, behind the same gate that `fr3_executor` has.

    Pass `observe_event` to the episode as a sink: it follows which plan is in force. In the mode
    STEP it is for single calls of a program, which are no part of a plan.
    """

    def __init__(
        self,
        inner: World,
        approve: Approve,
        task: Task,
        brain: str,
        never: Sequence[Never] = (),
        *,
        mode: ApprovalMode = ApprovalMode.PLAN,
    ):
        super().__init__(inner)
        self._approve = approve
        self._task = task
        self._gate = ApprovalGate(self._ask, inner.observe, mode=mode, never=never)
        self._gate.begin_episode(task.id, brain)
        if (take := features_of(inner).ask_person) is not None:
            take(self._gate.resume)
        self._plan = PlanMade((), 0)
        self._goal = GoalStated()
        self._step = -1
        self._rehearsal: tuple[str, ...] = ()
        self.emit: Callable[[EventData], None] = lambda data: None
        """Records an answer in the episode."""
        self.interrupt: Callable[[], None] = lambda: None
        """Raises SpokenError where the question is outdated."""

    @property
    def features(self) -> WorldFeatures:
        return replace(super().features, approves_plans=lambda: True)

    def execute(self, call: SkillCall) -> Outcome:
        """Ask first, where the plan or the call is not approved yet."""
        provenance = Provenance(
            episode_id=self._task.id,
            revision=self._plan.revision,
            plan=self._plan.plan,
            step=self._step,
            goal=self._goal.conditions,
            rest=self._plan.rest,
            rehearsal=self._rehearsal,
        )
        try:
            refusal = self._gate.permit(call, provenance, CancelToken(self.interrupt))
        except SpokenError:
            refusal = withdrawn_call(call)
        outcome = refusal or self.inner.execute(call)
        self._gate.settle(outcome)
        return outcome

    def observe_event(self, event: Event) -> None:
        """Follow the plan in force and the step that is worked on."""
        match event.data:
            case GoalStated() as goal:
                self._goal = goal
            case PlanMade() as plan:
                self._plan, self._step, self._rehearsal = plan, -1, ()
            case PlanRehearsed(lines=lines):
                self._rehearsal = lines
            case StepBegun(index=index):
                self._step = index

    def _ask(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        cancel.raise_if_cancelled()
        answer = answer_of(self._approve(request))
        self.emit(answer.event_about(request))
        return answer
