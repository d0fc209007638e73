"""
Approval: the robot moves only after a person has allowed it, whatever a model replies.

The check sits where the arm is commanded (`fr3_executor`), below every planner and model. An
answer names a request by a hash of what the person read and of a random word, so it is good for
no other request.
"""

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from bbllm.core.cancel import POLL_S, CancelToken
from bbllm.core.constants import OptionWord
from bbllm.core.errors import ApprovalError
from bbllm.core.events import ApprovalAnswered
from bbllm.core.types import Code, Outcome, Plan, SkillCall, Status

SHORT = 12
"""How many characters of a hash people are shown."""


class ApprovalMode(OptionWord):
    """What a person has to allow."""

    NONE = 'none'
    PLAN = 'plan'
    """Every plan, before anything of it moves; a repaired plan is a new one."""
    STEP = 'step'
    """Every single call."""
    RISKY = 'risky'
    """Only calls for which `skills.risk` gives a reason."""


class RequestKind(StrEnum):
    """What is asked for; the twin of Approval.msg's constants."""

    NOTHING = ''
    PLAN = 'plan'
    CALL = 'call'
    RESUME = 'resume'


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a call comes from."""

    episode_id: str
    revision: int
    """How many plans the episode had before this one."""
    plan: Plan
    """The whole plan."""
    step: int
    """Index of the step that the call carries out."""
    goal: tuple[str, ...] = ()
    """What is checked when the plan has ended, in words; empty where nothing is."""
    rest: str = ''
    """What of the task the plan leaves undone; '' for nothing."""
    rehearsal: tuple[str, ...] = ()
    """What the rehearsal of the plan has found, in words; no part of what is allowed."""

    @property
    def hash(self) -> str:
        """What distinguishes this plan from others; see `plan_hash`."""
        return plan_hash(self.episode_id, self.revision, self.plan, self.goal, self.rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """
    What a person is asked to allow; the twin of Approval.msg.

    An answer names it by `hash`, which is made of all that is shown: a program that shows
    other words has another hash.
    """

    kind: RequestKind
    title: str
    about: tuple[str, ...] = ()
    """Of a call: the call and its step. Of a robot that has stopped: what stopped it."""
    steps: tuple[str, ...] = ()
    """Of a plan: the texts of its steps, from step 0 on."""
    revision: int = 0
    """Of a plan: how many plans the episode had before it."""
    never: tuple[str, ...] = ()
    """Of a plan: the constraints that the executor enforces, in words."""
    rest: str = ''
    """Of a plan: what its planner states to leave undone; '' for nothing."""
    goal: tuple[str, ...] = ()
    """Of a plan: what its planner states to check at its end, in words."""
    rehearsal: tuple[str, ...] = ()
    """Of a plan: what its planner states that a rehearsal has found, in words."""
    reason: str = ''
    """Why it is asked; empty where it always is."""
    episode_id: str = ''
    nonce: str = ''
    """Random: no two requests, of this process or any other, have one hash."""
    timeout_s: float = field(default=0.0, metadata={'shown': False})
    """How long it is waited for, wall clock [s]."""
    since_s: float = field(default=0.0, metadata={'shown': False})
    """Since when, wall clock, seconds since the epoch [s]."""

    @property
    def hash(self) -> str:
        """What an answer has to name: the SHA-256 of all but the times, in hexadecimal."""
        shown = [f.name for f in fields(self) if f.metadata.get('shown', True)]
        return _digest([getattr(self, name) for name in shown])

    @property
    def name(self) -> str:
        """What people call it, for example `plan 1a2b3c4d5e6f`."""
        return f'{self.kind.value} {self.hash[:SHORT]}'

    @property
    def lines(self) -> tuple[str, ...]:
        """What is to be allowed, line by line, with what only the planner vouches for marked."""
        stated = [f'left undone: {self.rest}'] if self.rest else []
        stated += [f'checked at the end: {condition}' for condition in self.goal]
        stated += [f'rehearsed: {line}' for line in self.rehearsal]
        return (
            *self.about,
            *(f'{index}: {text}' for index, text in enumerate(self.steps)),
            *(f'enforced: {constraint}' for constraint in self.never),
            *(f'the planner states: {line}' for line in stated),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a person to a request."""

    granted: bool
    reason: str = ''
    """Why not; part of the feedback to the Brain."""
    by: str = ''
    """Name of the person; empty if the time ran out."""
    automatic: bool = False
    """Whether a program answered in place of a person."""

    def event_about(self, request: ApprovalRequest) -> ApprovalAnswered:
        """Return the event of a request and this answer."""
        return ApprovalAnswered(
            what=request.kind.value,
            hash=request.hash,
            title=request.title,
            granted=self.granted,
            reason=self.reason,
            by=self.by,
            automatic=self.automatic,
            text=self.line_about(request),
        )

    def line_about(self, request: ApprovalRequest) -> str:
        """Return one line about a request and this answer, for logs and journals."""
        if not self.by:
            return f'{request.name}: {self.reason}'
        how = ' (automatic)' if self.automatic else ''
        why = f': {self.reason}' if self.reason else ''
        return f'{request.name} {"approved" if self.granted else "denied"} by {self.by}{how}{why}'


