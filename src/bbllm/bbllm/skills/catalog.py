"""
The skills of the arm: name, parameters, what must hold before and what holds after.

`check_call` and the pose literals of `core.calls` are offered here too, beside the skills.
"""

from __future__ import annotations

from dataclasses import dataclass

from bbllm.core.calls import (
    CallError,
    PoseLiteral,
    check_call,
    format_pose,
    looks_like_pose,
    parse_pose,
)
from bbllm.core.errors import UnknownNameError
from bbllm.core.types import Skill

__all__ = [
    'CATALOG',
    'SKILLS',
    'CallError',
    'PoseLiteral',
    'SkillSpec',
    'check_call',
    'format_pose',
    'looks_like_pose',
    'parse_pose',
    'spec',
]


@dataclass(frozen=True, slots=True)
class SkillSpec:
    """One skill and its contract in words."""

    skill: Skill
    precondition: str
    """What must hold; where it does not, the call is rejected and nothing moves."""
    effect: str
    """What holds when the call has succeeded; the executor looks whether it does."""


CATALOG: tuple[SkillSpec, ...] = (
    SkillSpec(
        Skill('pick', ('object',), 'close the fingers on an object and lift it', ('grasp',)),
        'the hand is empty; the object is a graspable thing within reach, with nothing on top '
        'and room for the fingers beside it',
        'the object is held by the hand, above where it stood',
    ),
    SkillSpec(
        Skill(
            'place',
            ('target',),
            'put down what is held, at a free location, on top of an object, '
            'or at a pose `x y z` or `x y z yaw_deg` [m, deg], or where the hand is at '
            '`x y z qx qy qz qw`',
        ),
        'something is held; the target is within reach and free',
        'what was held rests at the target, and the hand is empty',
    ),
    SkillSpec(
        Skill('reach', ('target',), 'move the hand over a target without touching it'),
        'the place above the target is within reach and free',
        'the TCP is above the target; what is held stays held and nothing else is moved',
    ),
    SkillSpec(
        Skill('return_to_base', (), 'move the arm back to where it started'),
        'a way back is free',
        'the arm is in its base posture; what is held stays held',
    ),
    SkillSpec(
        Skill('wait', ('seconds',), 'stand still for up to 60 seconds'),
        'more than 0 and at most 60 seconds',
        'that time has passed and the arm has not moved',
    ),
    SkillSpec(
        Skill('open_gripper', (), 'open the fingers; what is held is let go where it is'),
        'none',
        'the fingers are open and the hand is empty',
    ),
    SkillSpec(
        Skill('close_gripper', (), 'close the fingers where the hand is'),
        'none',
        'the fingers are closed, on nothing or on what is between them',
    ),
)
"""All skills, in the order in which prompts list them."""

SKILLS: tuple[Skill, ...] = tuple(entry.skill for entry in CATALOG)


def spec(name: str) -> SkillSpec:
    """Return the contract of a skill by its name, or raise UnknownNameError."""
    for entry in CATALOG:
        if entry.skill.name == name:
            return entry
    raise UnknownNameError('skill', name, (skill.name for skill in SKILLS))
