"""From the parts of a thing to a body of several geoms, and from colour words to colours."""

from __future__ import annotations

import colorsys
import zlib

import mujoco
from PIL import ImageColor

from bbllm.core.types import Quat, SceneObject
from bbllm.sim.goods import Good, Part

OBJECT_BITS = 1
"""Contact bit of everything but the robot (see fr3.xml)."""
ROLLING = (1.0, 0.005, 0.002)
"""Friction against sliding, turning on the spot [m] and rolling [m]."""
SHAPES = {
    'box': mujoco.mjtGeom.mjGEOM_BOX,
    'cylinder': mujoco.mjtGeom.mjGEOM_CYLINDER,
    'ellipsoid': mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    'capsule': mujoco.mjtGeom.mjGEOM_CAPSULE,
}


def rgba_of(color: str) -> tuple[float, float, float, float]:
    """
    Return how a colour word looks.

    Any CSS colour name; a word that is none gets a colour of its own, always the same.
    """
    try:
        red, green, blue = ImageColor.getrgb(color.replace(' ', '').replace('_', ''))[:3]
        return (red / 255, green / 255, blue / 255, 1.0)
    except ValueError:
        hue = zlib.crc32(color.encode()) % 360 / 360
        return (*colorsys.hsv_to_rgb(hue, 0.6, 0.8), 1.0)


def add_body(spec: mujoco.MjSpec, item: SceneObject) -> mujoco.MjsBody:
    """Add a body without any geom where an object is."""
    return spec.worldbody.add_body(
        name=item.name, pos=item.pose.position_m, quat=_wxyz(item.pose.quat_xyzw)
    )


def add_good(
    spec: mujoco.MjSpec, item: SceneObject, good: Good, mass_kg: float, contact_s: float
) -> mujoco.MjsBody:
    """
    Add a body of several geoms; its mass is shared out by their volumes.

    Args:
        spec: Where to.
        item: Its name, pose and colour.
        good: What it is made of.
        mass_kg: Of the whole thing [kg].
        contact_s: Time constant of its contacts [s].
    """
    body = add_body(spec, item)
    solid = [part for part in good.parts if not part.painted]
    volume = sum(_volume_m3(part) for part in solid)
    for index, part in enumerate(good.parts):
        geom = body.add_geom(
            name=item.name if index == 0 else f'{item.name}/{index}',
            type=SHAPES[part.shape],
            size=part.half_m,
            pos=part.at_m,
            quat=_wxyz(part.quat_xyzw),
            rgba=rgba_of(part.color or item.color),
            mass=0.0 if part.painted else mass_kg * _volume_m3(part) / volume,
            contype=0 if part.painted else OBJECT_BITS,
            conaffinity=0 if part.painted else OBJECT_BITS,
            condim=6,
            friction=ROLLING,
        )
        geom.solref = [contact_s, 1.0]
    return body


def _wxyz(quat_xyzw: Quat) -> tuple[float, float, float, float]:
    """Return a quaternion as MuJoCo has it, scalar first."""
    x, y, z, w = quat_xyzw
    return (w, x, y, z)


def _volume_m3(part: Part) -> float:
    """Return the volume of a part; those that overlap are counted twice where they do."""
    a, b, c = part.half_m
    if part.shape == 'box':
        return 8 * a * b * c
    if part.shape == 'ellipsoid':
        return 4.18879 * a * b * c
    tube = 6.28319 * a * a * b
    return tube if part.shape == 'cylinder' else tube + 4.18879 * a**3
