"""
From a scene to a MuJoCo model: the robot, the tables, the objects, and the solver's settings.

The settings are those that gave 200 grasps of 200 in the measurements this project starts from:
implicitfast, elliptic cones with impratio 10, condim 4, stiff pads (their contact time constant
is two steps; slower ones let a held cube creep by millimetres during a carry), no welds.
"""

from __future__ import annotations

import mujoco
import numpy as np

from bbllm.arm.model import robot_spec
from bbllm.core.types import Kind, SceneObject
from bbllm.sim.build_goods import OBJECT_BITS, add_body, add_good, rgba_of
from bbllm.sim.goods import GOODS
from bbllm.sim.scenes import SceneFile

__all__ = ['CAMERA', 'build_model', 'rgba_of']

FLOOR_Z_M = -0.75
"""The table tops are at z = 0; what falls off lies here [m]."""
CAMERA = 'overview'
"""Name of the camera that looks at the table from in front of the robot."""

CONTACT_STEPS = 5
"""
Time constant of contacts between objects and tables, in physics steps.

MuJoCo's own (20 ms) lets a tower of five sink by 1.4 mm and lean by 1.1 mm; this one by 0.1 mm.
"""


def build_model(scene: SceneFile, timestep_s: float) -> mujoco.MjModel:
    """
    Compile robot and scene.

    The robot's joints and actuators come first; every object is a body with a free joint, unless
    it is fixed, and one geom, all three of the object's name.

    Args:
        scene: What stands on which table.
        timestep_s: Physics step [s].
    """
    spec = robot_spec()
    for key in list(spec.keys):
        spec.delete(key)  # its length fits the robot alone
    _set_options(spec, timestep_s)
    _add_room(spec, scene)
    for table in scene.fixtures:
        _add_table(spec.worldbody, table, timestep_s)
    for place in scene.places:
        _add_marker(spec, place)
    for item, given in zip(scene.movables, scene.objects, strict=True):
        if given.kind in GOODS:
            body = add_good(spec, item, GOODS[given.kind], given.mass, CONTACT_STEPS * timestep_s)
        else:
            body = _add_object(spec, item, given.mass, timestep_s)
        if item.name not in scene.fixed:  # a body without a joint is part of the world
            body.add_freejoint(name=item.name)
    return spec.compile()


def _set_options(spec: mujoco.MjSpec, timestep_s: float) -> None:
    option = spec.option
    option.timestep = timestep_s
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    option.impratio = 10.0
    option.iterations = 50
    option.tolerance = 1e-8
    # a state that has blown up is an error to report, not to start over from silently
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    sleep = getattr(mujoco.mjtEnableBit, 'mjENBL_SLEEP', None)  # MuJoCo 3.4 and later
    if sleep is not None:
        option.enableflags |= sleep
    for side in ('left', 'right'):
        spec.geom(f'fr3_{side}finger_pad').solref = [2 * timestep_s, 1.0]


def _add_room(spec: mujoco.MjSpec, scene: SceneFile) -> None:
    """Add floor, sky, lights and a camera that sees all tables."""
    lower = np.min([np.subtract(t.xy, np.divide(t.size, 2)) for t in scene.tables], axis=0)
    upper = np.max([np.add(t.xy, np.divide(t.size, 2)) for t in scene.tables], axis=0)
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.35, 0.35, 0.35]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1920, 1440
    spec.add_texture(
        name='sky',
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.86, 0.89, 0.93],
        rgb2=[0.60, 0.66, 0.74],
        width=64,
        height=64,
    )
    spec.worldbody.add_geom(
        name='floor',
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[4, 4, 0.1],
        pos=[0, 0, FLOOR_Z_M],
        rgba=[0.75, 0.76, 0.78, 1],
        contype=OBJECT_BITS,
        conaffinity=OBJECT_BITS,
    )
    spec.worldbody.add_light(
        pos=[0.8, -1.2, 2.6], dir=[-0.2, 0.45, -1], diffuse=[0.55] * 3, castshadow=True
    )
    middle = (lower + upper) / 2
    target = spec.worldbody.add_body(name='camera_target', pos=[middle[0] * 0.8, middle[1], 0.1])
    reach = float(np.linalg.norm(upper - lower))
    spec.worldbody.add_camera(
        name=CAMERA,
        pos=[upper[0] + 0.35 * reach, middle[1] - 0.42 * reach, 0.62 * reach],
        mode=mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODY,
        targetbody=target.name,
        fovy=42,
    )


def _add_table(body: mujoco.MjsBody, item: SceneObject, timestep_s: float) -> None:
    body.add_geom(
        name=item.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[length / 2 for length in item.size_m],
        pos=item.pose.position_m,
        rgba=rgba_of(item.color),
        contype=OBJECT_BITS,
        conaffinity=OBJECT_BITS,
        condim=4,
        solref=[CONTACT_STEPS * timestep_s, 1.0],
    )


def _add_marker(spec: mujoco.MjSpec, place: SceneObject) -> None:
    """Draw a location; it is no body and touches nothing."""
    x, y, z = place.pose.position_m
    spec.worldbody.add_site(
        name=place.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[place.size_m[0] / 2, place.size_m[1] / 2, 0.0002],
        pos=[x, y, z + 0.0002],
        rgba=[0.35, 0.38, 0.42, 0.6],
        group=0,
    )


def _add_object(
    spec: mujoco.MjSpec, item: SceneObject, mass_kg: float, timestep_s: float
) -> mujoco.MjsBody:
    body = add_body(spec, item)
    if item.kind is Kind.CYLINDER:
        shape, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [item.size_m[0] / 2, item.size_m[2] / 2, 0]
    else:
        shape, size = mujoco.mjtGeom.mjGEOM_BOX, [length / 2 for length in item.size_m]
    body.add_geom(
        name=item.name,
        type=shape,
        size=size,
        mass=mass_kg,
        rgba=rgba_of(item.color),
        contype=OBJECT_BITS,
        conaffinity=OBJECT_BITS,
        condim=4,
        friction=[1.0, 0.005, 0.0001],
        solref=[CONTACT_STEPS * timestep_s, 1.0],
    )
    return body
