"""Tables with a few things on them, and what a call on one becomes."""

import math
from typing import NamedTuple

from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import Hand
from bbllm.skills.motions import plan_motion
from bbllm.skills.placing import PlaceTarget
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion, MoveAbove

TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.35, 0.0, -0.02)),
    size_m=(1.2, 1.6, 0.04),
)
OPEN_HAND = Hand(
    tcp=Pose(position_m=(0.31, 0.0, 0.49), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.08
)


def cube(
    name: str, x: float, y: float, z: float = 0.02, yaw_deg: float = 0.0, edge_m: float = 0.04
) -> SceneObject:
    half = math.radians(yaw_deg) / 2
    pose = Pose(position_m=(x, y, z), quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(edge_m,) * 3)


def cylinder(name: str, x: float, y: float, height_m: float = 0.04) -> SceneObject:
    pose = Pose(position_m=(x, y, height_m / 2))
    return SceneObject(name=name, kind=Kind.CYLINDER, pose=pose, size_m=(0.04, 0.04, height_m))


def location(name: str, x: float, y: float) -> SceneObject:
    return SceneObject(name=name, kind=Kind.LOCATION, pose=Pose(position_m=(x, y, 0.0)))


def scene_of(*objects: SceneObject, facts: tuple[Fact, ...] = ()) -> Scene:
    return Scene((*objects, TABLE), SKILLS, facts, 0.0)


def planned(call: SkillCall, scene: Scene, hand: Hand = OPEN_HAND) -> Motion:
    motion = plan_motion(call, scene, hand)
    assert isinstance(motion, Motion), motion
    return motion


def reached(call: SkillCall, scene: Scene, hand: Hand = OPEN_HAND) -> MoveAbove:
    """Return the way to the target of a call."""
    above = planned(call, scene, hand).above
    assert above is not None, call
    return above


def picked(scene: Scene, hand: Hand = OPEN_HAND, name: str = 'red_cube') -> MoveAbove:
    return reached(SkillCall('pick', (name,)), scene, hand)


class Placed(NamedTuple):
    """Where an object is set down, and how the hand comes there."""

    above: MoveAbove
    target: PlaceTarget


def placed(call: SkillCall, scene: Scene, hand: Hand) -> Placed:
    motion = planned(call, scene, hand)
    assert motion.rest is not None, motion
    return Placed(reached(call, scene, hand), motion.rest.target)


def rejection_of(call: SkillCall, scene: Scene, hand: Hand = OPEN_HAND) -> Rejection:
    rejection = plan_motion(call, scene, hand)
    assert isinstance(rejection, Rejection), rejection
    return rejection
