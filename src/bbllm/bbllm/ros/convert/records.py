"""
Records to messages of bbllm_interfaces and back; the only place that sees both.

Pure functions, `x_to_msg` and `x_from_msg`; nothing here decides anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from bbllm_interfaces.action import ExecuteSkill, RunTask
from bbllm_interfaces.msg import Fact as FactMsg
from bbllm_interfaces.msg import ModelCall as ModelCallMsg
from bbllm_interfaces.msg import ObjectState, ObjectStates
from bbllm_interfaces.msg import Plan as PlanMsg
from bbllm_interfaces.msg import PlanStep as PlanStepMsg
from bbllm_interfaces.msg import SceneObject as SceneObjectMsg
from bbllm_interfaces.msg import Skill as SkillMsg
from bbllm_interfaces.msg import SkillCall as SkillCallMsg
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from std_msgs.msg import Header

from bbllm.core.events import Ending, Episode, ModelCall
from bbllm.core.journal import summarize
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Pose,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)

WORLD_FRAME = 'fr3_link0'
"""The world frame is the robot's base frame."""


def stamp_to_msg(stamp_s: float) -> Time:
    """Round a time to a nanosecond."""
    seconds = math.floor(stamp_s)
    # Of the fraction alone, since a double has no room for today's date in nanoseconds.
    carry, nanoseconds = divmod(round((stamp_s - seconds) * 1e9), 1_000_000_000)
    return Time(sec=seconds + carry, nanosec=nanoseconds)


def stamp_from_msg(msg: Time) -> float:
    return float(msg.sec) + msg.nanosec * 1e-9


def header(stamp_s: float, frame: str = WORLD_FRAME) -> Header:
    """Return a header in the world frame."""
    return Header(stamp=stamp_to_msg(stamp_s), frame_id=frame)


