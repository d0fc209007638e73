"""
Events of episodes to messages of bbllm_interfaces and back.

Each kind of event has one typed payload. What a payload has no field for, for example a key that a
later version adds to a journal line, travels as JSON in `other`, so that the round trip keeps
every value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from bbllm_interfaces.msg import Outcome as OutcomeMsg
from bbllm_interfaces.msg import Plan as PlanMsg
from bbllm_interfaces.msg import PlanStep as PlanStepMsg
from bbllm_interfaces.msg import Scene as SceneMsg
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Pose as PoseMsg

from bbllm.core.budget import Limits
from bbllm.core.events import Ending, Event, EventKind, ModelCall
from bbllm.core.observation import Observed, Seven
from bbllm.core.records import from_json, to_json
from bbllm.core.types import Code, Outcome, Pose, Scene, SkillCall, Status
from bbllm.ros.convert.event_text import event_text
from bbllm.ros.convert.records import (
    call_from_msg,
    call_to_msg,
    header,
    model_call_from_msg,
    model_call_to_msg,
    plan_from_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
    vector_from_msg,
    vector_to_msg,
)
from bbllm.ros.convert.scene import scene_from_msg, scene_to_msg

Data = Mapping[str, Any]

SAME = 1e-9
"""Numbers that differ by less than this are the same: stamps are whole nanoseconds."""


@dataclass(frozen=True)
class Payload:
    """Where the data of a kind of event stands in the message, and how to convert it."""

    field: str
    to_msg: Callable[[Data], Any]
    from_msg: Callable[[Any], dict[str, Any]]


def event_to_msg(event: Event, episode_id: str, stamp_s: float | None = None) -> EpisodeEvent:
    """
    Write an event.

    Args:
        event: What happened.
        episode_id: Of the episode that it belongs to.
        stamp_s: When, on the ROS clock of the node; by default the wall clock of the event [s].
    """
    data: dict[str, Any] = to_json(event.data)
    stamp_s = event.stamp_s if stamp_s is None else stamp_s
    msg = EpisodeEvent(
        header=header(stamp_s, ''),
        wall_stamp=stamp_to_msg(event.stamp_s),
        episode_id=episode_id,
        kind=event.kind.value,
        text=event_text(event),
    )
    if event.kind in PAYLOADS:
        payload = PAYLOADS[event.kind]
        setattr(msg, payload.field, [payload.to_msg(data)])
    else:
        msg.message = str(data.get('text', ''))
    for plan in msg.plan:
        plan.header, plan.episode_id = msg.header, episode_id
    known = _typed_data(msg)
    msg.other = _to_pairs(
        {key: v for key, v in data.items() if key not in known or not _same(known[key], v)}
    )
    return msg


def event_from_msg(msg: EpisodeEvent) -> Event:
    """
    Read an event.

    Raises:
        ValueError: The message lacks its payload, or its kind is of another version.
    """
    data = {**_typed_data(msg), **_from_pairs(msg.other)}
    return Event(EventKind(msg.kind), stamp_from_msg(msg.wall_stamp), data)


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


def _typed_data(msg: EpisodeEvent) -> dict[str, Any]:
    """Return the data that the typed fields have."""
    kind = EventKind(msg.kind)
    if kind is EventKind.STARTED:
        return {'episode_id': msg.episode_id, **_payload_data(msg, PAYLOADS[kind])}
    if kind in PAYLOADS:
        return _payload_data(msg, PAYLOADS[kind])
    return {'text': msg.message}


def _payload_data(msg: EpisodeEvent, payload: Payload) -> dict[str, Any]:
    found = getattr(msg, payload.field)
    if not found:
        raise ValueError(f'an event of kind {msg.kind!r} has its data in {payload.field!r}.')
    return payload.from_msg(found[0])


def _to_pairs(values: Mapping[str, Any]) -> list[KeyValue]:
    return [
        KeyValue(key=key, value=json.dumps(value, ensure_ascii=False))
        for key, value in values.items()
    ]


def _from_pairs(pairs: list[KeyValue]) -> dict[str, Any]:
    return {pair.key: json.loads(pair.value) for pair in pairs}


def _same(a: Any, b: Any) -> bool:
    """Compare JSON values, numbers as far as a message keeps them."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
        return numbers and math.isclose(a, b, rel_tol=1e-12, abs_tol=SAME)
    return bool(a == b)


