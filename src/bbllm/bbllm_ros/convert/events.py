"""
Events of episodes to messages of bbllm_interfaces and back.

Each kind of event has one typed payload, which `bags.events` writes. Fields of the same name in
record and message are read by name; the rest is listed in READERS.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bbllm_interfaces import msg as msgs
from geometry_msgs.msg import Pose as PoseMsg

from bbllm.bags.events import LIMITS, PAYLOADS, event_fields
from bbllm.core.events import (
    BeliefsEstimated,
    EpisodeStarted,
    Event,
    EventKind,
    Limits,
    PlanGrown,
    PlanMade,
    RepairBegun,
    StepFailed,
)
from bbllm.core.observation import Observed, Seven
from bbllm_ros.convert.records import from_msg, message_of, stamp_from_msg, vector_from_msg


def event_to_msg(event: Event, episode_id: str, stamp_s: float | None = None) -> msgs.EpisodeEvent:
    """Write an event; *stamp_s* is on the node's clock, by default the event's own time [s]."""
    stamp_s = event.stamp_s if stamp_s is None else stamp_s
    return message_of(msgs.EpisodeEvent, event_fields(event, episode_id, stamp_s))


def event_from_msg(msg: msgs.EpisodeEvent) -> Event:
    """Read an event; a ValueError where it lacks its payload, or is of another version."""
    kind = EventKind(msg.kind)  # type: ignore[call-arg]  # finds a member by its value
    stamp_s = stamp_from_msg(msg.wall_stamp)
    field = PAYLOADS.get(kind)
    if field is None:
        record: Callable[..., Any] = kind.record
        return Event(stamp_s, record(text=msg.message))
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
        tuple(step.text for step in msg.steps), msg.start, msg.revision, msg.rest
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
