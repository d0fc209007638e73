"""
Guard against asking twice: what a person has denied is refused at once if it is proposed again.

A proposal is the rest of a plan, or a call, after what was done since the denial. The same one is
refused with the person's words; after `REPEATS` of them the episode ends with WENT_IN_CIRCLES. Any
other is asked for as before, and so is all once a person has given feedback.
"""

from dataclasses import dataclass, field

from bbllm.core.approval import RequestKind
from bbllm.core.errors import WentInCirclesError
from bbllm.core.text import count_of
from bbllm.core.types import Code, Outcome, SkillCall, Status

REPEATS = 2
"""How many plans may propose again what was denied; the last of them ends the episode."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a person is asked for, as far as two questions can be the same."""

    call: SkillCall
    revision: int
    """Number of the plan that the call is a part of."""
    rest: tuple[str, ...]
    """The steps of that plan from the one of the call on."""
    words: str
    """The rest of the plan, as messages quote it."""


@dataclass(slots=True)
class _Denied:
    kind: RequestKind
    proposal: Proposal
    reason: str
    done: tuple[SkillCall, ...]
    """What its plan had done before."""
    since: list[SkillCall] = field(default_factory=list)
    repeated_in: list[int] = field(default_factory=list)
    """The numbers of the plans that proposed it again."""

    def covers(self, proposal: Proposal) -> bool:
        """Return whether this is the same again, or belongs to a plan that was."""
        of_plan = self.kind is RequestKind.PLAN
        if of_plan and proposal.revision in (self.proposal.revision, *self.repeated_in):
            return True
        same = (
            _texts(proposal) == _texts(self.proposal)
            if of_plan
            else proposal.call == self.proposal.call
        )
        return same and tuple(self.since) in ((), self.done)

    @property
    def in_words(self) -> str:
        plan = self.kind is RequestKind.PLAN
        what = self.proposal.words if plan else str(self.proposal.call)
        why = f': {self.reason.rstrip(".")}' if self.reason else ', without a reason'
        return f'a person denied {what}{why}'


class DenialGuard:
    """What was denied in one episode; `before` each call, `after` it with its outcome."""

    def __init__(self, *, ends: bool = True) -> None:
        self._ends = ends
        self._denied: list[_Denied] = []
        self._done: list[SkillCall] = []
        """What the plan in force has done."""
        self._revision = 0

    def begin_anew(self) -> None:
        """Ask for everything again: a person has given feedback."""
        self._denied.clear()

    def before(self, proposal: Proposal) -> Outcome | None:
        """
        Return the refusal of what was denied already; None where it may go on.

        Raises:
            WentInCirclesError: So many plans have proposed it again.
        """
        if proposal.revision != self._revision:
            self._revision = proposal.revision
            self._done.clear()
        found = next((item for item in self._denied if item.covers(proposal)), None)
        if found is None:
            return None
        if proposal.revision not in (found.proposal.revision, *found.repeated_in):
            found.repeated_in.append(proposal.revision)
        n_repeats = len(found.repeated_in)
        if self._ends and n_repeats >= REPEATS:
            raise WentInCirclesError(
                f'The plan went in circles: {found.in_words}. It was proposed again '
                f'{count_of(n_repeats, "time")}, unchanged. To go on, deny a plan with what is '
                'to be different, or add it to the task.'
            )
        what = 'plan' if found.kind is RequestKind.PLAN else 'call'
        return Outcome(
            call=proposal.call,
            status=Status.REJECTED,
            code=Code.NOT_APPROVED,
            message=f'{proposal.call} was not tried: {found.in_words}. It is not asked for twice; '
            f'another {what} would be.',
        )

    def after(self, outcome: Outcome) -> None:
        """Take in how a call ended that was not refused here."""
        if outcome.status is not Status.REJECTED:  # something may have changed
            for item in self._denied:
                item.since.append(outcome.call)
            self._done.append(outcome.call)

    def add(self, kind: RequestKind, reason: str, proposal: Proposal) -> None:
        """Take in what a person has just denied."""
        self._denied.append(_Denied(kind, proposal, reason, tuple(self._done)))


def _texts(proposal: Proposal) -> list[list[str]]:
    return [text.casefold().split() for text in proposal.rest]