def vector_to_msg(values: Iterable[float]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return Vector3(x=x, y=y, z=z)


def vector_from_msg(msg: Vector3) -> tuple[float, float, float]:
    return (msg.x, msg.y, msg.z)


def pose_to_msg(pose: Pose) -> PoseMsg:
    px, py, pz = (float(value) for value in pose.position_m)
    x, y, z, w = (float(value) for value in pose.quat_xyzw)
    return PoseMsg(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def pose_from_msg(msg: PoseMsg) -> Pose:
    """Read a pose; an orientation of four zeros, which no rotation has, is upright."""
    p, q = msg.position, msg.orientation
    quat = (q.x, q.y, q.z, q.w)
    return Pose(position_m=(p.x, p.y, p.z), quat_xyzw=quat if any(quat) else (0.0, 0.0, 0.0, 1.0))


def object_to_msg(item: SceneObject) -> SceneObjectMsg:
    return SceneObjectMsg(
        name=item.name,
        kind=item.kind.value,
        pose=pose_to_msg(item.pose),
        size=vector_to_msg(item.size_m),
        color=item.color,
    )


def object_from_msg(msg: SceneObjectMsg | ObjectState) -> SceneObject:
    """Read an object; a kind that this version does not know is `other`."""
    known = {kind.value: kind for kind in Kind}
    return SceneObject(
        name=msg.name,
        kind=known.get(msg.kind, Kind.OTHER),
        pose=pose_from_msg(msg.pose),
        size_m=vector_from_msg(msg.size),
        color=msg.color,
    )


def objects_to_msg(objects: Iterable[SceneObject], stamp_s: float) -> ObjectStates:
    """Write what a simulator or camera sees."""
    states = [
        ObjectState(
            name=item.name,
            kind=item.kind.value,
            color=item.color,
            size=vector_to_msg(item.size_m),
            pose=pose_to_msg(item.pose),
        )
        for item in objects
    ]
    return ObjectStates(header=header(stamp_s), objects=states)


def objects_from_msg(msg: ObjectStates) -> tuple[SceneObject, ...]:
    return tuple(object_from_msg(item) for item in msg.objects)


def fact_to_msg(fact: Fact) -> FactMsg:
    return FactMsg(
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        estimated=fact.estimated,
    )


def fact_from_msg(msg: FactMsg) -> Fact:
    return Fact(msg.subject, msg.predicate, msg.object, estimated=msg.estimated)


def skill_to_msg(skill: Skill) -> SkillMsg:
    return SkillMsg(
        name=skill.name,
        params=list(skill.params),
        summary=skill.summary,
        aliases=list(skill.aliases),
    )


def skill_from_msg(msg: SkillMsg) -> Skill:
    return Skill(msg.name, tuple(msg.params), msg.summary, tuple(msg.aliases))


def call_to_msg(call: SkillCall) -> SkillCallMsg:
    return SkillCallMsg(skill=call.skill, args=list(call.args))


def call_from_msg(msg: SkillCallMsg) -> SkillCall:
    return SkillCall(msg.skill, tuple(msg.args))


def step_to_msg(step: PlanStep) -> PlanStepMsg:
    return PlanStepMsg(index=step.index, text=step.text)


def step_from_msg(msg: PlanStepMsg) -> PlanStep:
    return PlanStep(msg.index, msg.text)


def plan_to_msg(
    plan: Plan, start: int, episode_id: str, stamp_s: float, revision: int = 0
) -> PlanMsg:
    """Write the plan in force; steps from *start* on are new."""
    return PlanMsg(
        header=header(stamp_s, ''),
        episode_id=episode_id,
        revision=revision,
        steps=[step_to_msg(step) for step in plan.steps],
        start=start,
    )


def plan_from_msg(msg: PlanMsg) -> Plan:
    return Plan(tuple(step_from_msg(step) for step in msg.steps))


def model_call_to_msg(call: ModelCall, text: str = '') -> ModelCallMsg:
    return ModelCallMsg(
        role=call.role,
        model=call.model,
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        duration_s=float(call.duration_s),
        retries=call.retries,
        prompt_chars=call.prompt_chars,
        stable_chars=call.stable_chars,
        sent_tokens=call.sent_tokens,
        text=text,
    )


def model_call_from_msg(msg: ModelCallMsg) -> ModelCall:
    """Read the account of a call; what the model said stays in `msg.text`."""
    return ModelCall(
        role=msg.role,
        model=msg.model,
        prompt_tokens=msg.prompt_tokens,
        completion_tokens=msg.completion_tokens,
        duration_s=msg.duration_s,
        retries=msg.retries,
        prompt_chars=msg.prompt_chars,
        stable_chars=msg.stable_chars,
        sent_tokens=msg.sent_tokens,
    )


def outcome_to_result(outcome: Outcome, stamp_s: float) -> ExecuteSkill.Result:
    """Write an outcome; *stamp_s* is the world's clock when the call had ended [s]."""
    return ExecuteSkill.Result(
        status=int(outcome.status),
        code=int(outcome.code),
        message=outcome.message,
        raw=outcome.raw,
        duration_s=float(outcome.duration_s),
        stamp=stamp_to_msg(stamp_s),
    )


def outcome_from_result(call: SkillCall, result: ExecuteSkill.Result) -> Outcome:
    """Read an outcome; a code that this version does not know is INTERNAL."""
    code = Code(result.code) if result.code in list(Code) else Code.INTERNAL
    return Outcome(
        call=call,
        status=Status(result.status),
        code=code,
        message=result.message,
        raw=result.raw,
        duration_s=result.duration_s,
    )


def episode_to_result(episode: Episode) -> RunTask.Result:
    """Sum an episode up; one without an ending counts as WORLD_FAILED."""
    sums = summarize(episode)
    ending = Ending.WORLD_FAILED if episode.ending is None else episode.ending
    names = (
        'feedback_loops',
        'steps',
        'passed_steps',
        'model_calls',
        'prompt_tokens',
        'completion_tokens',
    )
    return RunTask.Result(
        episode_id=episode.id,
        ending=int(ending),
        message=episode.message,
        wall_s=float(episode.wall_s),
        robot_s=float(episode.robot_s),
        **{name: sums[name] for name in names},
    )
