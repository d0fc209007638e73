"""Requests and answers of approval to messages and back; nothing here decides anything."""

from bbllm_interfaces.action import ExecuteSkill
from bbllm_interfaces.msg import Approval
from bbllm_interfaces.srv import Approve

from bbllm.core.approval import SHORT, Answer, ApprovalRequest, Provenance
from bbllm.core.errors import ApprovalError
from bbllm.core.tasks import MAX_TASK_CHARACTERS
from bbllm.core.text import strip_hidden
from bbllm.core.types import Plan
from bbllm_ros.convert.records import from_msg, header, to_msg

LONGEST_NAME = 100


def provenance_from_goal(goal: ExecuteSkill.Goal) -> Provenance | None:
    """Return where a call comes from; None where the goal names no plan."""
    if not goal.plan.steps:
        return None
    return Provenance(
        episode_id=goal.plan.episode_id,
        revision=goal.plan.revision,
        plan=from_msg(Plan, goal.plan),
        step=goal.step,
        goal=tuple(goal.plan.goal),
        rest=goal.plan.rest,
        rehearsal=tuple(goal.plan.rehearsal),
    )


def approval_to_msg(request: ApprovalRequest | None, simulated: bool, stamp_s: float) -> Approval:
    if request is None:
        return Approval(header=header(stamp_s, ''), kind=Approval.NOTHING, simulated=simulated)
    return to_msg(
        request, Approval, header=header(stamp_s, ''), hash=request.hash, simulated=simulated
    )


def approval_from_msg(msg: Approval) -> ApprovalRequest | None:
    """Read what waits; ApprovalError where that is no question of an executor."""
    if msg.kind == Approval.NOTHING:
        return None
    try:
        request = from_msg(ApprovalRequest, msg)
    except ValueError as error:
        raise ApprovalError(f'A question was not shown: {error}') from error
    if msg.hash != request.hash:
        raise ApprovalError(
            f'A question was not shown: its hash, {msg.hash[:SHORT]!r}, is not that of its words, '
            f'{request.hash[:SHORT]}. fr3_executor asks with the hash of its words.'
        )
    if request.since_s <= 0.0:
        raise ApprovalError(
            f'A question was not shown: {request.name} has no time stamp; those of fr3_executor '
            'have one.'
        )
    return request


def answer_to_request(hash: str, answer: Answer) -> Approve.Request:
    return to_msg(answer, Approve.Request, hash=hash)


def answer_from_request(msg: Approve.Request) -> Answer:
    """Read an answer, as much of it as people read; without a name it is `somebody`."""
    return Answer(
        granted=msg.granted,
        reason=_line(msg.reason, MAX_TASK_CHARACTERS),
        by=_line(msg.by, LONGEST_NAME) or 'somebody',
        automatic=msg.automatic,
    )


def _line(text: str, most: int) -> str:
    return ' '.join(strip_hidden(text).split())[:most]
