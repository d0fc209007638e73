"""
The skills of the arm: name, parameters and summary.

Summaries are part of prompts. What they state of the fingers and containers are the constants by
which calls are refused.
"""

import math
from collections.abc import Iterable

from bbllm.core.types import Kind, SceneObject, Skill
from bbllm.skills.containers import APART_M, RIM_M
from bbllm.skills.grasps import (
    FINGER_LAYERS,
    LEAST_SIDE_ROOM_M,
    NEIGHBOUR_GAPS_M,
    WIDEST_GRASP_M,
)

REACH_M = (0.2, 0.75)
"""Distances from the base at which the hand comes down on a table at its height anywhere in front
of it; the inverse kinematics finds no more than 5 cm beyond either [m]."""


def _room_mm(layer: int) -> int:
    """Return the room that a finger needs beside an object, from a layer of it on [mm]."""
    room_m = FINGER_LAYERS[layer].outer_m + LEAST_SIDE_ROOM_M + NEIGHBOUR_GAPS_M[-1]
    return math.ceil(room_m * 1000 - 1e-6)


SKILLS: tuple[Skill, ...] = (
    Skill(
        'pick',
        ('object',),
        'close the fingers from above on two opposite sides of an object, '
        f'{WIDEST_GRASP_M * 1000:.0f} mm apart at most, and lift it; there pick and place need '
        f'{_room_mm(0)} mm of room ({_room_mm(-1)} beside what is taller), on other sides none',
        ('grasp',),
    ),
    Skill(
        'place',
        ('target',),
        'put down what is held, at a free location, on top of an object, '
        'or at a pose `x y z` or `x y z yaw_deg` [m, deg], or where the hand is at '
        '`x y z qx qy qz qw`; the hand comes down on the table at '
        f'{REACH_M[0]:g} to {REACH_M[1]:g} m from the base',
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
    'pick obj1 and put it down in or on obj2, a container, near its middle; place does so too '
    'with its name, and takes no pose in it. obj1 has to lie in the oval '
    f'{RIM_M * 1000:.0f} mm inside the outer edge of obj2, {APART_M * 1000:.0f} mm from what is '
    'there; what lies deeper than the rim cannot be picked out',
)
"""Offered where there is a container: the one action of ProgPrompt on a table (section IV-B)."""


def skills_for(objects: Iterable[SceneObject]) -> tuple[Skill, ...]:
    if any(item.kind is Kind.CONTAINER for item in objects):
        return (*SKILLS, GRAB_AND_PUTIN)
    return SKILLS
