"""
The MuJoCo model of a scene: robot, tables, objects and solver settings.

The settings are those that gave 200 grasps of 200 in the measurements this project starts from:
implicitfast, elliptic cones with impratio 10, condim 4, stiff pads (their contact time constant is
two steps; slower ones let a grasped cube creep by millimetres during a carry), no welds.
"""

import colorsys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from PIL import ImageColor

from bbllm.core.types import Kind, Quat, SceneObject
from bbllm.robots.registry import load_robot
from bbllm.robots.robot_model import HandModel, RobotModel
from bbllm.scene.object_models import OBJECT_MODELS, ObjectModel, ObjectPart, model_like
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.render_process import HIDDEN_GROUPS

OBJECT_BITS = 1
"""Contact bit of everything but the robot (see `RobotModel.spec`)."""
SOLID: dict[str, Any] = {'contype': OBJECT_BITS, 'conaffinity': OBJECT_BITS}
ROLLING = (1.0, 0.005, 0.002)
"""Friction against sliding, turning on the spot [m] and rolling [m]."""
SHAPES = {
    'box': mujoco.mjtGeom.mjGEOM_BOX,
    'cylinder': mujoco.mjtGeom.mjGEOM_CYLINDER,
    'ellipsoid': mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    'capsule': mujoco.mjtGeom.mjGEOM_CAPSULE,
}


def rgba_of(color: str) -> tuple[float, float, float, float]:
    """Return the colour of a CSS name; any other word gets a fixed colour of its own."""
    try:
        red, green, blue = ImageColor.getrgb(color.replace(' ', '').replace('_', ''))[:3]
        return (red / 255, green / 255, blue / 255, 1.0)
    except ValueError:
        hue = zlib.crc32(color.encode()) % 360 / 360
        return (*colorsys.hsv_to_rgb(hue, 0.6, 0.8), 1.0)


def _add_parts(
    body: mujoco.MjsBody, item: SceneObject, good: ObjectModel, mass_kg: float, contact_s: float
) -> None:
    """Add several geoms; the mass is shared out by their volumes."""
    solid = [part for part in good.parts if not part.painted]
    volume = sum(_volume_m3(part) for part in solid)
    for index, part in enumerate(good.parts):
        geom = body.add_geom(
            name=item.name if index == 0 else f'{item.name}/{index}',
            type=SHAPES[part.shape],
            size=part.half_m,
            pos=part.at_m,
            quat=wxyz(part.quat_xyzw),
            rgba=rgba_of(part.color or item.color),
            mass=0.0 if part.painted else mass_kg * _volume_m3(part) / volume,
            contype=0 if part.painted else OBJECT_BITS,
            conaffinity=0 if part.painted else OBJECT_BITS,
            condim=6,
            friction=ROLLING,
        )
        geom.solref = [contact_s, 1.0]


def wxyz(quat_xyzw: Quat) -> tuple[float, float, float, float]:
    x, y, z, w = quat_xyzw
    return (w, x, y, z)


def _volume_m3(part: ObjectPart) -> float:
    """Return the volume of a part; those that overlap are counted twice where they do."""
    a, b, c = part.half_m
    if part.shape == 'box':
        return 8 * a * b * c
    if part.shape == 'ellipsoid':
        return 4.18879 * a * b * c
    tube = 6.28319 * a * a * b
    return tube if part.shape == 'cylinder' else tube + 4.18879 * a**3


FLOOR_Z_M = -0.75
"""The table tops are at z = 0; what falls off lies here [m]."""
CAMERA = 'overview'
SPAN_M = (0.35, 0.0), (0.6, 0.8)
"""Middle and half extents of what the camera shows where there is no table [m]."""

CONTACT_STEPS = 5
"""
Time constant of contacts between objects and tables, in physics steps.

MuJoCo's own (20 ms) lets a tower of five sink by 1.4 mm and lean by 1.1 mm; this one by 0.1 mm.
"""


def build_model(scene: SceneFile, timestep_s: float, *, visuals: bool = False) -> mujoco.MjModel:
    """Compile robot and scene; see `build_spec`."""
    return build_spec(scene, timestep_s, visuals=visuals).compile()