Permit = Callable[[SkillCall, Provenance | None, CancelToken], Outcome | None]
"""Called by the executor before a call, with where the call comes from: returns the refusal, or
None where it may go on. The token ends the wait for a person."""

AskPerson = Callable[[str, CancelToken], bool]
"""Called by the executor when the robot has stopped, with what happened: returns whether a person
allows it to be recovered and to go on."""


def plan_hash(
    episode_id: str, revision: int, plan: Plan, goal: Sequence[str] = (), rest: str = ''
) -> str:
    """Return what distinguishes a plan from every other, the SHA-256 in hexadecimal."""
    steps = [[step.index, step.text] for step in plan.steps]
    return _digest([episode_id, revision, steps, [*goal], rest])


def _digest(values: Sequence[object]) -> str:
    text = json.dumps(values, ensure_ascii=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()


def new_nonce() -> str:
    return secrets.token_hex(16)


DENIED = {
    RequestKind.PLAN: 'a person denied the plan: ',
    RequestKind.CALL: 'a person denied the call: ',
}
"""Begins `Outcome.raw` of what a person denied; the reason, which may be empty, follows."""
WITHDRAWN = 'a message was added to the task since'
"""`Outcome.raw` of a call whose question was withdrawn."""


def raw_of(kind: RequestKind, answer: Answer) -> str:
    """Return `Outcome.raw` of what was not approved; '' where no answer came."""
    return f'{DENIED[kind]}{answer.reason}' if answer.by else ''


def denied(outcome: Outcome) -> tuple[RequestKind, str] | None:
    """Return the kind of what a person denied, and the reason, '' for none; None if nothing."""
    for kind, begin in DENIED.items():
        if outcome.code is Code.NOT_APPROVED and outcome.raw.startswith(begin):
            return kind, outcome.raw.removeprefix(begin)
    return None


def withdrawn_call(call: SkillCall) -> Outcome:
    """Return the outcome of a call whose question was withdrawn: nothing was tried."""
    return Outcome(
        call=call,
        status=Status.REJECTED,
        code=Code.NOT_APPROVED,
        message=f'The question about {call} was withdrawn, as {WITHDRAWN}.',
        raw=WITHDRAWN,
    )


def withdrawn(outcome: Outcome) -> bool:
    """Return whether a call was not made because its question was withdrawn."""
    return outcome.code is Code.NOT_APPROVED and outcome.raw == WITHDRAWN


REMEMBERED = 100
"""Number of requests whose answer is kept, for late answers."""

OnChange = Callable[[ApprovalRequest | None], None]
OnAnswer = Callable[[ApprovalRequest, Answer], None]


class ApprovalQueue:
    """
    One request at a time; asked from one thread, answered from any other.

    A person is waited for `timeout_s` of wall clock [s]; a program may answer only where the robot
    is `simulated`. Both callbacks run in the thread that asks: `on_change` gets the request that
    waits, or None; `on_answer` every request with its answer, also when the time ran out.
    """

    def __init__(
        self,
        *,
        timeout_s: float,
        simulated: bool = False,
        on_change: OnChange = lambda request: None,
        on_answer: OnAnswer = lambda request, answer: None,
    ):
        self.timeout_s = timeout_s
        self.simulated = simulated
        self._on_change = on_change
        self._on_answer = on_answer
        self._asking = threading.Lock()
        self._condition = threading.Condition()
        self._request: ApprovalRequest | None = None
        self._answer: Answer | None = None
        self._last = ''
        self._reported: dict[str, str] = {}

    doubt = ''
    """Why what waits may come from another program; none can, in one process."""

    @property
    def waiting(self) -> ApprovalRequest | None:
        """What waits for an answer now."""
        return self._request

    def ask(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        """
        Wait for the answer to a request, whose times are filled in here; `cancel` ends the wait.

        When the time is over, the answer is a refusal without a name.
        """
        request = replace(request, timeout_s=self.timeout_s, since_s=time.time())
        with self._asking:
            with self._condition:
                self._request, self._answer = request, None
            try:
                self._on_change(request)
                answer = self._wait(request, cancel)
            finally:
                with self._condition:
                    self._request = self._answer = None
                self._on_change(None)
        self._on_answer(request, answer)
        return answer

    def answer(self, hash: str, answer: Answer) -> ApprovalRequest:
        """
        Answer what waits, from any thread; return the request that is answered by this.

        Args:
            hash: What the answer is for: the whole hash of the request.
            answer: The answer of the person or the program.

        Raises:
            ApprovalError: Another request waits or none, it was answered before, or a program
                allows something to a robot that is not simulated; nothing was answered then.
        """
        # To refuse is always safe, so a program may.
        if answer.granted and answer.automatic and not self.simulated:
            raise ApprovalError(
                'A program may approve only where the robot is simulated, and this one is not '
                '(parameter simulated of fr3_executor). What is sent without a terminal counts as '
                "a program's. A person answers on a terminal with: bbllm approve"
            )
        with self._condition:
            request = self._request
            if request is None:
                last = f' The last answer: {self._last}.' if self._last else ''
                raise ApprovalError(
                    f'No request waits for an answer now.{last} The next request: bbllm approve'
                )
            if hash != request.hash:
                # The next request may come before the second of two people is heard.
                before = self._reported.get(hash)
                reported = f' It was answered: {before}.' if before else ''
                raise ApprovalError(
                    f'{hash[:12] or "An empty hash"!r} is not what waits now: that is '
                    f'{request.name} ({request.title}).{reported} Read it and answer it: '
                    'bbllm approve'
                )
            if self._answer is not None:
                raise ApprovalError(f'It was answered already: {self._last}.')
            self._answer = answer
            self._note(request, answer)
            self._condition.notify_all()
            return request

    def _wait(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        deadline_s = time.monotonic() + self.timeout_s
        while True:
            with self._condition:
                if self._answer is None:
                    self._condition.wait(POLL_S)
                if self._answer is not None:
                    return self._answer
                if time.monotonic() >= deadline_s:
                    # Closed before the lock is let go: who answers later is told so.
                    self._request = None
                    answer = Answer(
                        granted=False, reason=f'nobody answered within {self.timeout_s:g} s'
                    )
                    self._note(request, answer)
                    return answer
            cancel.raise_if_cancelled()

    def _note(self, request: ApprovalRequest, answer: Answer) -> None:
        self._last = answer.line_about(request)
        self._reported.pop(request.hash, None)
        self._reported[request.hash] = self._last
        while len(self._reported) > REMEMBERED:
            del self._reported[next(iter(self._reported))]
