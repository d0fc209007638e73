"""The MuJoCo model in which contacts are looked for: robot, table, things and their twins."""

from __future__ import annotations

from functools import lru_cache

import mujoco

from bbllm.arm.model import robot_spec
from bbllm.arm.obstacles import Shape

TABLE = 'table'
"""Name of everything below z = 0."""
WIDEST_CLEARANCE_M = 0.02
"""Largest distance at which things of the world are looked at [m]."""
WORLD_BIT, ROBOT_BIT = 1, 2
Size = tuple[float, float, float]
Form = tuple[str, Shape, Size]
"""Name, shape and size: what a model is compiled for."""

_HAND = ('fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger')


@lru_cache(maxsize=16)
def compiled_model(forms: tuple[Form, ...]) -> mujoco.MjModel:
    """Compile a model; to be copied, since the cache keeps it."""
    spec = robot_spec()
    for key in list(spec.keys):
        spec.delete(key)
    for geom in list(spec.geoms):
        if not geom.contype and not geom.conaffinity:
            spec.delete(geom)
    table = spec.worldbody.add_body(name=TABLE)
    table.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 1],
        contype=WORLD_BIT,
        margin=WIDEST_CLEARANCE_M,
    )
    # The lower cap of link 1's capsule reaches below the base; the link does not.
    spec.add_exclude(bodyname1=TABLE, bodyname2='fr3_link1')
    # A closed hand is no collision, though its fingers touch.
    spec.add_exclude(bodyname1=_HAND[1], bodyname2=_HAND[2])
    for name, shape, size_m in forms:
        body = spec.worldbody.add_body(name=f'object/{name}', mocap=True)
        _add_geom(body, shape, size_m, WORLD_BIT, WIDEST_CLEARANCE_M)
    for i, (shape, size_m) in enumerate(twins_of(forms)):
        body = spec.body('fr3_hand').add_body(name=f'held/{i}')
        _add_geom(body, shape, size_m, WORLD_BIT | ROBOT_BIT, 0.0)
        for finger in _HAND[1:]:
            spec.add_exclude(bodyname1=body.name, bodyname2=finger)
    return spec.compile()


def twins_of(forms: tuple[Form, ...]) -> list[tuple[Shape, Size]]:
    """Return every form of thing once: the hand has a hidden twin of each."""
    return list(dict.fromkeys((shape, size_m) for _, shape, size_m in forms))


def _add_geom(
    body: mujoco.MjsBody,
    shape: Shape,
    size_m: Size,
    bits: int,
    margin_m: float,
) -> None:
    x, y, z = (extent / 2 for extent in size_m)
    if shape is Shape.BOX:
        kind, size = mujoco.mjtGeom.mjGEOM_BOX, [x, y, z]
    else:
        kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [max(x, y), z, 0.0]
    body.add_geom(type=kind, size=size, contype=bits, conaffinity=bits, margin=margin_m)
