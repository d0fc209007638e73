"""A robot beside boxes that refuses to move: what refusals and grasps are judged by."""

import numpy as np
from numpy.typing import ArrayLike

from bbllm_libero.panda import (
    JointInfo,
    LiberoTask,
    ObjectInfo,
    Piece,
    Placement,
    SiteInfo,
    State,
)

READY_Q = np.array([0.0, -0.161, 0.0, -2.445, 0.0, 2.227, 0.785])
"""Joints at the start of an episode (LIBERO, mounted_panda.py: init_qpos)."""
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
DOWN = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
"""The grip site points down; the fingers open along y."""
Part = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Middle and half extents of a box, in its object's frame."""


class StillPanda:
    """The interface of the benchmark's robot, over objects made of boxes."""

    def __init__(
        self,
        objects: dict[str, tuple[tuple[float, float, float], tuple[Part, ...]]],
        *,
        fixtures: tuple[str, ...] = (),
        sites: dict[str, tuple[tuple[float, float, float], SiteInfo]] | None = None,
        joints: dict[str, tuple[float, JointInfo]] | None = None,
        width_m: float = 0.08,
    ):
        """*objects* have a position and parts, sites a position, joints a value."""
        self._parts = {name: parts for name, (_, parts) in objects.items()}
        sites, joints = sites or {}, joints or {}
        tool = Placement(np.array([0.45, 0.0, 0.25]), DOWN)
        self.task = LiberoTask(
            suite='still',
            number=0,
            name='still',
            language='stand still',
            init_state=0,
            goal=(),
            budget=600,
            rate_hz=20.0,
            surface_m=0.0,
            tool=tool,
            action_scale=np.array([0.05] * 3 + [0.5] * 3),
            objects={
                name: ObjectInfo(
                    name=name,
                    category=name.rsplit('_', 1)[0],
                    fixture=name in fixtures,
                    centre_m=np.zeros(3),
                    half_size_m=np.zeros(3),
                    joints=tuple(j for j, (_, info) in joints.items() if info.owner == name),
                )
                for name in objects
            },
            sites={name: info for name, (_, info) in sites.items()},
            joints={name: info for name, (_, info) in joints.items()},
        )
        poses = {
            name: Placement(np.array(position), UPRIGHT) for name, (position, _) in objects.items()
        }
        self.state = State(
            steps=0,
            tool=tool,
            q=READY_Q,
            fingers_m=np.array([width_m / 2, -width_m / 2]),
            objects=poses,
            bodies=poses,
            sites={
                name: Placement(np.array(position), UPRIGHT)
                for name, (position, _) in sites.items()
            },
            joints={name: value for name, (value, _) in joints.items()},
            touches={'left': (), 'right': ()},
            arm_touches=(),
            success=False,
        )

    def step(self, action: ArrayLike) -> State:
        raise AssertionError(f'a refused call moved the arm: {action!r}')

    def shape(self, name: str) -> tuple[Piece, ...]:
        return tuple(
            Piece(
                body=name,
                placement=Placement(np.array(middle), UPRIGHT),
                half_m=np.array(half),
            )
            for middle, half in self._parts[name]
        )
