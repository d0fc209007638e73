"""
The gate before the arm: which calls may be tried, and whom to ask.

What the modes mean is said in `core.approval.ApprovalMode`; here is how they are held:

* A plan is approved once, by its hash. It is good for its steps in their order, each for one
  call that was tried; a call that was rejected moved nothing and does not use its step up.
* What a plan's words do not cover is asked for by itself: a call that names something that its
  step does not, a step that comes again, and every step after one that failed.
* A denial holds for the whole plan, and so does it when nobody answered.
* What was approved is taken back when the robot was stopped, whoever brings it back; when its
  episode lost who runs it; and when nothing of it was done for a long while. A yes to a question
  during which that happened counts as little, and is asked for again.
* A plan with characters that are not visible is refused in every mode: nobody could read it.
* Calls of an episode that has ended are refused in every mode: nobody waits for them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from bbllm.arm.gate_episodes import EndedEpisodes
from bbllm.arm.gate_plan import (
    REVOKING,
    STOPPED,
    ApprovedPlan,
    Moment,
    plan_deviation,
    plan_fault,
    text_fault,
)
from bbllm.arm.gate_words import (
    call_request,
    denial,
    plan_request,
    refused,
    resume_request,
    unseen,
)
from bbllm.core.approval import (
    Answer,
    ApprovalMode,
    ApprovalRequest,
    Provenance,
    RequestKind,
    single_hash,
)
from bbllm.core.errors import SceneError
from bbllm.core.types import Outcome, Scene, SkillCall, Status
from bbllm.skills.catalog import CallError, check_call
from bbllm.skills.mention import unmentioned
from bbllm.skills.risk import moves, risk

Look = Callable[[], None]
Ask = Callable[[ApprovalRequest, Look], Answer]
"""Waits for the answer to a request, as `ApprovalDesk.ask` does."""

WAS_STOPPED = 'the robot was stopped since it was approved'
HAS_ENDED = 'its episode has ended'
KEPT = 1000
"""Of so many plans it is remembered that they were asked for."""
IDLE_S = 300.0
"""A plan of which nothing was done for longer is approved no more, wall clock: longer than models
take for a step, shorter than people forget what they have allowed [s]."""


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
        self._plan: ApprovedPlan | None = None
        self._under_way: tuple[ApprovedPlan, int] | None = None
        self._provenance: Provenance | None = None
        self._stopped_in: set[str] = set()
        self._lock = threading.Lock()
        """Held while something is granted or taken back, so that neither overtakes the other."""
        self._revoked = 0
        self._revoked_why = ''
        self.ended = EndedEpisodes()
        self.running = ''
        """Id of the episode that runs now, whoever gives calls; empty where none does."""
        self._brain = ''
        self._asked: deque[str] = deque(maxlen=KEPT)

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
        over = self.refuse_ended(call, provenance) or _unreadable(call, provenance)
        if over is not None or self.mode is ApprovalMode.NONE:
            return over
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
            if outcome.status is Status.FAILED and plan_now.failed is None:
                plan_now.failed = begun.step
        if outcome.code in STOPPED:
            self._stopped_in.add(self._episode_id)
        if outcome.code in REVOKING:
            self.revoke(WAS_STOPPED)

    def revoke(self, why: str) -> None:
        """Take back what was approved, and yeses still to come, from any thread; denials stay."""
        with self._lock:
            self._revoked += 1
            self._revoked_why = why
            plan = self._plan
            if plan is not None and plan.granted:
                plan.granted, plan.revoked = False, why

    def begin_episode(self, episode_id: str, brain: str = '') -> None:
        """Learn that an episode has begun, so that any other has ended, and which model plans."""
        if self.running not in ('', episode_id):
            self.end_episode(self.running)  # who has crashed tells of no end
        self.ended.begin(episode_id)
        self.running, self._brain = episode_id, brain

    def end_episode(self, episode_id: str) -> None:
        """Refuse all calls of an episode from now on, as it has ended, from any thread."""
        self.ended.end(episode_id)
        plan = self._plan
        if plan is not None and plan.episode_id == episode_id:
            self.revoke(f'{HAS_ENDED} since it was approved')
        if episode_id == self.running:
            self.running = ''

    def refuse_ended(self, call: SkillCall, provenance: Provenance | None) -> Outcome | None:
        """Return the outcome of a call whose episode has ended; None of any other."""
        if provenance is None or provenance.episode_id not in self.ended:
            return None
        return refused(call, f'{call} was not tried: {HAS_ENDED}.')

    def _revoke_old(self, plan: ApprovedPlan) -> None:
        """Take back what was approved for a robot, and for a time, that are not these."""
        if self._stops() != plan.stops:
            self.revoke(WAS_STOPPED)
        elif self._clock() - plan.done_s > IDLE_S:
            self.revoke(f'nothing of it was done for {IDLE_S:.0f} s')

    def _now(self) -> Moment:
        return Moment(stops=self._stops(), revoked=self._revoked)

    def _since(self, then: Moment) -> str:
        """Return why an answer to a question of that moment is good no more; empty if it is."""
        now = self._now()
        if now.stops != then.stops:
            return WAS_STOPPED
        return self._revoked_why if now.revoked != then.revoked else ''

    def resume(self, what: str, look: Look) -> bool:
        """Ask whether the robot, which has stopped, may go on; see `core.approval.AskPerson`."""
        self.revoke(WAS_STOPPED)
        return self._ask(resume_request(what, self._episode_id), look).granted

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
        fault = plan_fault(provenance, self._plan)
        if fault:
            return refused(call, f'{call} was not tried: {fault}')
        plan = self._take(provenance)
        self._revoke_old(plan)
        while not plan.granted and not plan.denial:
            self._ask_plan(plan, provenance, look)
            over = self.refuse_ended(call, provenance)
            if over is not None:
                return over
        if plan.denial:
            return refused(call, plan.denial)
        step = provenance.plan.steps[provenance.step]

        def beyond(checked: SkillCall, scene: Scene) -> str | None:
            self._revoke_old(plan)  # it may have stopped while the scene was waited for
            revoked = '' if plan.granted else plan.revoked
            deviation = plan_deviation(plan.tried, plan.failed, step.index)
            return revoked or deviation or unmentioned(checked, step.text, scene) or None

        refusal = self._after_checks(call, provenance, look, beyond)
        if refusal is None:
            if step.index not in plan.tried:
                # Used up at once: who forgets to settle leaves less allowed, not more.
                self._under_way = (plan, step.index)
            plan.tried.add(step.index)
        return refusal

    def _take(self, provenance: Provenance) -> ApprovedPlan:
        known = self._plan
        if known is None or known.hash != provenance.hash:
            known = ApprovedPlan(provenance.episode_id, provenance.revision, provenance.hash)
            self._plan = known
        return known

    def _ask_plan(self, plan: ApprovedPlan, provenance: Provenance, look: Look) -> None:
        before = self._now()
        brain = self._brain if provenance.episode_id == self.running else ''
        answer = self._ask(plan_request(provenance, self._name(plan), plan.revoked, brain), look)
        with self._lock:
            since = self._since(before)
            plan.granted = answer.granted and not since
            plan.revoked = since or plan.revoked
            plan.failed, plan.stops, plan.done_s = None, before.stops, self._clock()
            if not answer.granted:
                plan.denial = denial('this plan', answer)

    def _name(self, plan: ApprovedPlan) -> str:
        """Return what an answer has to name: a late yes is good for no later question."""
        if plan.hash in self._asked:
            return single_hash(RequestKind.PLAN, plan.hash)
        self._asked.append(plan.hash)
        return plan.hash

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
            return unseen(call, error)
        why = reason(checked, scene)
        return None if why is None else self._ask_call(checked, provenance, why, look)

    def _ask_call(
        self, call: SkillCall, provenance: Provenance | None, why: str, look: Look
    ) -> Outcome | None:
        since = ''
        while True:
            before = self._now()
            reason = '; '.join(filter(None, (since, why)))
            answer = self._ask(call_request(call, provenance, reason), look)
            if not answer.granted:
                return refused(call, denial(str(call), answer))
            since = self._since(before)
            over = self.refuse_ended(call, provenance)
            if over is not None or not since:
                return over


def _unreadable(call: SkillCall, provenance: Provenance | None) -> Outcome | None:
    """Return the outcome of a call whose plan a person could not read; None of any other."""
    fault = '' if provenance is None else text_fault(provenance)
    return refused(call, f'{call} was not tried: {fault}') if fault else None
