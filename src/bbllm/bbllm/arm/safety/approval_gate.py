"""
The approval gate in front of the arm: which calls are permitted, and when a person is asked.

`core.approval.ApprovalMode` defines the modes; these rules implement them:

* A plan is approved once, by its hash. The approval covers its steps in their order, each for one
  call that was tried; a rejected call moved nothing and does not use up its step.
* What the words of a plan do not cover is asked for separately: a call that names something that
  its step does not, a repeated step, and every step after one that failed.
* A denial applies to the whole plan, and so does a question without an answer.
* An approval is revoked when the robot was stopped, also if it was recovered since; when its
  episode lost its client; and after IDLE_S without a step. An approval given to a question that
  was open meanwhile is not valid, and the question is asked again; so is an approval of a table on
  which something that the question names has moved meanwhile.
* A plan with invisible characters, or longer than people read, is refused in every mode.
* Calls of an episode that has ended are refused in every mode: no client waits for them.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from bbllm.core.approval import (
    Answer,
    ApprovalMode,
    ApprovalRequest,
    Provenance,
    RequestKind,
    new_nonce,
    raw_of,
)
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import MAX_STEP_LENGTH, MAX_STEPS
from bbllm.core.errors import SceneError
from bbllm.core.registry import with_remark
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.text import count_of, cut, escape_line, hidden_fault, listed
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.skills.catalog import moves
from bbllm.skills.constraints import Never, descriptions
from bbllm.skills.risk import named, risk, unmentioned


def plan_request(
    provenance: Provenance, reason: str, brain: str = '', never: Sequence[str] = ()
) -> ApprovalRequest:
    """Return the question about a plan, asked for *reason* where it is not the first time."""
    texts = [step.text for step in provenance.plan.steps]
    by = f' by {with_remark(brain)}' if brain else ''
    anew = 'the Brain has planned anew' if provenance.revision else ''
    return ApprovalRequest(
        kind=RequestKind.PLAN,
        title=f'The plan of {count_of(len(texts), "step")}{by}. May it be done?',
        steps=tuple(map(_one_line, texts)),
        revision=provenance.revision,
        never=tuple(never),
        rest=_one_line(cut(provenance.rest, MAX_STEP_LENGTH)),
        goal=_stated(provenance.goal),
        rehearsal=_stated(provenance.rehearsal),
        reason=reason or anew,
        episode_id=provenance.episode_id,
        nonce=new_nonce(),
    )


def resume_request(what: str, episode_id: str) -> ApprovalRequest:
    """Return the question whether the robot, which has stopped, may go on."""
    return ApprovalRequest(
        kind=RequestKind.RESUME,
        title='The robot has stopped. May it be recovered and go on?',
        about=(escape_line(what),),
        reason='check the robot first: what stopped it may still be there',
        episode_id=episode_id,
        nonce=new_nonce(),
    )


def call_request(call: SkillCall, provenance: Provenance | None, reason: str) -> ApprovalRequest:
    """Return the question about one call, with the step that it is for."""
    named = escape_line(str(call))
    about = [named]
    episode_id = ''
    if provenance is not None:
        episode_id = provenance.episode_id
        steps = {step.index: step for step in provenance.plan.steps}
        if provenance.step in steps:
            about.append(_one_line(f'for step {steps[provenance.step]}'))
    return ApprovalRequest(
        kind=RequestKind.CALL,
        title=f'{named}. May it be done?',
        about=tuple(about),
        reason=reason,
        episode_id=episode_id,
        nonce=new_nonce(),
    )


def _one_line(text: str) -> str:
    return escape_line(' '.join(text.split()))


def _stated(lines: Sequence[str]) -> tuple[str, ...]:
    """Return what a planner states, as much of it as a person may be asked to read."""
    return tuple(_one_line(cut(line, MAX_STEP_LENGTH)) for line in lines[:MAX_STEPS])


def denial(what: str, answer: Answer) -> str:
    if not answer.by:
        return f'A person has to approve {what}, and {answer.reason}.'
    if not answer.reason:
        return f'A person did not approve {what} and gave no reason.'
    return f'A person did not approve {what}: {answer.reason.rstrip(".")}.'


def refused(call: SkillCall, message: str, raw: str = '') -> Outcome:
    return Outcome(
        call=call, status=Status.REJECTED, code=Code.NOT_APPROVED, message=message, raw=raw
    )


def unseen(call: SkillCall, error: SceneError) -> Outcome:
    code = Code.EMPTY_SCENE if 'scene is empty' in str(error) else Code.STALE_SCENE
    return Outcome(call=call, status=Status.REJECTED, code=code, message=str(error))


STOPPED = frozenset(
    {Code.REFLEX, Code.USER_STOP, Code.COMMUNICATION_LOSS, Code.JOINT_LIMIT, Code.NEEDS_PERSON}
)
"""How calls end during which the robot had stopped by itself or was stopped."""
LONGEST = 200
"""So much of a text that is refused is quoted [characters]."""
REVOKING = frozenset({Code.USER_STOP, Code.NEEDS_PERSON})
"""Codes that revoke all earlier approvals."""


Point = tuple[float, float, float]


class PlanState(Enum):
    """The states of a plan; `ApprovalGate` describes the transitions."""

    ASKED = 'asked'
    """A person has to answer before any step."""
    GRANTED = 'granted'
    DENIED = 'denied'


@dataclass
class PlanApproval:
    """The approval of the plan in force."""

    episode_id: str
    revision: int
    hash: str
    state: PlanState = PlanState.ASKED
    reason: str = ''
    """Why the plan is asked for again, or the message of its denial."""
    raw: str = ''
    """`Outcome.raw` of its denial."""
    tried: set[int] = field(default_factory=set)
    failed: int | None = None
    """The step that failed first since the plan was approved."""
    stops: int = 0
    """How often the robot had stopped when the question was asked."""
    done_s: float = 0.0
    """Time of the approval or of the last step, monotonic clock [s]."""


@dataclass(frozen=True, slots=True)
class Moment:
    """
    What must be unchanged between a question and its answer.

    One frozen record, which a thread replaces and reads as a whole: count and reason belong
    together.
    """

    stops: int = 0
    """How often the robot had stopped."""
    revocations: int = 0
    """How often approvals had been revoked."""
    why: str = ''
    """The reason of the last revocation."""
    places: Mapping[str, Point] = field(default_factory=dict)
    """Where the objects and locations are that the question names, in the world frame [m]."""


def plan_fault(provenance: Provenance, known: PlanApproval | None) -> str:
    steps = provenance.plan.steps
    if [step.index for step in steps] != list(range(len(steps))):
        return 'the steps of its plan are not numbered from 0 without gaps.'
    if not 0 <= provenance.step < len(steps):
        return f'it names step {provenance.step} of a plan with {len(steps)} steps from 0 on.'
    if known is None or known.episode_id != provenance.episode_id:
        return ''
    if provenance.revision < known.revision:
        return (
            f'its plan (revision {provenance.revision}) was replaced by revision {known.revision}.'
        )
    if provenance.revision == known.revision and provenance.hash != known.hash:
        return (
            f'revision {known.revision} of this episode is another plan. A plan that was changed '
            'is a new revision, which a person has to approve.'
        )
    return ''


def plan_deviation(tried: set[int], failed: int | None, step: int) -> str:
    """Return why a step of an approved plan is no longer what was approved; empty if it is."""
    if step in tried:
        return f'step {step} was tried already, and the plan has it once'
    if tried and step < max(tried):
        return f'step {step} comes after step {max(tried)}, and not in the order of the plan'
    if failed is not None:
        return f'step {failed} of the plan failed, and this one was planned to follow it'
    return ''


Ask = Callable[[ApprovalRequest, CancelToken], Answer]

MOVED_M = 0.03
"""An object that has moved by more since a question was asked is elsewhere: more than detectors
and a table that is pushed against are off, less than the side of a cube [m]."""

WAS_STOPPED = 'the robot was stopped since it was approved'
HAS_ENDED = 'its episode has ended'
KEPT = 1000
"""So many episodes that have ended are remembered."""
IDLE_S = 300.0
"""A plan of which nothing was done for longer is approved no more, wall clock: longer than models
take for a step, shorter than people forget what they have allowed [s]."""


def moved_text(places: Mapping[str, Point], scene: Scene) -> str:
    """Return what is no longer at its place, and by how much, in a clause; empty for nothing."""
    lost = [name for name in places if name not in scene.names]
    if lost:
        return f'no longer seen since the last question: {listed(lost)}'
    off_m = {
        name: math.dist(place, scene.object(name).pose.position_m)
        for name, place in places.items()
    }
    moved = [f'{name} by {off * 100:.0f} cm' for name, off in off_m.items() if off > MOVED_M]
    return f'moved since the last question: {listed(moved)}' if moved else ''


class ApprovalGate:
    """
    A `Permit` and an `AskPerson` for one arm; asked from one thread at a time.

    For each call: `permit` (or `begin`, where no permission is needed yet), then `settle`. A plan
    is a state machine:

    * ASKED -> GRANTED or DENIED by the answer of a person, unless the robot stopped or approvals
      were revoked while the question was open: then the plan stays ASKED.
    * GRANTED -> ASKED by `revoke`: a stop, the end of the episode, or IDLE_S without a step.
    * DENIED is final; another hash is another plan.

    *stops* returns how often the robot was seen to have stopped, also between calls; *clock* is
    monotonic [s]; plans are shown with the constraints *never*, which the executor enforces.
    """

    def __init__(
        self,
        ask: Ask,
        observe: Callable[[], Scene],
        *,
        mode: ApprovalMode,
        stops: Callable[[], int] = int,
        clock: Callable[[], float] = time.monotonic,
        never: Sequence[Never] = (),
    ):
        self.mode = mode
        self._stops = stops
        self._clock = clock
        self._never = never
        self._ask = ask
        self._observe = observe
        self._plan: PlanApproval | None = None
        self._call: Provenance | None = None
        self._uses_step: PlanApproval | None = None
        """The plan of which that call uses up a step; None where it uses none."""
        self._stopped_in: set[str] = set()
        self._lock = threading.Lock()
        """Guards every transition to and from GRANTED, so that none overtakes another."""
        self._moment = Moment()
        self.ended: dict[str, None] = {}
        """Ids of the episodes that have ended, oldest first; may be read from any thread."""
        self.running = ''
        """Id of the running episode, whatever its client; empty where none runs."""
        self._brain = ''

    def begin(self, provenance: Provenance | None) -> None:
        self._call, self._uses_step = provenance, None

    def permit(
        self, call: SkillCall, provenance: Provenance | None, cancel: CancelToken
    ) -> Outcome | None:
        """Return why a call may not be tried, None where it may; see `core.approval.Permit`."""
        self.begin(provenance)
        over = self.refuse_ended(call, provenance) or _unreadable(call, provenance)
        if over is not None or self.mode is ApprovalMode.NONE:
            return over
        if self.mode is ApprovalMode.STEP:
            return self._after_checks(call, provenance, cancel, lambda checked, scene: '')
        if not moves(call):
            return None
        if self.mode is ApprovalMode.RISKY:
            return self._after_checks(call, provenance, cancel, self._risk)
        return self._planned(call, provenance, cancel)

    def settle(self, outcome: Outcome) -> None:
        """End the call that was begun last, permitted or not."""
        begun, uses_step = self._call, self._uses_step
        self._uses_step = None
        if begun is not None:
            if uses_step is not None and outcome.status is Status.REJECTED:
                uses_step.tried.discard(begun.step)
            plan = self._plan
            if plan is not None and plan.hash == begun.hash:
                plan.done_s = self._clock()
                if outcome.status is Status.FAILED and plan.failed is None:
                    plan.failed = begun.step
        if outcome.code in STOPPED:
            self._stopped_in.add(self._episode_id)
        if outcome.code in REVOKING:
            self.revoke(WAS_STOPPED)

    @property
    def _episode_id(self) -> str:
        return '' if self._call is None else self._call.episode_id

    def revoke(self, why: str) -> None:
        """Revoke what was approved, and approvals still to come, from any thread; denials stay."""
        with self._lock:
            count = self._moment.revocations + 1
            self._moment = Moment(revocations=count, why=why)
            plan = self._plan
            if plan is not None and plan.state is PlanState.GRANTED:
                plan.state, plan.reason = PlanState.ASKED, why

    def begin_episode(self, episode_id: str, brain: str = '') -> None:
        """Learn that an episode has begun, so that any other has ended, and which model plans."""
        if self.running not in ('', episode_id):
            self.end_episode(self.running)  # who has crashed tells of no end
        with self._lock:
            self.ended.pop(episode_id, None)
        self.running, self._brain = episode_id, brain

    def end_episode(self, episode_id: str) -> None:
        """Refuse all calls of an episode from now on, as it has ended, from any thread."""
        with self._lock:
            self.ended[episode_id] = None
            if len(self.ended) > KEPT:
                del self.ended[next(iter(self.ended))]
        plan = self._plan
        if plan is not None and plan.episode_id == episode_id:
            self.revoke(f'{HAS_ENDED} since it was approved')
        if episode_id == self.running:
            self.running = ''

    def refuse_ended(self, call: SkillCall, provenance: Provenance | None) -> Outcome | None:
        if provenance is None or provenance.episode_id not in self.ended:
            return None
        return refused(call, f'{call} was not tried: {HAS_ENDED}.')

    def _revoke_old(self, plan: PlanApproval) -> None:
        """Take back what was approved for a robot, and for a time, that are not these."""
        if self._stops() != plan.stops:
            self.revoke(WAS_STOPPED)
        elif self._clock() - plan.done_s > IDLE_S:
            self.revoke(f'nothing of it was done for {IDLE_S:.0f} s')

    def _now(self, scene: Scene, names: Iterable[str]) -> Moment:
        places = {name: scene.object(name).pose.position_m for name in names}
        return replace(self._moment, stops=self._stops(), places=places)

    def _invalid_since(self, then: Moment) -> str:
        """Return why an answer to a question of that moment is not valid; empty if it is."""
        now = self._moment
        if self._stops() != then.stops:
            return WAS_STOPPED
        return now.why if now.revocations != then.revocations else ''

    def _moved_since(self, then: Moment) -> str:
        """Return which objects of a question are elsewhere now, in a clause; empty for none."""
        try:
            return moved_text(then.places, self._observe())
        except SceneError:
            return 'what it names could not be seen when it was approved last'

    def resume(self, what: str, cancel: CancelToken) -> bool:
        """Ask whether the robot, which has stopped, may go on; see `core.approval.AskPerson`."""
        self.revoke(WAS_STOPPED)
        return self._ask(resume_request(what, self._episode_id), cancel).granted

    def _planned(
        self, call: SkillCall, provenance: Provenance | None, cancel: CancelToken
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
        while plan.state is PlanState.ASKED:
            try:
                self._ask_plan(plan, provenance, cancel)
            except SceneError as error:
                return unseen(call, error)
            if over := self.refuse_ended(call, provenance):
                return over
        if plan.state is PlanState.DENIED:
            return refused(call, plan.reason, plan.raw)
        step = provenance.plan.steps[provenance.step]

        def beyond(checked: SkillCall, scene: Scene) -> str | None:
            self._revoke_old(plan)  # it may have stopped while the scene was waited for
            revoked = '' if plan.state is PlanState.GRANTED else plan.reason
            deviation = plan_deviation(plan.tried, plan.failed, step.index)
            return revoked or deviation or unmentioned(checked, step.text, scene) or None

        refusal = self._after_checks(call, provenance, cancel, beyond)
        if refusal is None:
            if step.index not in plan.tried:
                # Used up at once: a caller that does not settle is permitted less, not more.
                self._uses_step = plan
            plan.tried.add(step.index)
        return refusal

    def _take(self, provenance: Provenance) -> PlanApproval:
        if self._plan is None or self._plan.hash != provenance.hash:
            ids = provenance.episode_id, provenance.revision, provenance.hash
            self._plan = PlanApproval(*ids)
        return self._plan

    def _ask_plan(self, plan: PlanApproval, provenance: Provenance, cancel: CancelToken) -> None:
        scene = self._observe()
        texts = [step.text for step in provenance.plan.steps]
        before = self._now(scene, named(texts, scene.names))
        brain = self._brain if provenance.episode_id == self.running else ''
        never = descriptions(self._never, scene.objects)
        answer = self._ask(plan_request(provenance, plan.reason, brain, never), cancel)
        moved = ''
        if answer.granted and not self._invalid_since(before):
            moved = self._moved_since(before)
        with self._lock:
            since = self._invalid_since(before) or moved
            plan.failed, plan.stops, plan.done_s = None, before.stops, self._clock()
            if not answer.granted:
                plan.state, plan.reason = PlanState.DENIED, denial('this plan', answer)
                plan.raw = raw_of(RequestKind.PLAN, answer)
            elif since:
                plan.reason = since
            else:
                plan.state, plan.reason = PlanState.GRANTED, ''

    def _risk(self, call: SkillCall, scene: Scene) -> str | None:
        stopped = self._episode_id in self._stopped_in
        why = risk(call, scene) or ('the robot had stopped in this episode' if stopped else '')
        return why or None

    def _after_checks(
        self,
        call: SkillCall,
        provenance: Provenance | None,
        cancel: CancelToken,
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
        return None if why is None else self._ask_call(checked, provenance, why, scene, cancel)

    def _ask_call(
        self,
        call: SkillCall,
        provenance: Provenance | None,
        why: str,
        scene: Scene,
        cancel: CancelToken,
    ) -> Outcome | None:
        since = ''
        while True:
            before = self._now(scene, (arg for arg in call.args if arg in scene.names))
            reason = '; '.join(filter(None, (since, why)))
            answer = self._ask(call_request(call, provenance, reason), cancel)
            if not answer.granted:
                raw = raw_of(RequestKind.CALL, answer)
                return refused(call, denial(str(call), answer), raw)
            try:
                scene = self._observe()
            except SceneError as error:
                return unseen(call, error)
            since = self._invalid_since(before) or moved_text(before.places, scene)
            over = self.refuse_ended(call, provenance)
            if over is not None or not since:
                return over


def _unreadable(call: SkillCall, provenance: Provenance | None) -> Outcome | None:
    """Return the refusal of a plan that no person can read in full, in every mode."""
    if provenance is None:
        return None
    steps = provenance.plan.steps
    if len(steps) > MAX_STEPS:
        return refused(
            call,
            f'{call} was not tried: its plan has {len(steps)} steps, and {MAX_STEPS} at most are '
            'carried out. Part the task.',
        )
    parts = [('its episode id', provenance.episode_id)]
    parts += [(f'step {step.index} of its plan', step.text) for step in steps]
    for what, text in parts:
        if len(text) > MAX_STEP_LENGTH:
            return refused(
                call,
                f'{call} was not tried: {what} has {len(text)} characters, and {MAX_STEP_LENGTH} '
                'at most are taken. Write it shorter.',
            )
        if fault := hidden_fault(text):
            shown = escape_line(text)[:LONGEST]
            return refused(
                call,
                f'{call} was not tried: {what} contains {fault}: {shown}. Write it in plain text.',
            )
    return None
