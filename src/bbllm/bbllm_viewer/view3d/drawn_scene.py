"""
The arm and the objects of a scene as a browser or a camera shows them.

Everything drawn is a plain shape on a body of a kinematic tree, so that a few kilobytes describe
it; `static/view3d.js` draws them and moves the tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.resources import files

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import N_JOINTS
from bbllm.core.text import escape_hidden
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.robots.registry import load_robot
from bbllm.robots.robot_model import RobotModel
from bbllm.sim.build import CAMERA, drawn_model
from bbllm.worlds.scene.reaching import reach_ring_m

Array = NDArray[np.float64]

N_ROBOT = N_JOINTS + 2
"""Positions of the robot: seven joints [rad] and half the width for each finger [m]."""
N_POSE = 7
SHAPES = {
    mujoco.mjtGeom.mjGEOM_BOX: 'box',
    mujoco.mjtGeom.mjGEOM_CYLINDER: 'cylinder',
    mujoco.mjtGeom.mjGEOM_CAPSULE: 'capsule',
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: 'ellipsoid',
}
"""What the model of the robot and of the objects is made of; the floor is not drawn."""
DIGITS = 4
"""Of lengths [m], angles [rad] and parts of quaternions for browsers."""


def script() -> str:
    """Return the script that draws a scene in a browser: it defines `View3D`."""
    return files('bbllm_viewer.view3d').joinpath('static/view3d.js').read_text('utf-8')


class DrawnScene:
    """A scene that can be drawn at any position of its joints and objects."""

    def __init__(self, objects: Iterable[SceneObject], robot: RobotModel | None = None) -> None:
        """
        Take the objects of an observation; those without extent are left out.

        *robot* is the default one where it is None.
        """
        robot = robot or load_robot()
        self._robot = robot
        self._drawn = drawn = [item for item in objects if _is_drawn(item)]
        moved = [item for item in drawn if item.kind not in (Kind.FIXTURE, Kind.LOCATION)]
        self.names = tuple(item.name for item in moved)
        """Of all that can move, in the order of positions."""
        self.model = drawn_model(robot, drawn)
        fingers = [robot.hand.max_width_m / 2] * 2
        self._rest: Array = np.concatenate(
            [robot.home_rad, fingers, *(position_of(item.pose) for item in moved)]
        )

    def qpos(
        self, joints_rad: Iterable[float], finger_m: float, poses: Mapping[str, Pose]
    ) -> Array:
        """
        Return all positions, shape (9 + 7 n,): joints, fingers, objects.

        Args:
            joints_rad: Of the arm, shape (7,).
            finger_m: Width between the fingers.
            poses: By the objects' names, in the frame of the base; others stay as they were.
        """
        placed = {x: np.array([[*p.position_m, *p.quat_xyzw]]) for x, p in poses.items()}
        row: Array = self.rows(np.array([list(joints_rad)]), np.array([finger_m]), placed)[0]
        return row

    def rows(self, joints_rad: Array, finger_m: Array, poses_xyzw: Mapping[str, Array]) -> Array:
        """
        Return the positions of many moments, shape (m, 9 + 7 n).

        Args:
            joints_rad: Shape (m, 7).
            finger_m: Widths between the fingers, shape (m,).
            poses_xyzw: Position [m] and quaternion of objects by name, shape (m, 7) each.
        """
        rows = np.tile(self._rest, (len(joints_rad), 1))
        rows[:, :N_JOINTS] = joints_rad
        rows[:, N_JOINTS:N_ROBOT] = finger_m[:, np.newaxis] / 2
        for number, name in enumerate(self.names):
            if name in poses_xyzw:
                begin = N_ROBOT + N_POSE * number
                rows[:, begin : begin + N_POSE] = poses_xyzw[name][:, [0, 1, 2, 6, 3, 4, 5]]
        return rows

    @cached_property
    def description(self) -> dict[str, object]:
        """
        What `View3D.load` takes, as plain values: bodies, shapes, camera, first positions.

        Bodies and shapes of objects have their names. `robot` is that of the robot, and `reach_m`
        is how near and how far from its axis the arm can grasp.
        """
        model, data = self.model, mujoco.MjData(self.model)
        data.qpos[:] = self._rest
        mujoco.mj_forward(model, data)
        camera = model.camera(CAMERA).id
        names = {f'object {n}': escape_hidden(item.name) for n, item in enumerate(self._drawn)}
        return {
            'bodies': [_body(model, body, names) for body in range(model.nbody)],
            'shapes': [*_shapes(model), *_marks(model, names)],
            'robot': self._robot.name,
            'reach_m': reach_ring_m(self._robot),
            'eye': _plain(data.cam_xpos[camera]),
            'target': _plain(data.body('camera_target').xpos),
            'fov_deg': float(model.cam_fovy[camera]),
            'qpos': _plain(self._rest),
        }


def plain_row(row: Array) -> list[float]:
    """Return positions as short numbers for JSON."""
    return _plain(row)


def position_of(pose: Pose) -> Array:
    """Return the positions of a free joint at a pose, shape (7,)."""
    x, y, z, w = pose.quat_xyzw
    return np.array([*pose.position_m, w, x, y, z])


def _is_drawn(item: SceneObject) -> bool:
    """Return whether an object has a place and an extent; journals can hold anything."""
    lengths = item.size_m[:2] if item.kind is Kind.LOCATION else item.size_m
    pose = (*item.pose.position_m, *item.pose.quat_xyzw)
    known = item.kind is not Kind.HAND and all(map(math.isfinite, (*pose, *item.size_m)))
    return known and all(length > 0 for length in lengths) and any(item.pose.quat_xyzw)


def _body(model: mujoco.MjModel, body: int, names: Mapping[str, str]) -> dict[str, object]:
    """Return a body: where it is in its parent, and the joint that moves it."""
    data: dict[str, object] = {
        'parent': int(model.body_parentid[body]),
        'pos': _plain(model.body_pos[body]),
        'quat': _plain(model.body_quat[body]),
    }
    if model.body(body).name in names:
        data['name'] = names[model.body(body).name]
    if model.body_jntnum[body]:
        joint = int(model.body_jntadr[body])
        kinds = {
            mujoco.mjtJoint.mjJNT_FREE: 'free',
            mujoco.mjtJoint.mjJNT_HINGE: 'hinge',
            mujoco.mjtJoint.mjJNT_SLIDE: 'slide',
        }
        data['joint'] = kinds[mujoco.mjtJoint(int(model.jnt_type[joint]))]
        data['axis'] = _plain(model.jnt_axis[joint])
        data['at'] = int(model.jnt_qposadr[joint])
    return data


def _shapes(model: mujoco.MjModel) -> list[dict[str, object]]:
    return [
        {
            'body': int(model.geom_bodyid[geom]),
            'shape': SHAPES[kind],
            'size': _plain(model.geom_size[geom]),
            'pos': _plain(model.geom_pos[geom]),
            'quat': _plain(model.geom_quat[geom]),
            'rgba': _plain(model.geom_rgba[geom]),
        }
        for geom in range(model.ngeom)
        if (kind := mujoco.mjtGeom(int(model.geom_type[geom]))) in SHAPES
    ]


def _marks(model: mujoco.MjModel, names: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the locations, which are sites; those of the robot are points, and not drawn."""
    return [
        {
            'body': 0,
            'name': names[model.site(site).name],
            'shape': 'box',
            'size': _plain(model.site_size[site]),
            'pos': _plain(model.site_pos[site]),
            'quat': _plain(model.site_quat[site]),
            'rgba': _plain(model.site_rgba[site]),
        }
        for site in range(model.nsite)
        if model.site_bodyid[site] == 0 and model.site_type[site] == mujoco.mjtGeom.mjGEOM_BOX
    ]


def _plain(values: Array) -> list[float]:
    return [round(float(value), DIGITS) for value in values]
