"""The words of the gate before the arm: what it asks, and what it says where it refuses."""

from __future__ import annotations

from bbllm.core.approval import Answer, ApprovalRequest, Provenance, RequestKind, single_hash
from bbllm.core.errors import SceneError
from bbllm.core.printable import escape_line
from bbllm.core.stand_ins import with_remark
from bbllm.core.types import Code, Outcome, SkillCall, Status


def plan_request(
    provenance: Provenance, hash: str, revoked: str, brain: str = ''
) -> ApprovalRequest:
    """
    Return the question about a plan.

    Args:
        provenance: Where the plan comes from.
        hash: What an answer has to name.
        revoked: Why it is asked for once more; empty for the first time.
        brain: Name of the model that wrote it; empty where it is not known.
    """
    anew = 'the Brain has planned anew' if provenance.revision else ''
    count = len(provenance.plan.steps)
    by = f' by {with_remark(brain)}' if brain else ''
    return ApprovalRequest(
        kind=RequestKind.PLAN,
        hash=hash,
        title=f'The plan of {count} {"step" if count == 1 else "steps"}{by}. May it be done?',
        lines=tuple(str(step) for step in provenance.plan.steps),
        reason=revoked or anew,
        episode_id=provenance.episode_id,
    )


def resume_request(what: str, episode_id: str) -> ApprovalRequest:
    """Return the question whether the robot, which has stopped, may go on."""
    return ApprovalRequest(
        kind=RequestKind.RESUME,
        hash=single_hash(RequestKind.RESUME, what),
        title='The robot has stopped. May it be recovered and go on?',
        lines=(escape_line(what),),
        reason='look at the robot first: what stopped it may still be there',
        episode_id=episode_id,
    )


def call_request(call: SkillCall, provenance: Provenance | None, reason: str) -> ApprovalRequest:
    """Return the question about one call, with the step that it is for."""
    named = escape_line(str(call))
    lines = [named]
    episode_id = ''
    if provenance is not None:
        episode_id = provenance.episode_id
        steps = {step.index: step for step in provenance.plan.steps}
        if provenance.step in steps:
            lines.append(f'for step {steps[provenance.step]}')
    return ApprovalRequest(
        kind=RequestKind.CALL,
        hash=single_hash(RequestKind.CALL, episode_id, call.skill, *call.args),
        title=f'{named}. May it be done?',
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


def unseen(call: SkillCall, error: SceneError) -> Outcome:
    """Return the outcome of a call for which there is no scene to look at."""
    code = Code.EMPTY_SCENE if 'scene is empty' in str(error) else Code.STALE_SCENE
    return Outcome(call=call, status=Status.REJECTED, code=code, message=str(error))
