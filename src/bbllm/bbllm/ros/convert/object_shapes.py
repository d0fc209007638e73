"""What an object looks like: plain shapes that rviz can draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from visualization_msgs.msg import Marker

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.sim.object_models import ObjectPart, model_like
from bbllm.skills.shapes import Vector
from bbllm.worlds.scene.transforms import compose


@dataclass(frozen=True, slots=True)
class Look:
    """One shape as a Marker has it."""

    shape: int
    """`Marker.CUBE`, `CYLINDER` or `SPHERE`."""
    pose: Pose
    scale_m: Vector
    """Extents [m]."""
    color: str


def looks_of(item: SceneObject) -> list[Look]:
    """
    Return the shapes of an object; at least one.

    Those of `sim.object_models` are known by their size. Other containers and objects
    are drawn round if they are as long as wide, else as a box.
    """
    good = model_like(item)
    if good is not None:
        return [look for part in good.parts for look in _looks_of_part(part, item)]
    round_ = item.kind is Kind.CYLINDER or (
        item.kind in (Kind.CONTAINER, Kind.OTHER) and item.size_m[0] == item.size_m[1]
    )
    shape = Marker.CYLINDER if round_ else Marker.CUBE
    return [Look(shape, item.pose, item.size_m, item.color)]


def _looks_of_part(part: ObjectPart, item: SceneObject) -> Iterator[Look]:
    pose = compose(item.pose, Pose(position_m=part.at_m, quat_xyzw=part.quat_xyzw))
    color = part.color or item.color
    a, b, c = (2 * half for half in part.half_m)
    if part.shape == 'box':
        yield Look(Marker.CUBE, pose, (a, b, c), color)
        return
    if part.shape == 'ellipsoid':
        yield Look(Marker.SPHERE, pose, (a, b, c), color)
        return
    yield Look(Marker.CYLINDER, pose, (a, a, b), color)
    if part.shape == 'capsule' and not part.painted:  # painted ones overlap, end to end
        for end in (-b / 2, b / 2):
            at = compose(pose, Pose(position_m=(0.0, 0.0, end)))
            yield Look(Marker.SPHERE, at, (a, a, a), color)
