"""Where a plan would leave the objects, as far as words and geometry show; nothing is tried."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.events import WordGrounded
from bbllm.core.protocols import World
from bbllm.core.skill_calls import CallError
from bbllm.core.types import Scene, SceneObject
from bbllm.planners.common.grounding import Policy, Referents
from bbllm.planners.common.step_grammar import call_of
from bbllm.skills.effects import unsure
from bbllm.skills.plan_check import ImaginedTable

MOVED_M = 0.01
"""What would come to rest further away than this would be moved."""


class _Unrecorded:
    def emit(self, data: WordGrounded) -> None:
        """Record nothing: what is imagined is no part of an episode."""


def imagined(steps: Iterable[str], scene: Scene, copy: Callable[[], World] | None = None) -> Scene:
    """
    Return a scene as steps would leave it.

    Left out is what follows from a step that is no call by its words alone, as a Body has to read
    it. A house needs *copy*, see `WorldFeatures`; without one it stays as it is.
    """
    if scene.is_symbolic and copy is None:
        return scene
    # For the eye, an estimate is good enough: a ghost is no promise.
    facts = tuple(replace(fact, estimated=False) for fact in scene.facts)
    world = ImaginedTable(replace(scene, facts=facts)) if copy is None else copy()
    referents = Referents(Policy.NEAREST, Random(0), _Unrecorded(), put_unheld=True)
    for text in steps:
        # In a house, steps name classes, and calls that wait name single objects.
        now = replace(world.observe(), offers_all=True)
        with suppress(ParseError, CallError):
            if (call := call_of(text, now)) is not None:
                world.execute(referents.resolve(call, now) if scene.is_symbolic else call)
    return world.observe()


def ghosts_of(after: Scene, scene: Scene) -> tuple[SceneObject, ...]:
    """
    Return the objects of a table that would be moved, where they would be after.

    Left out is what would be in the hand, and what would lie somewhere.
    """
    now = {item.name: item for item in scene.objects}
    vague = {after.held, *unsure(after)}
    return tuple(
        item
        for item in after.objects
        if item.name not in vague
        and math.dist(item.pose.position_m, now[item.name].pose.position_m) >= MOVED_M
    )
