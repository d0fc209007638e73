"""Which pixels show the robot, and the camera on its hand, from its joint positions."""

from __future__ import annotations

from collections.abc import Sequence
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
from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
ROUND = 24
"""Number of points on each circle of an outline."""
SHAPES = (
    mujoco.mjtGeom.mjGEOM_BOX,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_SPHERE,
)
VISUAL_GROUP = 2
"""Of the geoms that are drawn (see `RobotModel.spec`)."""
MARGIN_PX = 4
"""What is so near to the robot counts as the robot: 9 mm at a distance of 1.4 m [px]."""


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
    points = [_hand_camera(data)]
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


def _hand_camera(data: mujoco.MjData) -> Array:
    """Return the corners of the housing of the camera on the hand, world frame, (8, 3) [m]."""
    depth_m, width_m, height_m = HOUSING_M
    box = _outline(mujoco.mjtGeom.mjGEOM_BOX, (depth_m / 2, width_m / 2, height_m / 2))
    hand, mount = data.body(HAND_CAMERA.parent), HAND_CAMERA.T_parent_link
    box += np.array([-depth_m / 2, HOUSING_Y_M, 0.0])
    at_hand = box @ np.array(rotation_of(mount)).T
    in_hand = at_hand + np.array(mount.position_m)
    return np.asarray(in_hand @ hand.xmat.reshape(3, 3).T + hand.xpos)


@lru_cache(maxsize=4)
def _shape_of(width_m: float) -> _Shape:
    model = load_robot().arm_model(width_m)
    return _Shape(
        model=model,
        outlines=tuple(
            (index, _outline(kind, model.geom_size[index].tolist()))
            for index in range(model.ngeom)
            if (kind := mujoco.mjtGeom(model.geom_type[index])) in SHAPES
            and model.geom_group[index] == VISUAL_GROUP
        ),
    )


def _outline(kind: mujoco.mjtGeom, size_m: Sequence[float]) -> Array:
    """Return points whose convex hull is a shape of MuJoCo, nearly, shape (n, 3) [m]."""
    a, b, c = size_m
    angle = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False)
    circle = np.stack((np.cos(angle), np.sin(angle), np.zeros(ROUND)), axis=-1)
    up = np.array([0.0, 0.0, b])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return np.stack(np.meshgrid((-a, a), (-b, b), (-c, c)), axis=-1).reshape(-1, 3)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return np.concatenate((a * circle + up, a * circle - up))
    tilts = np.linspace(-np.pi / 2, np.pi / 2, 6)
    rings = [a * (np.cos(t) * circle + (0.0, 0.0, np.sin(t))) for t in tilts]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.concatenate(rings)
    return np.concatenate([ring + np.sign(t) * up for t, ring in zip(tilts, rings, strict=True)])
