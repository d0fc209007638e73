"""What the gate before the arm knows of plans: what ends them, which calls are no part of one."""

from __future__ import annotations

from dataclasses import dataclass, field

from bbllm.core.approval import SHORT, Provenance
from bbllm.core.printable import escape_line, hidden_fault
from bbllm.core.types import Code

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
LONGEST = 200
"""So much of a text that is refused is quoted [characters]."""
REVOKING = frozenset({Code.USER_STOP, Code.NEEDS_PERSON})
"""After these nothing that was approved before holds any more."""


@dataclass
class ApprovedPlan:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What must not have changed between a question and its yes."""

    stops: int
    """How often the robot had stopped."""
    revoked: int
    """How often what was approved had been taken back."""


def plan_fault(provenance: Provenance, known: ApprovedPlan | None) -> str:
    """
    Return why a goal cannot belong to the plan that it names; empty if it can.

    Args:
        provenance: Where the goal comes from.
        known: The plan in force.
    """
    steps = provenance.plan.steps
    if [step.index for step in steps] != list(range(len(steps))):
        return 'the steps of its plan are not numbered from 0 without gaps.'
    if not 0 <= provenance.step < len(steps):
        return f'it names step {provenance.step} of a plan with {len(steps)} steps from 0 on.'
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


def text_fault(provenance: Provenance) -> str:
    """Return why a person could not read what a plan says; empty if everything is visible."""
    parts = [('its episode id', provenance.episode_id)]
    parts += [(f'step {step.index} of its plan', step.text) for step in provenance.plan.steps]
    for what, text in parts:
        fault = hidden_fault(text)
        if fault:
            return (
                f'{what} contains {fault}: {escape_line(text)[:LONGEST]}. Write it in plain text.'
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
