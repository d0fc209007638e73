"""The solid objects around the arm as plain shapes."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from bbllm.arm.driver import Array
from bbllm.core.types import Kind, Pose, Scene, SceneObject
from bbllm.skills.constraints import MARGINS_M, Never, objects_of
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import is_solid, rotation_of

NEVER_PREFIX = 'never/'
"""Before a constraint and the name of its object among obstacles: `never/touch blue_cylinder`."""
LEAST_M = 1e-3
"""Least extent of a body that a constraint makes smaller [m]."""


class ObstacleShape(Enum):
    """Form of an obstacle."""

    BOX = 'box'
    CYLINDER = 'cylinder'


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A solid object in the base frame."""

    name: str
    shape: ObstacleShape
    size_m: tuple[float, float, float]
    """Full extent along its own axes; a cylinder stands along its z axis [m]."""
    T_base_obstacle: Array
    """Pose of its centre, shape (4, 4)."""

    @property
    def top_m(self) -> float:
        half = np.array(self.size_m) / 2
        return float(self.T_base_obstacle[2, 3] + np.abs(self.T_base_obstacle[2, :3]) @ half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The obstacle that is in the hand and moves with it."""

    name: str
    T_tcp_object: Array
    """Pose of its centre in the tool frame, shape (4, 4)."""


def held_by(item: SceneObject, hand: Hand) -> Held:
    T_tcp_base = np.linalg.inv(matrix_from_pose(hand.tcp))
    return Held(name=item.name, T_tcp_object=T_tcp_base @ matrix_from_pose(item.pose))


def obstacles_from_scene(scene: Scene) -> tuple[Obstacle, ...]:
    """
    Return the solid objects of a scene: cubes, cylinders, fixtures; no locations.

    What does not rise above z = 0, such as the table, is left out: the checker has it already.
    """
    solid = (item for item in scene.objects if is_solid(item) and min(item.size_m) > 0.0)
    return tuple(box for box in map(obstacle_from_object, solid) if box.top_m > 1e-3)


def obstacle_from_object(item: SceneObject) -> Obstacle:
    """Return the shape of one scene object; everything that is no cylinder is a box."""
    return Obstacle(
        name=item.name,
        shape=ObstacleShape.CYLINDER if item.kind is Kind.CYLINDER else ObstacleShape.BOX,
        size_m=item.size_m,
        T_base_obstacle=matrix_from_pose(item.pose),
    )


def forbidden_bodies(nevers: Iterable[Never], scene: Scene) -> tuple[Obstacle, ...]:
    """
    Return what nothing may enter by constraints: their objects, as much larger as they say.

    What is in the hand is left out: it is there already.
    """
    bodies: dict[str, Obstacle] = {}
    for never in nevers:
        margin_m = MARGINS_M.get(never.verb)
        for item in objects_of(never, scene.objects) if margin_m is not None else ():
            if item.name != scene.held and margin_m is not None:
                name = f'{NEVER_PREFIX}{never.verb.value} {item.name}'
                x, y, z = (max(size + 2 * margin_m, LEAST_M) for size in item.size_m)
                body = obstacle_from_object(item)
                bodies[name] = replace(body, name=name, size_m=(x, y, z))
    return tuple(bodies.values())


def forbidden_by(blockers: Iterable[str]) -> tuple[str, ...]:
    """Return the constraints among the names of what was touched: `never touch blue_cylinder`."""
    return tuple(name.replace('/', ' ', 1) for name in blockers if name.startswith(NEVER_PREFIX))


def matrix_from_pose(pose: Pose) -> Array:
    """Return a pose as a homogeneous matrix, shape (4, 4)."""
    T = np.eye(4)
    norm = math.hypot(*pose.quat_xyzw)
    x, y, z, w = (part / norm for part in pose.quat_xyzw)
    T[:3, :3] = rotation_of(replace(pose, quat_xyzw=(x, y, z, w)))
    T[:3, 3] = pose.position_m
    return T
