"""
The skills of the arm: name, parameters, what must hold before and what holds after.

`check_call` and the pose literals of `core.calls` are offered here too, beside the skills.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bbllm.core.errors import UnknownNameError
from bbllm.core.skill_calls import (
    CallError,
    PoseLiteral,
    check_call,
    format_pose,
    looks_like_pose,
    parse_pose,
)
from bbllm.core.types import Kind, SceneObject, Skill

__all__ = [
    'CATALOG',
    'GRAB_AND_PUTIN',
    'SKILLS',
    'CallError',
    'PoseLiteral',
    'SkillSpec',
    'check_call',
    'format_pose',
    'looks_like_pose',
    'parse_pose',
    'skills_for',
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
"""The skills of every table, in the order in which prompts list them."""

SKILLS: tuple[Skill, ...] = tuple(entry.skill for entry in CATALOG)

GRAB_AND_PUTIN = SkillSpec(
    Skill(
        'grab_and_putin',
        ('obj1', 'obj2'),
        'pick obj1 and put it down in or on obj2, such as a plate, bowl or box',
    ),
    'obj1 can be picked, or is in the hand already; obj2 is within reach and has room for it',
    'obj1 rests in or on obj2, and the hand is empty',
)
"""Offered where there is a container: the one action of ProgPrompt on a table (section IV-B)."""


def skills_for(objects: Iterable[SceneObject]) -> tuple[Skill, ...]:
    """Return the skills of a table: all of them, and one more where there is a container."""
    if any(item.kind is Kind.CONTAINER for item in objects):
        return (*SKILLS, GRAB_AND_PUTIN.skill)
    return SKILLS


def spec(name: str) -> SkillSpec:
    """Return the contract of a skill by its name, or raise UnknownNameError."""
    known = (*CATALOG, GRAB_AND_PUTIN)
    for entry in known:
        if entry.skill.name == name:
            return entry
    raise UnknownNameError('skill', name, (entry.skill.name for entry in known))
