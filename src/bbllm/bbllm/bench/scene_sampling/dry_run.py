"""Whether moves can be carried out: by the skills' own geometry and reach, without physics."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from bbllm.core.types import Pose, Scene, SceneObject
from bbllm.sim.scene_file import SceneFile
from bbllm.skills.grasps import Grip, Hand, grips_for
from bbllm.skills.placing import place_grips, place_target
from bbllm.skills.rejection import Rejection
from bbllm.skills.shapes import bottom_z, outline, polygon_gap, top_z, yaw_pose

LEVEL_M = 0.003
"""How far above a top an underside still rests on it [m]."""


def faults_of(
    scene: SceneFile, moves: Sequence[tuple[str, str]], reach: Callable[[SceneObject], bool]
) -> Iterator[str]:
    """
    Yield the first fault that a skill would find in some moves; nothing where there is none.

    Args:
        scene: The table before them.
        moves: What is picked, and the target of the call that puts it down.
        reach: Whether the hand can come down on an object.
    """
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
        hand = Hand(tcp=_tcp(grips[0]), width_m=item.size_m[1])
        found = place_target(target, item, _scene(now.values()), hand)
        if isinstance(found, Rejection):
            yield f'{name} cannot be put at {target}: {found.message}'
            return
        placed = replace(item, pose=yaw_pose(found.centre_m, found.yaw_rad))
        if not isinstance(place_grips(item, found, _scene(now.values()), hand), tuple):
            yield f'no room for the fingers where {name} is put'
            return
        if not reach(placed):
            yield f'{name} is out of reach where it is put'
            return
        now[name] = placed


def _carries(item: SceneObject, other: SceneObject) -> bool:
    level = abs(bottom_z(other) - top_z(item)) <= LEVEL_M
    return level and other.size_m[2] > 0 and polygon_gap(outline(item), outline(other)) < 0


def _scene(items: Iterable[SceneObject]) -> Scene:
    return Scene(objects=tuple(items), skills=(), facts=(), stamp_s=0.0)


def _tcp(grip: Grip) -> Pose:
    """Return the pose of a tool that points down: half a turn about x, after the yaw."""
    half = grip.yaw_rad / 2
    return Pose(position_m=grip.position_m, quat_xyzw=(math.cos(half), math.sin(half), 0.0, 0.0))
