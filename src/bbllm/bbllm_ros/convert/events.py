"""
Events of episodes to messages of bbllm_interfaces and back.

Each kind of event has one typed payload. Fields of the same name in record and message are
converted by name; the rest is listed in WRITERS and READERS.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bbllm_interfaces import msg as msgs
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Pose as PoseMsg

from bbllm.core.events import (
    BeliefsEstimated,
    EpisodeStarted,
    Event,
    EventKind,
    Limits,
    ModelCall,
    PlanGrown,
    PlanMade,
    RepairBegun,
    StepFailed,
    event_text,
)
from bbllm.core.observation import Observed, Seven
from bbllm.core.types import Pose
from bbllm_ros.convert.records import (
    from_msg,
    header,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
    to_msg,
    vector_from_msg,
    vector_to_msg,
)

PAYLOADS: Mapping[EventKind, tuple[str, type]] = {
    EventKind.STARTED: ('started', msgs.EpisodeStart),
    EventKind.MODEL_CALL: ('model_call', msgs.ModelCall),
    EventKind.PLAN: ('plan', msgs.Plan),
    EventKind.PLAN_GROWN: ('plan', msgs.Plan),
    EventKind.ESTIMATED: ('estimated', msgs.Estimate),
    EventKind.SENSED: ('sensed', msgs.Observation),
    EventKind.REHEARSAL: ('rehearsal', msgs.PlanRehearsal),
    EventKind.REPAIR: ('failure', msgs.StepFailure),
    EventKind.FAILED: ('failure', msgs.StepFailure),
    EventKind.SCENE: ('scene', msgs.EpisodeScene),
    EventKind.GOAL: ('goal', msgs.TaskGoal),
    EventKind.STEP: ('step', msgs.PlanStep),
    EventKind.PASS: ('step', msgs.PlanStep),
    EventKind.CALL: ('call', msgs.SkillCall),
    EventKind.GROUNDED: ('grounded', msgs.Grounding),
    EventKind.CHECKED: ('checked', msgs.ConditionCheck),
    EventKind.SUB_GOAL: ('sub_goal', msgs.SubGoal),
    EventKind.DISCARDED: ('discarded', msgs.DiscardedLine),
    EventKind.OUTCOME: ('outcome', msgs.Outcome),
    EventKind.MODEL_TEXT: ('model_text', msgs.ModelText),
    EventKind.APPROVAL: ('approval', msgs.ApprovalAnswer),
    EventKind.HUMAN_FEEDBACK: ('remark', msgs.Remark),
    EventKind.QUESTION: ('question', msgs.Question),
    EventKind.ENDED: ('ended', msgs.EpisodeEnd),
}
"""The field of each kind and its type; those that are missing here are text, in `message`."""
LIMITS = {
    'steps': ('step_limit', 0),
    'model_calls': ('model_call_limit', 0),
    'tokens': ('token_limit', 0),
    'wall_s': ('wall_limit_s', 0.0),
}
"""By field of Limits, the field of EpisodeStart, and what stands there for no limit."""


def event_to_msg(event: Event, episode_id: str, stamp_s: float | None = None) -> msgs.EpisodeEvent:
    """Write an event; *stamp_s* is on the node's clock, by default the event's own time [s]."""
    data: Any = event.data
    head = header(event.stamp_s if stamp_s is None else stamp_s, '')
    msg = msgs.EpisodeEvent(
        header=head,
        wall_stamp=stamp_to_msg(event.stamp_s),
        episode_id=episode_id,
        kind=event.kind.value,
        text=event_text(data),
    )
    if event.kind not in PAYLOADS:
        msg.message = data.text
        return msg
    field, message = PAYLOADS[event.kind]
    write = WRITERS.get(event.kind)
    payload = write(data) if write else to_msg(data, message)
    if isinstance(data, PlanMade):
        payload.header, payload.episode_id = head, episode_id
    setattr(msg, field, [payload])
    return msg


def _start_to_msg(data: EpisodeStarted) -> msgs.EpisodeStart:
    settings = [
        KeyValue(key=key, value=json.dumps(value, ensure_ascii=False))
        for key, value in data.settings.items()
    ]
    limits = {there: getattr(data.limits, here) or zero for here, (there, zero) in LIMITS.items()}
    limits['allow_circles'] = data.limits.allow_circles
    limits['remark_limit'] = data.limits.remarks
    return to_msg(data, msgs.EpisodeStart, settings=settings, **limits)


def _model_call_to_msg(data: ModelCall) -> msgs.ModelCall:
    """Write a call without the texts of its prompt, which are kept where the journal is."""
    return to_msg(replace(data, prompt=tuple(replace(item, text='') for item in data.prompt)))


def _plan_to_msg(data: PlanMade) -> msgs.Plan:
    names = ('start', 'revision', 'rest', 'assumed')
    return to_msg(data.plan, msgs.Plan, **{name: getattr(data, name) for name in names})


def _estimate_to_msg(data: BeliefsEstimated) -> msgs.Estimate:
    objects = [
        msgs.ObjectAttributes(name=name, attributes=list(words))
        for name, words in data.attributes.items()
    ]
    return msgs.Estimate(objects=objects, summary=data.summary)


def _observation_to_msg(seen: Observed) -> msgs.Observation:
    objects = [
        msgs.ObjectPose(name=name, pose=_pose_of(pose)) for name, pose in seen.blocks.items()
    ]
    if seen.eef is None or seen.fingers_m is None:
        return msgs.Observation(objects=objects)
    hand = msgs.HandReading(
        tcp=_pose_of(seen.eef),
        width=float(sum(seen.fingers_m)),
        has_force=seen.force_n is not None,
        force=vector_to_msg(seen.force_n or (0.0, 0.0, 0.0)),
    )
    return msgs.Observation(objects=objects, has_hand=True, hand=hand)


def _pose_of(seven: Seven) -> PoseMsg:
    return pose_to_msg(Pose(position_m=seven[:3], quat_xyzw=seven[3:]))


def _failure_to_msg(data: RepairBegun | StepFailed) -> msgs.StepFailure:
    return to_msg(data, msgs.StepFailure, step=msgs.PlanStep(index=data.index, text=data.text))


WRITERS: Mapping[EventKind, Callable[[Any], Any]] = {
    EventKind.STARTED: _start_to_msg,
    EventKind.MODEL_CALL: _model_call_to_msg,
    EventKind.PLAN: _plan_to_msg,
    EventKind.PLAN_GROWN: _plan_to_msg,
    EventKind.ESTIMATED: _estimate_to_msg,
    EventKind.SENSED: _observation_to_msg,
    EventKind.REPAIR: _failure_to_msg,
    EventKind.FAILED: _failure_to_msg,
}
"""What writes the payloads whose fields have other names."""


def event_from_msg(msg: msgs.EpisodeEvent) -> Event:
    """Read an event; a ValueError where it lacks its payload, or is of another version."""
    kind = EventKind(msg.kind)  # type: ignore[call-arg]  # finds a member by its value
    stamp_s = stamp_from_msg(msg.wall_stamp)
    if kind not in PAYLOADS:
        record: Callable[..., Any] = kind.record
        return Event(stamp_s, record(text=msg.message))
    field, _ = PAYLOADS[kind]
    found = getattr(msg, field)
    if not found:
        raise ValueError(f'an event of kind {msg.kind!r} has its data in {field!r}.')
    if kind is EventKind.STARTED:
        return Event(stamp_s, _start_from_msg(found[0], msg.episode_id))
    read: Callable[[Any], Any] = READERS.get(kind, partial(from_msg, kind.record))
    return Event(stamp_s, read(found[0]))


def feedback_event(msg: msgs.EpisodeEvent) -> msgs.EpisodeEvent:
    """Return an event for the feedback of `run_task`: of a scene, only its header."""
    if not msg.scene:
        return msg
    short = msgs.EpisodeEvent(
        **{name: getattr(msg, name) for name in ('header', 'wall_stamp', 'episode_id', 'kind')},
        text=msg.text,
    )
    whole = msg.scene[0]
    short.scene = [
        msgs.EpisodeScene(moment=whole.moment, scene=msgs.Scene(header=whole.scene.header))
    ]
    return short


def _start_from_msg(msg: msgs.EpisodeStart, episode_id: str) -> EpisodeStarted:
    limits = {here: getattr(msg, there) or None for here, (there, _) in LIMITS.items()}
    settings = {pair.key: json.loads(pair.value) for pair in msg.settings}
    return from_msg(
        EpisodeStarted,
        msg,
        episode_id=episode_id,
        limits=Limits(**limits, allow_circles=bool(msg.allow_circles), remarks=msg.remark_limit),
        settings=settings,
    )


def _plan_reader(record: type[PlanMade]) -> Callable[[msgs.Plan], PlanMade]:
    return lambda msg: record(
        tuple(step.text for step in msg.steps), msg.start, msg.revision, msg.rest, msg.assumed
    )


def _estimate_from_msg(msg: msgs.Estimate) -> BeliefsEstimated:
    attributes = {item.name: tuple(item.attributes) for item in msg.objects}
    return BeliefsEstimated(attributes, msg.summary)


def _observation_from_msg(msg: msgs.Observation) -> Observed:
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


def _failure_reader(record: type) -> Callable[[msgs.StepFailure], Any]:
    return lambda msg: from_msg(record, msg, index=msg.step.index, text=msg.step.text)


def _seven(msg: PoseMsg) -> Seven:
    p, q = msg.position, msg.orientation
    return (p.x, p.y, p.z, q.x, q.y, q.z, q.w)


READERS: Mapping[EventKind, Callable[[Any], Any]] = {
    EventKind.PLAN: _plan_reader(PlanMade),
    EventKind.PLAN_GROWN: _plan_reader(PlanGrown),
    EventKind.ESTIMATED: _estimate_from_msg,
    EventKind.SENSED: _observation_from_msg,
    EventKind.REPAIR: _failure_reader(RepairBegun),
    EventKind.FAILED: _failure_reader(StepFailed),
}
"""What reads the payloads whose fields have other names."""