def _flat(field: str, message: type, **names: str) -> Payload:
    """Return a payload whose keys are the fields of a message; `names` maps keys to fields."""

    def write(data: Data) -> Any:
        return message(**{name: data[key] for key, name in names.items() if key in data})

    def read(msg: Any) -> dict[str, Any]:
        return {key: getattr(msg, name) for key, name in names.items()}

    return Payload(field, write, read)


def _start_to_msg(data: Data) -> EpisodeStart:
    limits = from_json(Limits, data.get('limits', {}))
    names = ('task', 'planner', 'brain', 'body', 'version')
    return EpisodeStart(
        **{name: data[name] for name in names if name in data},
        step_limit=limits.steps or 0,
        model_call_limit=limits.model_calls or 0,
        token_limit=limits.tokens or 0,
        wall_limit_s=float(limits.wall_s or 0.0),
        settings=_to_pairs(data.get('settings', {})),
    )


def _start_from_msg(msg: EpisodeStart) -> dict[str, Any]:
    limits = Limits(
        steps=msg.step_limit or None,
        model_calls=msg.model_call_limit or None,
        tokens=msg.token_limit or None,
        wall_s=msg.wall_limit_s or None,
    )
    return {
        'task': msg.task,
        'planner': msg.planner,
        'brain': msg.brain,
        'body': msg.body,
        'version': msg.version,
        'limits': to_json(limits),
        'settings': _from_pairs(msg.settings),
    }


def _scene_to_msg(data: Data) -> EpisodeScene:
    scene = scene_to_msg(from_json(Scene, data['scene']))
    return EpisodeScene(moment=data['moment'], scene=scene)


def _scene_from_msg(msg: EpisodeScene) -> dict[str, Any]:
    return {'moment': msg.moment, 'scene': to_json(scene_from_msg(msg.scene))}


def _plan_to_msg(data: Data) -> PlanMsg:
    steps = [PlanStepMsg(index=i, text=text) for i, text in enumerate(data['steps'])]
    return PlanMsg(steps=steps, start=data['start'], revision=data.get('revision', 0))


def _plan_from_msg(msg: PlanMsg) -> dict[str, Any]:
    steps = [step.text for step in plan_from_msg(msg).steps]
    return {'steps': steps, 'start': msg.start, 'revision': msg.revision}


def _estimate_to_msg(data: Data) -> Estimate:
    objects = [
        ObjectAttributes(name=name, attributes=list(words))
        for name, words in data['attributes'].items()
    ]
    return Estimate(objects=objects, summary=data.get('summary', ''))


def _estimate_from_msg(msg: Estimate) -> dict[str, Any]:
    attributes = {item.name: list(item.attributes) for item in msg.objects}
    return {'attributes': attributes, 'summary': msg.summary}


def _discarded_to_msg(data: Data) -> DiscardedLine:
    return DiscardedLine(
        text=data['text'],
        reason=data['why'],
        refused=data.get('refused', False),
        code=_code(data),
        rules=list(data.get('rules', ())),
    )


def _discarded_from_msg(msg: DiscardedLine) -> dict[str, Any]:
    data = {'text': msg.text, 'why': msg.reason, 'refused': msg.refused, **_coded(msg.code)}
    return {**data, **({'rules': list(msg.rules)} if msg.rules else {})}


def _outcome_to_msg(data: Data) -> OutcomeMsg:
    outcome = from_json(Outcome, data)
    return OutcomeMsg(
        call=call_to_msg(outcome.call),
        status=int(outcome.status),
        code=int(outcome.code),
        message=outcome.message,
        raw=outcome.raw,
        duration_s=float(outcome.duration_s),
    )


def _outcome_from_msg(msg: OutcomeMsg) -> dict[str, Any]:
    return dict(
        to_json(
            Outcome(
                call=call_from_msg(msg.call),
                status=Status(msg.status),
                code=Code(msg.code) if msg.code in list(Code) else Code.INTERNAL,
                message=msg.message,
                raw=msg.raw,
                duration_s=msg.duration_s,
            )
        )
    )


def _observation_to_msg(data: Data) -> Observation:
    seen = from_json(Observed, data)
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


