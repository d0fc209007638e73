"""Which pixels show the robot, and the camera on its hand, from its joint positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import N_JOINTS
from bbllm.core.types import Pose
from bbllm.robots.registry import load_robot
from bbllm.scene.camera import Intrinsics, Mask
from bbllm.sim.camera_settings import HAND_CAMERA, HOUSING_M, HOUSING_Y_M
from bbllm.skills.shapes import rotation_of
from bbllm_vision.detectors.solids import Solid, outline_points
from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
VISUAL_GROUP = 2
"""Of the geoms that are drawn (see `RobotModel.spec`)."""
MARGIN_PX = 4
"""What is so near to the robot counts as the robot: 9 mm at a distance of 1.4 m [px]."""
_SHAPES = {
    mujoco.mjtGeom.mjGEOM_BOX: 'box',
    mujoco.mjtGeom.mjGEOM_CYLINDER: 'cylinder',
    mujoco.mjtGeom.mjGEOM_CAPSULE: 'capsule',
    mujoco.mjtGeom.mjGEOM_SPHERE: 'ellipsoid',
}


def arm_mask(
    position_rad: Array, width_m: float, intrinsics: Intrinsics, T_world_camera: Pose
) -> Mask:
    """
    Return whether each pixel shows the robot, shape (height, width), or is next to it.

    The housing of a camera at the mount `HAND_CAMERA` is a part of the robot, also where the hand
    has none: it hides little else.

    Args:
        position_rad: Of the joints, shape (7,) [rad].
        width_m: Distance of the fingers [m].
        intrinsics: Of the camera.
        T_world_camera: Pose of its optical frame.
    """
    view = CameraView.of(intrinsics, T_world_camera)
    mask = np.zeros((intrinsics.height_px, intrinsics.width_px), np.uint8)
    shape = _shape_of(round(width_m, 3))
    data = mujoco.MjData(shape.model)
    data.qpos[:N_JOINTS] = position_rad
    mujoco.mj_kinematics(shape.model, data)
    rotations = data.geom_xmat.reshape(-1, 3, 3)
    points = [outline_points(_hand_camera(data))]
    points += [local @ rotations[i].T + data.geom_xpos[i] for i, local in shape.outlines]
    pixels = view.project(np.concatenate(points))
    ends = np.cumsum([len(each) for each in points])[:-1]
    for outline in np.split(pixels, ends):
        if outline[:, 2].min() > 0.05:  # in front of the camera
            hull = cv2.convexHull(np.clip(outline[:, :2], -5e3, 5e3).astype(np.float32))
            cv2.fillConvexPoly(mask, np.rint(hull).astype(np.int32), 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * MARGIN_PX + 1,) * 2)
    return cv2.dilate(mask, kernel).astype(bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """The arm with its fingers at a width."""

    model: mujoco.MjModel
    outlines: tuple[tuple[int, Array], ...]
    """Of each geom that is drawn: its number, and points of its outline, shape (n, 3) [m]."""


def _hand_camera(data: mujoco.MjData) -> Solid:
    """Return the housing of the camera on the hand, world frame."""
    depth_m, width_m, height_m = HOUSING_M
    hand, mount = data.body(HAND_CAMERA.parent), HAND_CAMERA.T_parent_link
    at_link = Solid(
        shape='box',
        half_m=(depth_m / 2, width_m / 2, height_m / 2),
        rotation=np.eye(3),
        at_m=np.array([-depth_m / 2, HOUSING_Y_M, 0.0]),
    )
    at_hand = at_link.moved(np.array(rotation_of(mount)), np.array(mount.position_m))
    return at_hand.moved(hand.xmat.reshape(3, 3), hand.xpos)


@lru_cache(maxsize=4)
def _shape_of(width_m: float) -> _Shape:
    model = load_robot().arm_model(width_m)
    return _Shape(
        model=model,
        outlines=tuple(
            (index, _outline_of(_SHAPES[kind], model.geom_size[index].tolist()))
            for index in range(model.ngeom)
            if (kind := mujoco.mjtGeom(model.geom_type[index])) in _SHAPES
            and model.geom_group[index] == VISUAL_GROUP
        ),
    )


def _outline_of(shape: str, size_m: list[float]) -> Array:
    a, b, c = size_m
    half_m = (a, a, a) if shape == 'ellipsoid' else (a, b, c)
    solid = Solid(shape=shape, half_m=half_m, rotation=np.eye(3), at_m=np.zeros(3))
    return outline_points(solid)
