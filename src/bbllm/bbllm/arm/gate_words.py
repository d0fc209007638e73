"""What the gate before the arm asks about single calls, and what it says where one is refused."""

from __future__ import annotations

from bbllm.core.approval import Answer, ApprovalRequest, Provenance, RequestKind, single_hash
from bbllm.core.types import Code, Outcome, SkillCall, Status


def plan_deviation(tried: set[int], failed: int | None, step: int) -> str:
    """Return why a step of an approved plan is no longer what was approved; empty if it is."""
    if step in tried:
        return f'step {step} was tried already, and the plan has it once'
    if tried and step < max(tried):
        return f'step {step} comes after step {max(tried)}, and not in the order of the plan'
    if failed is not None:
        return f'step {failed} of the plan failed, and this one was planned to follow it'
    return ''


def call_request(call: SkillCall, provenance: Provenance | None, reason: str) -> ApprovalRequest:
    """Return the question about one call, with the step that it is for."""
    lines = [str(call)]
    episode_id = ''
    if provenance is not None:
        episode_id = provenance.episode_id
        steps = {step.index: step for step in provenance.plan.steps}
        if provenance.step in steps:
            lines.append(f'for step {steps[provenance.step]}')
    return ApprovalRequest(
        kind=RequestKind.CALL,
        hash=single_hash(RequestKind.CALL, episode_id, call.skill, *call.args),
        title=f'{call}. May it be done?',
        lines=tuple(lines),
        reason=reason,
        episode_id=episode_id,
    )


def denial(what: str, answer: Answer) -> str:
    """Say that something was not approved, and why."""
    if not answer.by:
        return f'A person has to approve {what}, and {answer.reason}.'
    if not answer.reason:
        return f'A person did not approve {what} and gave no reason.'
    return f'A person did not approve {what}: {answer.reason.rstrip(".")}.'


def refused(call: SkillCall, message: str) -> Outcome:
    """Return the outcome of a call that nobody has approved."""
    return Outcome(call=call, status=Status.REJECTED, code=Code.NOT_APPROVED, message=message)