def _observation_from_msg(msg: Observation) -> dict[str, Any]:
    blocks = {item.name: _seven(item.pose) for item in msg.objects}
    if not msg.has_hand:
        return dict(to_json(Observed(blocks=blocks)))
    hand = msg.hand
    seen = Observed(
        blocks=blocks,
        eef=_seven(hand.tcp),
        force_n=vector_from_msg(hand.force) if hand.has_force else None,
        fingers_m=(hand.width / 2, hand.width / 2),
    )
    return dict(to_json(seen))


def _failure_to_msg(data: Data) -> StepFailure:
    return StepFailure(
        step=PlanStepMsg(index=data['index'], text=data['text']),
        cause=data['cause'],
        code=_code(data),
        loop=data.get('loop', 0),
    )


def _failure_from_msg(msg: StepFailure) -> dict[str, Any]:
    step = {'index': msg.step.index, 'text': msg.step.text, 'cause': msg.cause}
    return {**step, **({'loop': msg.loop} if msg.loop else {}), **_coded(msg.code)}


def _end_to_msg(data: Data) -> EpisodeEnd:
    return EpisodeEnd(
        ending=int(Ending[data['ending']]),
        message=data.get('message', ''),
        error=data.get('error', ''),
    )


def _end_from_msg(msg: EpisodeEnd) -> dict[str, Any]:
    return {'ending': Ending(msg.ending).name, 'message': msg.message, 'error': msg.error}


def _code(data: Data) -> int:
    return int(Code.__members__.get(data.get('code', ''), Code.NONE))


def _coded(code: int) -> dict[str, str]:
    return {'code': Code(code).name} if code else {}


def _pose(seven: Seven) -> PoseMsg:
    x, y, z, *quat = seven
    return pose_to_msg(Pose(position_m=(x, y, z), quat_xyzw=(quat[0], quat[1], quat[2], quat[3])))


def _seven(msg: PoseMsg) -> Seven:
    p, q = msg.position, msg.orientation
    return (p.x, p.y, p.z, q.x, q.y, q.z, q.w)


_STEP = _flat('step', PlanStepMsg, index='index', text='text')
_FAILURE = Payload('failure', _failure_to_msg, _failure_from_msg)

PAYLOADS: Mapping[EventKind, Payload] = {
    EventKind.STARTED: Payload('started', _start_to_msg, _start_from_msg),
    EventKind.SCENE: Payload('scene', _scene_to_msg, _scene_from_msg),
    EventKind.PLAN: Payload('plan', _plan_to_msg, _plan_from_msg),
    EventKind.STEP: _STEP,
    EventKind.PASS: _STEP,
    EventKind.CALL: Payload(
        'call',
        lambda data: call_to_msg(from_json(SkillCall, data)),
        lambda msg: dict(to_json(call_from_msg(msg))),
    ),
    EventKind.GROUNDED: _flat(
        'grounded', Grounding, word='word', name='name', policy='policy', among='among'
    ),
    EventKind.CHECKED: _flat(
        'checked', ConditionCheck, condition='condition', holds='holds', by='by'
    ),
    EventKind.SUB_GOAL: _flat('sub_goal', SubGoal, index='index', of='count', text='text'),
    EventKind.ESTIMATED: Payload('estimated', _estimate_to_msg, _estimate_from_msg),
    EventKind.DISCARDED: Payload('discarded', _discarded_to_msg, _discarded_from_msg),
    EventKind.OUTCOME: Payload('outcome', _outcome_to_msg, _outcome_from_msg),
    EventKind.SENSED: Payload('sensed', _observation_to_msg, _observation_from_msg),
    EventKind.REPAIR: _FAILURE,
    EventKind.FAILED: _FAILURE,
    EventKind.MODEL_TEXT: _flat('model_text', ModelText, role='role', text='text'),
    EventKind.MODEL_CALL: Payload(
        'model_call',
        lambda data: model_call_to_msg(from_json(ModelCall, data)),
        lambda msg: dict(to_json(model_call_from_msg(msg))),
    ),
    EventKind.APPROVAL: _flat(
        'approval',
        ApprovalAnswer,
        what='kind',
        hash='hash',
        title='title',
        granted='granted',
        reason='reason',
        by='by',
        automatic='automatic',
        text='text',
    ),
    EventKind.ENDED: Payload('ended', _end_to_msg, _end_from_msg),
}
"""The payload of each kind; those that are missing here are only text, in `message`."""
