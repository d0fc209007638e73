"""
Records to ROS messages and back by the names of their fields, and qualities of service.

A field of a record has the same name in the message, or the same without its unit (`size_m` and
`size`). `has_<field>` in a message is false where the field of the record is None. Everything else
is listed in LEFT_OUT, UNKNOWN and RENAMED.
"""

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cache
from typing import Any, TypeVar

from bbllm_interfaces import msg as msgs
from bbllm_interfaces.action import ExecuteSkill, RunTask
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Quaternion, Transform, TransformStamped, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Header

from bbllm.core.approval import ApprovalRequest
from bbllm.core.conversation import Turn
from bbllm.core.events import (
    ApprovalAnswered,
    Ending,
    Episode,
    EpisodeStarted,
    LineDiscarded,
    ModelCall,
    PromptText,
    RepairBegun,
    StepFailed,
    SubGoalBegun,
)
from bbllm.core.journal import summarize
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
)

R = TypeVar('R')

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and the last message is kept for those who come later."""
EVENTS = QoSProfile(depth=500, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and a late subscriber still receives the beginning of an episode."""
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""The newest message only, and none is sent twice."""
WORLD_FRAME = 'fr3_link0'
"""The robot's base frame."""
MESSAGES: Mapping[type, type] = {
    Fact: msgs.Fact,
    HandReading: msgs.HandReading,
    ModelCall: msgs.ModelCall,
    Outcome: msgs.Outcome,
    PlanStep: msgs.PlanStep,
    PromptText: msgs.PromptText,
    Scene: msgs.Scene,
    SceneObject: msgs.SceneObject,
    Skill: msgs.Skill,
    SkillCall: msgs.SkillCall,
    Turn: msgs.Turn,
}
RENAMED: Mapping[tuple[type, str], str] = {
    (ApprovalAnswered, 'what'): 'kind',
    (ApprovalRequest, 'since_s'): 'wall_stamp',
    (LineDiscarded, 'why'): 'reason',
    (Scene, 'stamp_s'): 'header',
    (SubGoalBegun, 'of'): 'count',
}
LEFT_OUT: Mapping[type, tuple[str, ...]] = {
    Scene: ('domain', 'whole', 'offers_all'),
    EpisodeStarted: ('episode_id', 'limits', 'settings'),
    PromptText: ('picture',),
    RepairBegun: ('index', 'text'),
    StepFailed: ('index', 'text'),
    Turn: ('moves', 'remarks'),
    ExecuteSkill.Result: ('call',),
}
"""Fields that the caller converts, or that do not travel, by record or message."""
UNKNOWN: Mapping[type, Enum] = {Kind: Kind.OTHER, Code: Code.INTERNAL}
"""What a value of another version means; of other enums it is a ValueError."""


def stamp_to_msg(stamp_s: float) -> Time:
    """Round a time to a nanosecond."""
    seconds = math.floor(stamp_s)
    # Of the fraction alone, since a double has no room for today's date in nanoseconds.
    carry, nanoseconds = divmod(round((stamp_s - seconds) * 1e9), 1_000_000_000)
    return Time(sec=seconds + carry, nanosec=nanoseconds)


def stamp_from_msg(msg: Time | Duration) -> float:
    return float(msg.sec) + msg.nanosec * 1e-9


def header(stamp_s: float, frame: str = WORLD_FRAME) -> Header:
    return Header(stamp=stamp_to_msg(stamp_s), frame_id=frame)


def vector_to_msg(values: Iterable[float]) -> Vector3:
    x, y, z = map(float, values)
    return Vector3(x=x, y=y, z=z)


def vector_from_msg(msg: Vector3) -> tuple[float, float, float]:
    return (msg.x, msg.y, msg.z)


