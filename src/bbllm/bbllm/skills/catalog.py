"""The skills of the arm: name, parameters and summary."""

from collections.abc import Iterable
from dataclasses import dataclass

from bbllm.core.types import Code, Kind, SceneObject, Skill

SKILLS: tuple[Skill, ...] = (
    Skill('pick', ('object',), 'close the fingers on an object and lift it', ('grasp',)),
    Skill(
        'place',
        ('target',),
        'put down what is held, at a free location, on top of an object, '
        'or at a pose `x y z` or `x y z yaw_deg` [m, deg], or where the hand is at '
        '`x y z qx qy qz qw`',
    ),
    Skill('reach', ('target',), 'move the hand over a target without touching it'),
    Skill('return_to_base', (), 'move the arm back to where it started'),
    Skill('wait', ('seconds',), 'stand still for up to 60 seconds'),
    Skill('open_gripper', (), 'open the fingers; what is held is let go where it is'),
    Skill('close_gripper', (), 'close the fingers where the hand is'),
)
GRAB_AND_PUTIN = Skill(
    'grab_and_putin',
    ('obj1', 'obj2'),
    'pick obj1 and put it down in or on obj2, such as a plate, bowl or box',
)
"""Offered where there is a container: the one action of ProgPrompt on a table (section IV-B)."""


def skills_for(objects: Iterable[SceneObject]) -> tuple[Skill, ...]:
    if any(item.kind is Kind.CONTAINER for item in objects):
        return (*SKILLS, GRAB_AND_PUTIN)
    return SKILLS


@dataclass(frozen=True, slots=True)
class Rejection:
    """A precondition that is not met; nothing moved."""

    code: Code
    message: str
    """One plain sentence, for the Brain."""