def build_spec(scene: SceneFile, timestep_s: float, *, visuals: bool = False) -> mujoco.MjSpec:
    """
    Return an editable model of robot and scene.

    The robot's joints and actuators come first; every object is a body with a free joint, unless
    it is fixed, and one geom, all three of the object's name. Without *visuals* the robot's geoms
    that touch nothing are left out, a tenth of a step's time; bodies and states are the same.
    """
    robot = load_robot(scene.robot)
    spec = robot.spec()
    for key in list(spec.keys):
        spec.delete(key)  # its length fits the robot alone
    if not visuals:
        for geom in list(spec.geoms):
            if not geom.contype:
                spec.delete(geom)
    _set_options(spec, robot.hand, timestep_s)
    _add_room(spec, scene.fixtures)
    contact_s = CONTACT_STEPS * timestep_s
    for table in scene.fixtures:
        _add_table(spec, table, contact_s)
    for place in scene.places:
        _add_marker(spec, place)
    for item, given in zip(scene.movables, scene.objects, strict=True):
        body = _add_object(spec, item, OBJECT_MODELS.get(given.kind), given.mass, contact_s)
        if scene.friction is not None:
            for geom in body.geoms:
                # priority: on a table, and not between fingers, which have one too
                geom.friction[0], geom.priority = scene.friction, 1
        if item.name not in scene.fixed:  # a body without a joint is part of the world
            body.add_freejoint(name=item.name)
    return spec


def drawn_model(robot: RobotModel, objects: Iterable[SceneObject]) -> mujoco.MjModel:
    """
    Compile the robot and the objects of an observation for the eye alone: nothing collides.

    Objects are taken for those of `scene.object_models` that have their size. The joints of the
    robot come first, 7 and 2; then a free joint for each object that is neither furniture nor a
    location, in their order. Names are the program's own, since those of objects can be any text.
    """
    spec = robot.spec()
    for key in list(spec.keys):
        spec.delete(key)
    for geom in list(spec.geoms):
        if geom.group in HIDDEN_GROUPS:
            spec.delete(geom)
    spec.option.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    )
    contact_s = CONTACT_STEPS * spec.option.timestep
    items = [replace(item, name=f'object {n}') for n, item in enumerate(objects)]
    _add_room(spec, [item for item in items if item.kind is Kind.FIXTURE])
    for item in items:
        if item.kind is Kind.FIXTURE:
            _add_table(spec, item, contact_s)
        elif item.kind is Kind.LOCATION:
            _add_marker(spec, item)
        else:
            _add_object(spec, item, model_like(item), 1.0, contact_s).add_freejoint()
    return spec.compile()


def _add_table(spec: mujoco.MjSpec, table: SceneObject, contact_s: float) -> None:
    spec.worldbody.add_geom(
        name=table.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[length / 2 for length in table.size_m],
        pos=table.pose.position_m,
        rgba=rgba_of(table.color),
        condim=4,
        solref=[contact_s, 1.0],
        **SOLID,
    )


def _add_object(
    spec: mujoco.MjSpec,
    item: SceneObject,
    model: ObjectModel | None,
    mass_kg: float,
    contact_s: float,
) -> mujoco.MjsBody:
    """Add the body of an object; one without a model is a box or a cylinder."""
    quat = wxyz(item.pose.quat_xyzw)
    body = spec.worldbody.add_body(name=item.name, pos=item.pose.position_m, quat=quat)
    if model is not None:
        _add_parts(body, item, model, mass_kg, contact_s)
        return body
    x, y, z = (length / 2 for length in item.size_m)
    is_round = item.kind is Kind.CYLINDER
    body.add_geom(
        name=item.name,
        type=SHAPES['cylinder' if is_round else 'box'],
        size=[x, z, 0] if is_round else [x, y, z],
        mass=mass_kg,
        rgba=rgba_of(item.color),
        friction=[1.0, 0.005, 0.0001],
        condim=4,
        solref=[contact_s, 1.0],
        **SOLID,
    )
    return body


def _set_options(spec: mujoco.MjSpec, hand: HandModel, timestep_s: float) -> None:
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
    for pad in hand.pads:
        spec.geom(pad).solref = [2 * timestep_s, 1.0]


def _add_room(spec: mujoco.MjSpec, tables: Sequence[SceneObject]) -> None:
    spans = [(t.pose.position_m[:2], np.divide(t.size_m[:2], 2)) for t in tables] or [SPAN_M]
    lower = np.min([np.subtract(middle, half) for middle, half in spans], axis=0)
    upper = np.max([np.add(middle, half) for middle, half in spans], axis=0)
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
        **SOLID,
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


def _add_marker(spec: mujoco.MjSpec, place: SceneObject) -> None:
    x, y, z = place.pose.position_m
    spec.worldbody.add_site(
        name=place.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[place.size_m[0] / 2, place.size_m[1] / 2, 0.0002],
        pos=[x, y, z + 0.0002],
        rgba=[0.35, 0.38, 0.42, 0.6],
        group=0,
    )
