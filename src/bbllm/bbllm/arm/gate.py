"""
The gate before the arm: which calls may be tried, and whom to ask.

What the modes mean is said in `core.approval.ApprovalMode`; here is how they are held:

* A plan is approved once, by its hash. It is good for its steps in their order, each for one
  call that was tried; a call that was rejected moved nothing and does not use its step up.
* What a plan's words do not cover is asked for by itself: a call that names something that its
  step does not, a step that comes again, and every step after one that failed.
* A denial holds for the whole plan, and so does it when nobody answered.
* What was approved is taken back when the robot was stopped, whoever brings it back; when its
  episode has ended or lost who runs it; and when nothing of it was done for a long while.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bbllm.arm.gate_words import call_request, denial, plan_deviation, refused
from bbllm.core.approval import (
    SHORT,
    Answer,
    ApprovalMode,
    ApprovalRequest,
    Provenance,
    RequestKind,
    single_hash,
)
from bbllm.core.errors import SceneError
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.skills.catalog import CallError, check_call
from bbllm.skills.mention import unmentioned
from bbllm.skills.risk import moves, risk

Look = Callable[[], None]
Ask = Callable[[ApprovalRequest, Look], Answer]
"""Waits for the answer to a request, as `ApprovalDesk.ask` does."""

STOPPED = frozenset(
    {
        Code.REFLEX,
        Code.USER_STOP,
        Code.COMMUNICATION_LOSS,
        Code.JOINT_LIMIT,
        Code.NEEDS_PERSON,
    }
)
"""How calls end during which the robot had stopped by itself or was stopped."""
REVOKING = frozenset({Code.USER_STOP, Code.NEEDS_PERSON})
"""After these nothing that was approved before holds any more."""
WAS_STOPPED = 'the robot was stopped since it was approved'
IDLE_S = 300.0
"""A plan of which nothing was done for longer is approved no more, wall clock: longer than models
take for a step, shorter than people forget what they have allowed [s]."""


@dataclass
class _Approved:
    """What is known of the plan in force."""

    episode_id: str
    revision: int
    hash: str
    granted: bool = False
    denial: str = ''
    tried: set[int] = field(default_factory=set)
    failed: int | None = None
    """The step that failed first since the plan was approved."""
    revoked: str = ''
    """Why it has to be approved again."""
    stops: int = 0
    """How often the robot had stopped when it was asked for."""
    done_s: float = 0.0
    """When it was granted or something of it was done last, monotonic clock [s]."""


class Gate:
    """
    A `Permit` and an `AskPerson` for one arm; asked from one thread at a time.

    Args:
        ask: Waits for the answer of a person.
        observe: Returns the scene as it is now; may raise SceneError.
        mode: What a person has to allow.
        stops: Returns how often the robot was seen to have stopped, also between calls.
        clock: Monotonic clock [s].
    """

    def __init__(
        self,
        ask: Ask,
        observe: Callable[[], Scene],
        *,
        mode: ApprovalMode,
        stops: Callable[[], int] = int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.mode = mode
        self._stops = stops
        self._clock = clock
        self._ask = ask
        self._observe = observe
        self._plan: _Approved | None = None
        self._under_way: tuple[_Approved, int] | None = None
        self._provenance: Provenance | None = None
        self._stopped_in: set[str] = set()

    @property
    def _episode_id(self) -> str:
        return '' if self._provenance is None else self._provenance.episode_id

    def begin(self, provenance: Provenance | None) -> None:
        """Learn where the next call comes from, before anybody is asked anything about it."""
        self._provenance = provenance
        self._under_way = None

    def permit(self, call: SkillCall, provenance: Provenance | None, look: Look) -> Outcome | None:
        """Return why a call may not be tried, None where it may; see `core.approval.Permit`."""
        self.begin(provenance)
        if self.mode is ApprovalMode.NONE:
            return None
        if self.mode is ApprovalMode.STEP:
            return self._after_checks(call, provenance, look, lambda checked, scene: '')
        if not moves(call):
            return None
        if self.mode is ApprovalMode.RISKY:
            return self._after_checks(call, provenance, look, self._risk)
        return self._planned(call, provenance, look)

    def settle(self, outcome: Outcome) -> None:
        """Learn how the call that was begun last has ended, permitted or not."""
        if self._under_way is not None and outcome.status is Status.REJECTED:
            plan, step = self._under_way
            plan.tried.discard(step)
        self._under_way = None
        plan_now, begun = self._plan, self._provenance
        if plan_now is not None and begun is not None and plan_now.hash == begun.hash:
            plan_now.done_s = self._clock()
        if outcome.status is Status.FAILED:
            self._note_failure()
        if outcome.code in STOPPED:
            self._stopped_in.add(self._episode_id)
        if outcome.code in REVOKING:
            self.revoke(WAS_STOPPED)

    def _note_failure(self) -> None:
        plan, begun = self._plan, self._provenance
        if plan is None or begun is None or plan.hash != begun.hash or plan.failed is not None:
            return
        plan.failed = begun.step

    def revoke(self, why: str) -> None:
        """Take back what was approved, from any thread; denials stay."""
        plan = self._plan
        if plan is not None and plan.granted:
            plan.granted, plan.revoked = False, why

    def end_episode(self, episode_id: str) -> None:
        """Take back what was approved in an episode that has ended, from any thread."""
        plan = self._plan
        if plan is not None and plan.episode_id == episode_id:
            self.revoke('its episode has ended since it was approved')

    def _revoke_old(self, plan: _Approved) -> None:
        """Take back what was approved for a robot, and for a time, that are not these."""
        if self._stops() != plan.stops:
            self.revoke(WAS_STOPPED)
        elif self._clock() - plan.done_s > IDLE_S:
            self.revoke(f'nothing of it was done for {IDLE_S:.0f} s')

    def resume(self, what: str, look: Look) -> bool:
        """Ask whether the robot, which has stopped, may go on; see `core.approval.AskPerson`."""
        self.revoke(WAS_STOPPED)
        request = ApprovalRequest(
            kind=RequestKind.RESUME,
            hash=single_hash(RequestKind.RESUME, what),
            title='The robot has stopped. May it be recovered and go on?',
            lines=(what,),
            reason='look at the robot first: what stopped it may still be there',
            episode_id=self._episode_id,
        )
        return self._ask(request, look).granted

    # --- plans ------------------------------------------------------------------------------

    def _planned(
        self, call: SkillCall, provenance: Provenance | None, look: Look
    ) -> Outcome | None:
        if provenance is None:
            return refused(
                call,
                f'{call} was not tried: it belongs to no plan, and here a person approves whole '
                'plans. Give brain_planner a task (bbllm run); or start fr3_executor with '
                'approval:=step, where a person approves single calls.',
            )
        fault = self._fault(provenance)
        if fault:
            return refused(call, f'{call} was not tried: {fault}')
        plan = self._take(provenance)
        self._revoke_old(plan)
        while not plan.granted and not plan.denial:
            self._ask_plan(plan, provenance, look)
            self._revoke_old(plan)  # it may have stopped while somebody thought about it
        if plan.denial:
            return refused(call, plan.denial)
        step = provenance.plan.steps[provenance.step]

        def beyond(checked: SkillCall, scene: Scene) -> str | None:
            deviation = plan_deviation(plan.tried, plan.failed, step.index)
            return deviation or unmentioned(checked, step.text, scene) or None

        refusal = self._after_checks(call, provenance, look, beyond)
        if refusal is None:
            if step.index not in plan.tried:
                # Used up at once: who forgets to settle leaves less allowed, not more.
                self._under_way = (plan, step.index)
            plan.tried.add(step.index)
        return refusal

    def _fault(self, provenance: Provenance) -> str:
        """Return why a goal cannot belong to the plan that it names."""
        steps = provenance.plan.steps
        if [step.index for step in steps] != list(range(len(steps))):
            return 'the steps of its plan are not numbered from 0 without gaps.'
        if not 0 <= provenance.step < len(steps):
            return f'it names step {provenance.step} of a plan with {len(steps)} steps from 0 on.'
        known = self._plan
        if known is None or known.episode_id != provenance.episode_id:
            return ''
        if provenance.revision < known.revision:
            return (
                f'its plan (revision {provenance.revision}) was replaced by revision '
                f'{known.revision}, {known.hash[:SHORT]}.'
            )
        if provenance.revision == known.revision and provenance.hash != known.hash:
            return (
                f'revision {known.revision} of this episode is plan {known.hash[:SHORT]}, and '
                f'this one is {provenance.hash[:SHORT]}. A plan that was changed is a new '
                'revision, which a person has to approve.'
            )
        return ''

    def _take(self, provenance: Provenance) -> _Approved:
        known = self._plan
        if known is None or known.hash != provenance.hash:
            known = _Approved(provenance.episode_id, provenance.revision, provenance.hash)
            self._plan = known
        return known

    def _ask_plan(self, plan: _Approved, provenance: Provenance, look: Look) -> None:
        anew = 'the Brain has planned anew' if plan.revision else ''
        count = len(provenance.plan.steps)
        request = ApprovalRequest(
            kind=RequestKind.PLAN,
            hash=plan.hash,
            title=f'The plan of {count} {"step" if count == 1 else "steps"}. May it be done?',
            lines=tuple(str(step) for step in provenance.plan.steps),
            reason=plan.revoked or anew,
            episode_id=plan.episode_id,
        )
        plan.stops = self._stops()
        answer = self._ask(request, look)
        plan.granted, plan.failed, plan.done_s = answer.granted, None, self._clock()
        if not answer.granted:
            plan.denial = denial('this plan', answer)

    # --- single calls -----------------------------------------------------------------------

    def _risk(self, call: SkillCall, scene: Scene) -> str | None:
        stopped = self._episode_id in self._stopped_in
        why = risk(call, scene) or ('the robot had stopped in this episode' if stopped else '')
        return why or None

    def _after_checks(
        self,
        call: SkillCall,
        provenance: Provenance | None,
        look: Look,
        reason: Callable[[SkillCall, Scene], str | None],
    ) -> Outcome | None:
        """Ask for a call where a reason is given, be it empty; never for one that cannot be."""
        try:
            scene = self._observe()
            checked = check_call(call, scene)
        except CallError as error:
            return error.outcome
        except SceneError as error:
            empty = 'scene is empty' in str(error)
            code = Code.EMPTY_SCENE if empty else Code.STALE_SCENE
            return Outcome(call=call, status=Status.REJECTED, code=code, message=str(error))
        why = reason(checked, scene)
        if why is None:
            return None
        answer = self._ask(call_request(checked, provenance, why), look)
        return None if answer.granted else refused(call, denial(str(checked), answer))
