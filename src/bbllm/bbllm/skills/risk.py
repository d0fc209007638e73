"""
Which calls a person should look at first, and why; decided on facts of scene and call.

A call that is not named here can only disturb what it is about: it takes a thing that stands
alone, sets one down on a free surface, or moves the hand where nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator

from bbllm.core.calls import plain
from bbllm.core.types import MOVABLE, Scene, SceneObject, SkillCall
from bbllm.skills.catalog import looks_like_pose
from bbllm.skills.shapes import bottom_z, is_solid, outline, polygon_gap, top_z

TOUCH_M = 0.005
"""Things nearer to each other than this may touch [m]."""
DROP_M = 0.01
"""A thing that is let go higher than this above what is below it falls [m]."""

STILL_SKILLS = frozenset({'wait'})
"""Skills with which nothing moves: nobody is asked about them, so `arm.executor` neither closes
the hand nor switches a controller for them, whatever the call before has left undone."""


def moves(call: SkillCall) -> bool:
    """Tell whether a call moves the arm or the hand; a skill that nobody knows does."""
    return plain(call.skill) not in STILL_SKILLS


def risk(call: SkillCall, scene: Scene) -> str:
    """
    Return why a call is risky, in one clause such as `it puts a on top of b`; empty if it is not.

    Args:
        call: In the scene's own spelling, as `check_call` returns it.
        scene: What is there.
    """
    return ', and '.join(_reasons(call, scene))


def _reasons(call: SkillCall, scene: Scene) -> Iterator[str]:
    for arg in call.args:
        if moves(call) and looks_like_pose(arg):
            yield f'it goes to {arg}, a place in numbers and not one of the scene'
    if call.skill == 'pick':
        yield from _of_picking(scene.object(call.args[0]), scene)
    elif call.skill == 'place' and call.args[0] in scene.names:
        target = scene.object(call.args[0])
        if target.kind in MOVABLE:
            yield f'it puts {scene.held or "what is held"} on top of {target.name}'
    elif call.skill == 'open_gripper' and scene.held is not None:
        fall_m = _fall_m(scene.object(scene.held), scene)
        if fall_m > DROP_M:
            yield f'it lets go of {scene.held} {fall_m * 100:.0f} cm above what is below it'
    elif call.skill == 'close_gripper' and scene.held is None:
        yield 'it closes the fingers on whatever is between them'


def _of_picking(item: SceneObject, scene: Scene) -> Iterator[str]:
    others = [other for other in scene.objects if other.kind in MOVABLE and other is not item]
    carried = [other.name for other in others if scene.has(other.name, 'on', item.name)]
    if carried:
        yield f'{item.name} carries {" and ".join(carried)}'
    shape = outline(item)
    touching = [
        other.name
        for other in others
        if other.name not in carried
        and not scene.has(item.name, 'on', other.name)
        and bottom_z(other) < top_z(item)
        and bottom_z(item) < top_z(other)
        and polygon_gap(shape, outline(other)) < TOUCH_M
    ]
    if touching:
        yield f'{item.name} touches {" and ".join(touching)}'


def _fall_m(item: SceneObject, scene: Scene) -> float:
    """Return how far a thing would fall onto the highest solid thing below it [m]."""
    foot, shape = bottom_z(item), outline(item)
    below = [
        top_z(other)
        for other in scene.objects
        if other is not item
        and is_solid(other)
        and top_z(other) < foot + DROP_M
        and polygon_gap(shape, outline(other)) < 0.0
    ]
    return foot - max(below, default=0.0)
