"""
Events of episodes to messages of bbllm_interfaces and back.

Each kind of event has one typed payload. Fields that have the same name in record and message are
converted by name; the rest is listed in PAYLOADS.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

from bbllm_interfaces.msg import (
    ApprovalAnswer,
    ConditionCheck,
    DiscardedLine,
    EpisodeEnd,
    EpisodeEvent,
    EpisodeScene,
    EpisodeStart,
    Estimate,
    Grounding,
    ModelText,
    ObjectAttributes,
    ObjectPose,
    Observation,
    StepFailure,
    SubGoal,
)
from bbllm_interfaces.msg import HandReading as HandReadingMsg
from bbllm_interfaces.msg import ModelCall as ModelCallMsg
from bbllm_interfaces.msg import Outcome as OutcomeMsg
from bbllm_interfaces.msg import Plan as PlanMsg
from bbllm_interfaces.msg import PlanStep as PlanStepMsg
from bbllm_interfaces.msg import Scene as SceneMsg
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Pose as PoseMsg

from bbllm.core.budget import Limits
from bbllm.core.event_text import event_text
from bbllm.core.events import (
    DATA_TYPES,
    BeliefsEstimated,
    EpisodeStarted,
    Event,
    EventKind,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepFailed,
)
from bbllm.core.observation import Observed, Seven
from bbllm.core.records import from_json
from bbllm.core.types import Code, Outcome, Pose, Status
from bbllm.ros.convert.records import (
    call_from_msg,
    call_to_msg,
    header,
    plan_to_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
    vector_from_msg,
    vector_to_msg,
)
from bbllm.ros.convert.scene import scene_from_msg, scene_to_msg


@dataclass(frozen=True)
class Payload:
    """Where the data of a kind of event stands in the message, and how to convert it."""

    field: str
    to_msg: Callable[[Any], Any]
    from_msg: Callable[[Any], Any]


def event_to_msg(event: Event, episode_id: str, stamp_s: float | None = None) -> EpisodeEvent:
    """
    Write an event.

    Args:
        event: What happened.
        episode_id: Of the episode that it belongs to.
        stamp_s: When, on the ROS clock of the node; by default the wall clock of the event [s].
    """
    msg = EpisodeEvent(
        header=header(event.stamp_s if stamp_s is None else stamp_s, ''),
        wall_stamp=stamp_to_msg(event.stamp_s),
        episode_id=episode_id,
        kind=event.kind.value,
        text=event_text(event.data),
    )
    if payload := PAYLOADS.get(event.kind):
        setattr(msg, payload.field, [payload.to_msg(event.data)])
    else:
        msg.message = event.data.text  # type: ignore[union-attr]  # those without a payload have it
    for plan in msg.plan:
        plan.header, plan.episode_id = msg.header, episode_id
    return msg


def event_from_msg(msg: EpisodeEvent) -> Event:
    """
    Read an event.

    Raises:
        ValueError: The message lacks its payload, or its kind is of another version.
    """
    kind = EventKind(msg.kind)
    stamp_s = stamp_from_msg(msg.wall_stamp)
    payload = PAYLOADS.get(kind)
    if payload is None:
        return Event(stamp_s, from_json(DATA_TYPES[kind], {'text': msg.message}))
    found = getattr(msg, payload.field)
    if not found:
        raise ValueError(f'an event of kind {msg.kind!r} has its data in {payload.field!r}.')
    if kind is EventKind.STARTED:
        return Event(stamp_s, _start_from_msg(found[0], msg.episode_id))
    return Event(stamp_s, payload.from_msg(found[0]))


def feedback_event(msg: EpisodeEvent) -> EpisodeEvent:
    """Return an event for the feedback of `run_task`: of a scene, only its header."""
    if not msg.scene:
        return msg
    short = EpisodeEvent(
        **{name: getattr(msg, name) for name in ('header', 'wall_stamp', 'episode_id', 'kind')},
        text=msg.text,
    )
    whole = msg.scene[0]
    short.scene = [EpisodeScene(moment=whole.moment, scene=SceneMsg(header=whole.scene.header))]
    return short


def _by_name(kind: EventKind, field: str, message: type, **renamed: str) -> Payload:
    """
    Return a payload whose fields agree with those of the record.

    Args:
        kind: Of the event.
        field: Of EpisodeEvent that holds the payload.
        message: Its type.
        renamed: Fields of the record that have another name in the message.
    """
    record = DATA_TYPES[kind]
    names = {item.name: renamed.get(item.name, item.name) for item in fields(record)}

    def write(data: object) -> Any:
        return message(**{there: _plain(getattr(data, here)) for here, there in names.items()})

    def read(msg: Any) -> Any:
        given = {here: getattr(msg, there) for here, there in names.items()}
        if 'code' in given:
            given['code'] = _code_from(given['code'])
        return from_json(record, given)

    return Payload(field, write, read)


def _plain(value: Any) -> Any:
    """Return a value as messages take it; a code that is not there is NONE."""
    if value is None or isinstance(value, IntEnum):
        return int(value or 0)
    return list(value) if isinstance(value, tuple) else value


def _code_from(number: int) -> Code | None:
    """Return a code, None for NONE; one that this version does not have is INTERNAL."""
    if not number:
        return None
    return Code(number) if number in list(Code) else Code.INTERNAL


def _start_to_msg(data: EpisodeStarted) -> EpisodeStart:
    names = ('task', 'planner', 'brain', 'body', 'version')
    return EpisodeStart(
        **{name: getattr(data, name) for name in names},
        step_limit=data.limits.steps or 0,
        model_call_limit=data.limits.model_calls or 0,
        token_limit=data.limits.tokens or 0,
        wall_limit_s=float(data.limits.wall_s or 0.0),
        settings=[
            KeyValue(key=key, value=json.dumps(value, ensure_ascii=False))
            for key, value in data.settings.items()
        ],
    )


def _start_from_msg(msg: EpisodeStart, episode_id: str = '') -> EpisodeStarted:
    return EpisodeStarted(
        episode_id=episode_id,
        task=msg.task,
        planner=msg.planner,
        brain=msg.brain,
        body=msg.body,
        version=msg.version,
        limits=Limits(
            steps=msg.step_limit or None,
            model_calls=msg.model_call_limit or None,
            tokens=msg.token_limit or None,
            wall_s=msg.wall_limit_s or None,
        ),
        settings={pair.key: json.loads(pair.value) for pair in msg.settings},
    )


def _scene_to_msg(data: SceneRecorded) -> EpisodeScene:
    return EpisodeScene(moment=data.moment, scene=scene_to_msg(data.scene))


def _scene_from_msg(msg: EpisodeScene) -> SceneRecorded:
    return SceneRecorded(msg.moment, scene_from_msg(msg.scene))


def _plan_to_msg(data: PlanMade) -> PlanMsg:
    return plan_to_msg(data.plan, data.start, '', 0.0, data.revision)


def _plan_from_msg(msg: PlanMsg) -> PlanMade:
    return PlanMade(tuple(step.text for step in msg.steps), msg.start, msg.revision)


def _estimate_to_msg(data: BeliefsEstimated) -> Estimate:
    objects = [
        ObjectAttributes(name=name, attributes=list(words))
        for name, words in data.attributes.items()
    ]
    return Estimate(objects=objects, summary=data.summary)


def _estimate_from_msg(msg: Estimate) -> BeliefsEstimated:
    attributes = {item.name: tuple(item.attributes) for item in msg.objects}
    return BeliefsEstimated(attributes, msg.summary)


def _outcome_to_msg(outcome: Outcome) -> OutcomeMsg:
    names = ('status', 'code', 'message', 'raw', 'duration_s')
    values = {name: _plain(getattr(outcome, name)) for name in names}
    return OutcomeMsg(call=call_to_msg(outcome.call), **values)


def _outcome_from_msg(msg: OutcomeMsg) -> Outcome:
    return Outcome(
        call=call_from_msg(msg.call),
        status=Status(msg.status),
        code=_code_from(msg.code) or Code.NONE,
        message=msg.message,
        raw=msg.raw,
        duration_s=msg.duration_s,
    )


def _observation_to_msg(seen: Observed) -> Observation:
    msg = Observation(
        objects=[ObjectPose(name=name, pose=_pose(pose)) for name, pose in seen.blocks.items()]
    )
    if seen.eef is not None and seen.fingers_m is not None:
        msg.has_hand = True
        msg.hand = HandReadingMsg(
            tcp=_pose(seen.eef),
            width=float(sum(seen.fingers_m)),
            has_force=seen.force_n is not None,
            force=vector_to_msg(seen.force_n or (0.0, 0.0, 0.0)),
        )
    return msg


def _observation_from_msg(msg: Observation) -> Observed:
    blocks = {item.name: _seven(item.pose) for item in msg.objects}
    if not msg.has_hand:
        return Observed(blocks=blocks)
    hand = msg.hand
    return Observed(
        blocks=blocks,
        eef=_seven(hand.tcp),
        force_n=vector_from_msg(hand.force) if hand.has_force else None,
        fingers_m=(hand.width / 2, hand.width / 2),
    )


def _failure_to_msg(data: RepairBegun | StepFailed) -> StepFailure:
    return StepFailure(
        step=PlanStepMsg(index=data.index, text=data.text),
        cause=data.cause,
        code=_plain(data.code),
        loop=data.loop if isinstance(data, RepairBegun) else 0,
    )


def _repair_from_msg(msg: StepFailure) -> RepairBegun:
    return RepairBegun(msg.step.index, msg.step.text, msg.cause, msg.loop, _code_from(msg.code))


def _failed_from_msg(msg: StepFailure) -> StepFailed:
    return StepFailed(msg.step.index, msg.step.text, msg.cause, _code_from(msg.code))


def _pose(seven: Seven) -> PoseMsg:
    x, y, z, *quat = seven
    return pose_to_msg(Pose(position_m=(x, y, z), quat_xyzw=(quat[0], quat[1], quat[2], quat[3])))


def _seven(msg: PoseMsg) -> Seven:
    p, q = msg.position, msg.orientation
    return (p.x, p.y, p.z, q.x, q.y, q.z, q.w)


PAYLOADS: Mapping[EventKind, Payload] = {
    EventKind.STARTED: Payload('started', _start_to_msg, _start_from_msg),
    EventKind.SCENE: Payload('scene', _scene_to_msg, _scene_from_msg),
    EventKind.PLAN: Payload('plan', _plan_to_msg, _plan_from_msg),
    EventKind.STEP: _by_name(EventKind.STEP, 'step', PlanStepMsg),
    EventKind.PASS: _by_name(EventKind.PASS, 'step', PlanStepMsg),
    EventKind.CALL: Payload('call', call_to_msg, call_from_msg),
    EventKind.GROUNDED: _by_name(EventKind.GROUNDED, 'grounded', Grounding),
    EventKind.CHECKED: _by_name(EventKind.CHECKED, 'checked', ConditionCheck),
    EventKind.SUB_GOAL: _by_name(EventKind.SUB_GOAL, 'sub_goal', SubGoal, of='count'),
    EventKind.ESTIMATED: Payload('estimated', _estimate_to_msg, _estimate_from_msg),
    EventKind.DISCARDED: _by_name(EventKind.DISCARDED, 'discarded', DiscardedLine, why='reason'),
    EventKind.OUTCOME: Payload('outcome', _outcome_to_msg, _outcome_from_msg),
    EventKind.SENSED: Payload('sensed', _observation_to_msg, _observation_from_msg),
    EventKind.REPAIR: Payload('failure', _failure_to_msg, _repair_from_msg),
    EventKind.FAILED: Payload('failure', _failure_to_msg, _failed_from_msg),
    EventKind.MODEL_TEXT: _by_name(EventKind.MODEL_TEXT, 'model_text', ModelText),
    EventKind.MODEL_CALL: _by_name(EventKind.MODEL_CALL, 'model_call', ModelCallMsg),
    EventKind.APPROVAL: _by_name(EventKind.APPROVAL, 'approval', ApprovalAnswer, what='kind'),
    EventKind.ENDED: _by_name(EventKind.ENDED, 'ended', EpisodeEnd),
}
"""The payload of each kind; those that are missing here are only text, in `message`."""