def pose_to_msg(pose: Pose) -> PoseMsg:
    px, py, pz = map(float, pose.position_m)
    x, y, z, w = map(float, pose.quat_xyzw)
    return PoseMsg(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def transform_to_msg(parent: str, child: str, pose: Pose, stamp_s: float) -> TransformStamped:
    at = pose_to_msg(pose)
    transform = Transform(translation=vector_to_msg(pose.position_m), rotation=at.orientation)
    return TransformStamped(
        header=header(stamp_s, parent), child_frame_id=child, transform=transform
    )


def transforms_from_msg(msg: Any) -> Iterator[tuple[str, str, Pose, float]]:
    """Yield parent, child, T_parent_child and stamp [s] of each transform of a TFMessage."""
    for item in msg.transforms:
        t, q = item.transform.translation, item.transform.rotation
        pose = Pose(position_m=(t.x, t.y, t.z), quat_xyzw=(q.x, q.y, q.z, q.w))
        yield item.header.frame_id, item.child_frame_id, pose, stamp_from_msg(item.header.stamp)


def pose_from_msg(msg: PoseMsg) -> Pose:
    """Read a pose; an orientation of four zeros, which no rotation has, is upright."""
    p, q = msg.position, msg.orientation
    quat = (q.x, q.y, q.z, q.w)
    return Pose(position_m=(p.x, p.y, p.z), quat_xyzw=quat if any(quat) else (0.0, 0.0, 0.0, 1.0))


WRITERS: Mapping[str, Callable[[Any], Any]] = {
    'double': float,
    'builtin_interfaces/Time': stamp_to_msg,
    'geometry_msgs/Pose': pose_to_msg,
    'geometry_msgs/Vector3': vector_to_msg,
    'std_msgs/Header': header,
}
"""By the type of a message's field, what makes its value."""
READERS: Mapping[str, Callable[[Any], Any]] = {
    'builtin_interfaces/Time': stamp_from_msg,
    'geometry_msgs/Pose': pose_from_msg,
    'geometry_msgs/Vector3': vector_from_msg,
    'std_msgs/Header': lambda msg: stamp_from_msg(msg.stamp),
}


@dataclass(frozen=True, slots=True)
class _Link:
    """A field of a record and its field of a message."""

    record: str
    message: str
    kind: Any
    field_type: str
    flag: str
    """The message's field that is false for None; empty without one."""


@cache
def _links(record: Any, message: Any) -> tuple[_Link, ...]:
    hints, types_ = typing.get_type_hints(record), message.get_fields_and_field_types()
    left_out = (*LEFT_OUT.get(record, ()), *LEFT_OUT.get(message, ()))
    links = []
    for item in dataclasses.fields(record):
        if item.name in left_out:
            continue
        there = RENAMED.get((record, item.name), item.name)
        if there not in types_:
            there = re.sub('_[a-z]+$', '', there)
        if there not in types_:
            raise TypeError(f'{message.__name__} has no field for {record.__name__}.{item.name}')
        flag = f'has_{there}' if f'has_{there}' in types_ else ''
        links.append(_Link(item.name, there, hints[item.name], types_[there], flag))
    return tuple(links)


def to_msg(record: Any, message: type | None = None, **given: Any) -> Any:
    """Write a record as *message* (MESSAGES by default); *given* are fields that it lacks."""
    message = message or MESSAGES[type(record)]
    kind: Any = type(record)
    for link in _links(kind, message):
        value = getattr(record, link.record)
        if link.flag:
            given[link.flag] = value is not None
            if value is None:
                continue
        given[link.message] = WRITERS.get(link.field_type, _written)(value)
    return message(**given)


def from_msg(record: type[R], msg: Any, **given: Any) -> R:
    """
    Read a record; *given* are fields that the message lacks.

    ValueError: an enum has no such value.
    """
    fields, kind = typing.cast(Any, record), typing.cast(Any, type(msg))
    for link in _links(fields, kind):
        value = getattr(msg, link.message)
        if link.flag and not getattr(msg, link.flag):
            given[link.record] = None
        elif link.field_type in READERS:
            given[link.record] = READERS[link.field_type](value)
        else:
            wanted = typing.get_args(link.kind)[0] if link.flag else link.kind
            given[link.record] = _read(wanted, value)
    return record(**given)


def _written(value: Any) -> Any:
    if value is None or isinstance(value, IntEnum):
        return int(value or 0)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    return to_msg(value) if type(value) in MESSAGES else value


def _read(kind: Any, value: Any) -> Any:
    if typing.get_origin(kind) is tuple:
        return tuple(_read(typing.get_args(kind)[0], item) for item in value)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):  # a number of 0 is None
        return _read(typing.get_args(kind)[0], value) if value else None
    if dataclasses.is_dataclass(kind):
        return from_msg(typing.cast(type, kind), value)
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        return value
    try:
        return kind(value)
    except ValueError:
        if kind not in UNKNOWN:
            raise
        return UNKNOWN[kind]


def objects_to_msg(
    objects: Iterable[SceneObject], stamp_s: float, skills: Sequence[str] = ()
) -> msgs.ObjectStates:
    states = [to_msg(item, msgs.ObjectState) for item in objects]
    return msgs.ObjectStates(header=header(stamp_s), objects=states, skills=skills)


def objects_from_msg(msg: msgs.ObjectStates) -> tuple[SceneObject, ...]:
    return tuple(from_msg(SceneObject, item) for item in msg.objects)


def plan_to_msg(
    plan: Plan, start: int, episode_id: str, stamp_s: float, revision: int = 0, **more: Any
) -> msgs.Plan:
    """Write a plan; *more* are `rest` and `goal` of the message."""
    more |= {'episode_id': episode_id, 'revision': revision, 'start': start}
    return to_msg(plan, msgs.Plan, header=header(stamp_s, ''), **more)


def outcome_to_result(outcome: Outcome, stamp_s: float) -> ExecuteSkill.Result:
    return to_msg(outcome, ExecuteSkill.Result, stamp=stamp_to_msg(stamp_s))


def episode_to_result(episode: Episode) -> RunTask.Result:
    """Sum an episode up; one without an ending counts as WORLD_FAILED."""
    sums = summarize(episode)
    ending = Ending.WORLD_FAILED if episode.ending is None else episode.ending
    names = ('feedback_loops', 'steps', 'passed_steps', 'model_calls', 'prompt_tokens')
    return RunTask.Result(
        episode_id=episode.id,
        ending=int(ending),
        message=episode.message,
        goal=episode.goal,
        summary=episode.summary,
        wall_s=float(episode.wall_s),
        robot_s=float(episode.robot_s),
        **{name: sums[name] for name in (*names, 'completion_tokens')},
    )
