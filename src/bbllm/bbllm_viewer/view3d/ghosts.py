"""Where a plan would leave the objects, as far as words and geometry show; nothing is tried."""

import math
from collections.abc import Iterable
from dataclasses import replace

from bbllm.core.errors import ParseError
from bbllm.core.types import Scene, SceneObject
from bbllm.planners.common.step_grammar import call_of
from bbllm.skills.effects import unsure
from bbllm.skills.plan_check import ImaginedTable

MOVED_M = 0.01
"""What would come to rest further away than this would be moved."""


def ghosts_of(steps: Iterable[str], scene: Scene) -> tuple[SceneObject, ...]:
    """
    Return the objects that steps would move, where these would leave them.

    Left out is what is in a house or in the hand in the end, what lies somewhere, and what follows
    from a step that is no call by its words alone, as a Body has to read it.
    """
    if scene.is_symbolic:
        return ()
    # For the eye, an estimate is good enough: a ghost is no promise.
    facts = tuple(replace(fact, estimated=False) for fact in scene.facts)
    table = ImaginedTable(replace(scene, facts=facts))
    for text in steps:
        try:
            call = call_of(text, table.observe())
        except ParseError:
            continue
        if call is not None:
            table.execute(call)
    after, now = table.observe(), {item.name: item for item in scene.objects}
    vague = {after.held, *unsure(after)}
    return tuple(
        item
        for item in after.objects
        if item.name not in vague
        and math.dist(item.pose.position_m, now[item.name].pose.position_m) >= MOVED_M
    )
