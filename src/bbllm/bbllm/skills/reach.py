"""`reach(target)`: move the hand over a target without touching it."""

import math
from dataclasses import replace

from bbllm.core.skill_calls import is_pose_like, parse_pose
from bbllm.core.types import Code, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.grasps import Grip, Hand, tool_yaw
from bbllm.skills.needs import FREE_WAY, IN_REACH, in_hand
from bbllm.skills.segments import HOVER_M, Motion, MoveAbove
from bbllm.skills.shapes import half_height, top_z
from bbllm.skills.skill import ArmSkill, Handling, Precondition

REACH_YAWS = 8
"""Turns of the hand about the vertical that are tried where none is asked for, evenly spread."""


def _plan(call: SkillCall, scene: Scene, hand: Hand) -> Motion:
    """Return a way to any of some poses of the hand: over what is named, or at a pose."""
    arg = call.args[0]
    yaws = [2 * math.pi * index / REACH_YAWS for index in range(REACH_YAWS)]
    if is_pose_like(arg):
        literal = parse_pose(arg)
        position, label = literal.position_m, f'the pose {arg}'
        if literal.quat_xyzw is not None:
            yaws = [tool_yaw(literal.pose) + turn for turn in (0.0, math.pi)]
        elif literal.yaw_deg is not None:
            yaws = [math.radians(literal.yaw_deg) + turn for turn in (0.0, math.pi)]
    else:
        item, held = scene.object(arg), None if scene.held is None else scene.object(scene.held)
        x, y, _ = item.pose.position_m
        position, label = (x, y, top_z(item) + HOVER_M + _below_tcp(held, hand)), arg
    grips = tuple(
        Grip(position_m=position, yaw_rad=yaw, opening_m=hand.width_m, side_room_m=0.0)
        for yaw in yaws
    )
    return Motion((MoveAbove(grips, 0.0, label),))


def _below_tcp(held: SceneObject | None, hand: Hand) -> float:
    """Return how far the grasped object hangs below the TCP [m]."""
    if held is None:
        return 0.0
    return max(0.0, hand.tcp.position_m[2] - held.pose.position_m[2] + half_height(held))


REACH = ArmSkill(
    signature=Skill('reach', ('target',), 'move the hand over a target without touching it'),
    needs=(
        Precondition(
            '{target} is not in the hand',
            Code.ALREADY_HOLDING,
            '{target} is in the hand already, so the hand is at it.',
            unmet=in_hand,
        ),
        replace(IN_REACH, unmet=None),  # the fact is of a hand that comes down
        FREE_WAY,
    ),
    plan=_plan,
    handling=lambda call: Handling(),
    words=('reach', 'move', 'hover', 'go to', 'go over', 'go above'),
    forms=('reach over {}',),
)
