"""Which pixels show the robot, from its joint positions."""

from __future__ import annotations

from functools import lru_cache

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import N_JOINTS
from bbllm.arm.model import arm_model
from bbllm.core.types import Pose
from bbllm.vision.camera import Intrinsics, Mask
from bbllm.vision.detectors.solids import Solid, outline_points
from bbllm.vision.detectors.views import CameraView

Array = NDArray[np.float64]
LOOK_GROUP = 2
"""Of the geoms that are drawn (see `arm.model.robot_spec`)."""
MARGIN_PX = 4
"""What is so near to the robot counts as the robot: 9 mm at a distance of 1.4 m [px]."""
_SHAPES = {
    mujoco.mjtGeom.mjGEOM_BOX: 'box',
    mujoco.mjtGeom.mjGEOM_CYLINDER: 'cylinder',
    mujoco.mjtGeom.mjGEOM_CAPSULE: 'capsule',
    mujoco.mjtGeom.mjGEOM_SPHERE: 'sphere',
}


def arm_mask(
    position_rad: Array, width_m: float, intrinsics: Intrinsics, T_world_camera: Pose
) -> Mask:
    """
    Return whether each pixel shows the robot, shape (height, width), or is next to it.

    Args:
        position_rad: Of the joints, shape (7,) [rad].
        width_m: Distance of the fingers [m].
        intrinsics: Of the camera.
        T_world_camera: Pose of its optical frame.
    """
    view = CameraView.of(intrinsics, T_world_camera)
    mask = np.zeros((intrinsics.height_px, intrinsics.width_px), np.uint8)
    model = _model(round(width_m, 3))
    data = mujoco.MjData(model)
    data.qpos[:N_JOINTS] = position_rad
    mujoco.mj_kinematics(model, data)
    for index in range(model.ngeom):
        shape = _SHAPES.get(mujoco.mjtGeom(model.geom_type[index]))
        if shape is None or model.geom_group[index] != LOOK_GROUP:
            continue
        a, b, c = model.geom_size[index].tolist()
        if shape == 'sphere':
            shape, b, c = 'ellipsoid', a, a
        points = outline_points(
            Solid(
                shape=shape,
                half_m=(a, b, c),
                rotation=data.geom_xmat[index].reshape(3, 3),
                at_m=data.geom_xpos[index],
            )
        )
        pixels = view.project(points)
        if pixels[:, 2].min() > 0.05:  # in front of the camera
            hull = cv2.convexHull(np.clip(pixels[:, :2], -5e3, 5e3).astype(np.float32))
            cv2.fillConvexPoly(mask, np.rint(hull).astype(np.int32), 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * MARGIN_PX + 1,) * 2)
    return cv2.dilate(mask, kernel).astype(bool)


@lru_cache(maxsize=4)
def _model(width_m: float) -> mujoco.MjModel:
    return arm_model(width_m)
