"""Whether moves can be carried out: by geometry, reach and ways of the arm, without physics."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bbllm.arm.failures import SkillError
from bbllm.arm.motion.motion_planner import GraspPlanner
from bbllm.core.types import Fact, Scene, SceneObject
from bbllm.robots.registry import load_robot
from bbllm.scene.scene_file import SceneFile
from bbllm.skills.grasps import MAX_WIDTH_M, Grip, Hand, closed_on, grips_for, tool_pose
from bbllm.skills.placing import place_grips, place_target, put_down
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, MoveAbove
from bbllm.skills.shapes import bottom_z, is_solid, outline, polygon_gap, top_z

MARGIN_M, HIGHER_M = 0.002, 0.0002
"""Room to spare on each side that moves have, since a pick may nudge what stands beside it, and
above what the fingers pass over, where a hundredth of a millimetre can decide [m]."""
LEVEL_M = 0.003
"""How far above a top an underside still rests on it [m]."""


def faults_of(scene: SceneFile, moves: Sequence[tuple[str, str]]) -> Iterator[str]:
    """
    Yield the first fault that a skill would find in some moves; nothing where there is none.

    Args:
        scene: The table before them.
        moves: What is picked, and the target of the call that puts it down.
    """
    planner = GraspPlanner(load_robot())
    now = {item.name: item for item in (*scene.fixtures, *scene.movables, *scene.places)}
    for name, target in moves:
        item, others = now[name], [other for other in now.values() if other.name != name]
        if any(_carries(item, other) for other in others):
            yield f'{name} carries something when it is picked'
            return
        grips = grips_for(item, others)
        if not isinstance(grips, tuple):
            yield f'no room for the fingers at {name}, beside {", ".join(grips.neighbours)}'
            return
        wider = [with_margin(other) if is_solid(other) else other for other in others]
        if not all(can_pick(item, beside, planner) for beside in (others, wider)):
            yield f'the arm has no way down to {name}'
            return
        hand = closed_on(grips[0])
        found = place_target(target, item, scene_of(now.values()), hand)
        if isinstance(found, Rejection):
            yield f'{name} cannot be put at {target}: {found.message}'
            return
        wider = [now[each.name] if each.name in found.supports else each for each in wider]
        for beside in (others, wider):
            held = replace(scene_of((item, *beside)), facts=(Fact('held_by', name, 'hand'),))
            grips = place_grips(item, found, held, hand)
            if not isinstance(grips, tuple):
                yield f'no room for the fingers where {name} is put'
                return
            if not _can_come_down(planner, held, hand, grips, name, *found.supports):
                yield f'the arm has no way down to where {name} is put'
                return
        now[name] = put_down(item, found)


def with_margin(item: SceneObject) -> SceneObject:
    """Return an object that is a little larger: what was picked beside it may have nudged it."""
    width, depth, height = item.size_m
    x, y, z = item.pose.position_m
    return replace(
        item,
        size_m=(width + 2 * MARGIN_M, depth + 2 * MARGIN_M, height + HIGHER_M),
        pose=replace(item.pose, position_m=(x, y, z + HIGHER_M / 2)),
    )


def can_pick(
    item: SceneObject, others: Iterable[SceneObject], planner: GraspPlanner | None
) -> bool:
    """
    Return whether the fingers have room to come down on an object.

    With a planner, also the hand and the arm, from the base posture.
    """
    neighbours = [other for other in others if other.name != item.name]
    grips = grips_for(item, neighbours)
    if not isinstance(grips, tuple) or planner is None:
        return isinstance(grips, tuple)
    hand = Hand(tcp=tool_pose(grips[0]), width_m=MAX_WIDTH_M)
    return _can_come_down(planner, scene_of((item, *neighbours)), hand, grips, item.name)


def _can_come_down(
    planner: GraspPlanner, scene: Scene, hand: Hand, grips: tuple[Grip, ...], *touching: str
) -> bool:
    planner.update(scene, hand)
    try:
        planner.above(MoveAbove(grips, HOVER_M, touching[0], touching), planner.robot.home_rad)
    except SkillError:
        return False
    return True


def _carries(item: SceneObject, other: SceneObject) -> bool:
    level = abs(bottom_z(other) - top_z(item)) <= LEVEL_M
    return level and other.size_m[2] > 0 and polygon_gap(outline(item), outline(other)) < 0


def scene_of(items: Iterable[SceneObject]) -> Scene:
    """Return a scene of some objects and nothing else."""
    return Scene(objects=tuple(items), skills=(), facts=(), stamp_s=0.0)
