"""
A simulation of a table as it was observed: the same objects and arm, begun at the same poses.

Only the scene is used, as it would be on a real arm: masses, friction and what is bolted down are
not in it. What of them differs, and by how much poses may be off, is a `Deviation`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bbllm.arm.driver import Array, GraspGoal
from bbllm.arm.envelope import SafetyEnvelope
from bbllm.arm.execution.trajectory_executor import GRIPPER_SPEED_M_S
from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.types import MOVABLE, HandReading, Kind, Pose, Scene, SceneObject, Skill
from bbllm.robots.registry import DEFAULT_ROBOT
from bbllm.robots.robot_model import RobotModel
from bbllm.scene.object_models import OBJECT_MODELS, model_like
from bbllm.scene.scene_file import (
    DEFAULT_MASS_KG,
    LocationSpec,
    ObjectSpec,
    SceneFile,
    TableSpec,
    overlap,
)
from bbllm.scene.transforms import compose, inverse
from bbllm.sim.driver import SimDriver
from bbllm.skills.catalog import find_skill
from bbllm.skills.segments import GRIP_FORCE_N, WIDTH_WINDOW_M
from bbllm.skills.shapes import top_z, yaw_pose
from bbllm.worlds.tabletop.object_source import TruthSource
from bbllm.worlds.tabletop.table import TableView
from bbllm.worlds.tabletop.tabletop import LOOSE, TabletopWorld

SETTLE_S = 0.2
"""How long a simulation settles before anything is asked of it, simulated time [s]."""
POSE_SD_M = 0.001
"""Standard deviation of where objects are drawn from, along x and y each: what camera and tracking
leave, docs/results.md "Scenes from pictures" [m]."""
MOST_OFF_M = 0.002
"""No object is drawn further off than this along an axis [m]."""
YAW_SD_RAD = 0.01
"""The same of turns about the vertical [rad]."""
FACTOR_SD = 0.2
"""Standard deviation of the logarithm of the factors of mass and friction."""
NOT_OFF = Pose(position_m=(0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """In what a simulation differs from what was observed."""

    offsets: Mapping[str, Pose] = field(default_factory=dict)
    """Where objects really are, each in the frame of its observed pose."""
    mass: float = 1.0
    """Factor of all masses, which are those of `scene.scene_file` without it."""
    friction: float = 1.0
    """Factor of the friction of all surfaces."""


def drawn(scene: Scene, dice: np.random.Generator) -> Deviation:
    """
    Draw a deviation: poses off by `POSE_SD_M` and `YAW_SD_RAD`, mass and friction by `FACTOR_SD`.

    An object that would overlap with another one stays where it was observed, as what is in the
    hand does.
    """
    offsets: dict[str, Pose] = {}
    now = {item.name: item for item in scene.objects if item.kind in LOOSE}
    for item in scene.objects:
        if item.kind not in MOVABLE or item.name == scene.held:
            continue
        x, y = np.clip(dice.normal(0.0, POSE_SD_M, 2), -MOST_OFF_M, MOST_OFF_M)
        off = yaw_pose((float(x), float(y), 0.0), float(dice.normal(0.0, YAW_SD_RAD)))
        moved = replace(item, pose=compose(item.pose, off))
        if not any(overlap(moved, now[name]) for name in now if name != item.name):
            offsets[item.name], now[item.name] = off, moved
    mass, friction = np.exp(dice.normal(0.0, FACTOR_SD, 2))
    return Deviation(offsets=offsets, mass=float(mass), friction=float(friction))


def twin_of(
    scene: Scene,
    deviation: Deviation,
    *,
    robot: str = DEFAULT_ROBOT,
    safety: SafetyEnvelope | None = None,
) -> TabletopWorld:
    """
    Return the simulation of a robot at the scene of a table; `observe` returns what would be seen.

    Raises ConfigError for the safety file, also where its constraints are about none of the
    objects.
    """

    def source(driver: SimDriver) -> _OffSource:
        return _OffSource(TruthSource(driver, driver.robot.objects), scene, deviation.offsets)

    file = observed_scene(scene, deviation.mass, robot)
    world = TabletopWorld(file, safety=safety, make_source=source)
    arm = world.robot
    for item in scene.objects:
        if item.kind in LOOSE:
            off = deviation.offsets.get(item.name, NOT_OFF)
            arm.set_object_pose(item.name, compose(item.pose, off))
    with arm.paused() as simulation:
        simulation.scale_friction(deviation.friction)
    if scene.hand is not None:
        arm.set_arm(_posture(arm.robot_model, scene.hand), scene.hand.width_m)
        if scene.held is not None:
            arm.grasp(_grasp_of(scene.hand))
    arm.advance(SETTLE_S)
    return world


def _posture(robot: RobotModel, hand: HandReading) -> Array:
    """Return the posture of a hand that is nearest to the base posture, shape (7,) [rad]."""
    arm, home = robot.kinematics, robot.home_rad
    found = arm.inverse_branches(matrix_from_pose(hand.tcp), arm.q7_grid()).reshape(-1, 7)
    found = found[~np.isnan(found).any(axis=1)]
    if not len(found):  # a scene may be seen before the hand is where it will be
        return home
    return np.asarray(found[np.abs(found - home).max(axis=1).argmin()])


def _grasp_of(hand: HandReading) -> GraspGoal:
    return GraspGoal(
        width_m=hand.width_m,
        speed_m_s=GRIPPER_SPEED_M_S,
        force_n=GRIP_FORCE_N,
        inner_m=WIDTH_WINDOW_M,
        outer_m=WIDTH_WINDOW_M,
    )


@dataclass(frozen=True, slots=True)
class _OffSource:
    """Locates objects where they would be observed: off from where they are."""

    truth: TruthSource
    seen: Scene
    offsets: Mapping[str, Pose]

    def take_hand(self) -> None:
        """Do nothing: what is in the hand is found out from the objects."""

    def look(self) -> TableView:
        view = self.truth.look()
        poses = {item.name: item.pose for item in view.objects}
        objects = tuple(
            replace(item, pose=self._observed(item.name, poses[item.name]))
            if item.kind in LOOSE
            else item
            for item in self.seen.objects
        )
        return replace(view, objects=objects)

    def _observed(self, name: str, pose: Pose) -> Pose:
        off = self.offsets.get(name)
        return pose if off is None else compose(pose, inverse(off))

    def close(self) -> None:
        """Do nothing."""


SLIDING = 0.4
"""Friction that is assumed where objects are pushed along a table."""


def observed_scene(scene: Scene, mass: float, robot: str = DEFAULT_ROBOT) -> SceneFile:
    """
    Return a scene as a file, with a factor for the masses, which are those of its kind of object.

    It is not checked, since what is in the hand stands on nothing.
    """
    tables = [item for item in scene.objects if item.kind is Kind.FIXTURE]
    loose = [item for item in scene.objects if item.kind in LOOSE]
    places = [item for item in scene.objects if item.kind is Kind.LOCATION]
    return SceneFile.model_construct(
        name='twin',
        robot=robot,
        tables=tuple(
            TableSpec(
                name=item.name,
                xy=item.pose.position_m[:2],
                size=item.size_m[:2],
                z=top_z(item),
            )
            for item in tables
        ),
        objects=tuple(_spec(item, mass) for item in loose),
        locations=tuple(
            LocationSpec(name=item.name, xy=item.pose.position_m[:2], z=item.pose.position_m[2])
            for item in places
        ),
        friction=SLIDING if any(map(_slides, scene.skills)) else None,
        skills=tuple(skill.name for skill in scene.skills),
    )


def _slides(offered: Skill) -> bool:
    skill = find_skill(offered.name)
    return skill is not None and skill.slides


def _spec(item: SceneObject, mass: float) -> ObjectSpec:
    """Return an object of `scene.object_models` where one has its size, else a box or cylinder."""
    like = model_like(item)
    common = {'name': item.name, 'xyz': item.pose.position_m}
    if like is not None:
        kind = next(name for name, model in OBJECT_MODELS.items() if model is like)
        return ObjectSpec.model_validate({**common, 'kind': kind, 'mass': like.mass_kg * mass})
    x, y, z = item.size_m
    is_cylinder = item.kind is Kind.CYLINDER
    return ObjectSpec.model_validate(
        {
            **common,
            'kind': 'cylinder' if is_cylinder else 'cube',
            'size': (x, z) if is_cylinder else (x, y, z),
            'mass': DEFAULT_MASS_KG * mass,
        }
    )
