"""
A calibration in simulation, where it is known where the camera is.

The camera is drawn a little beside where people put it, and the procedure has no access to its
pose. A print on a thin plate is in the fingers, or lies on the table; the arm is set
from posture to posture as a person guides it, and a D435 with its noise takes the pictures.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.obstacles import matrix_from_pose
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.camera_settings import (
    HAND_CAMERA,
    T_COLOR_OPTICAL,
    T_LINK_COLOR,
    TABLE_CAMERA,
    d435,
)
from bbllm.sim.cameras import SimCameras
from bbllm.sim.simulation import Simulation
from bbllm_vision.board import TagBoard
from bbllm_vision.calibration.collecting import ArmPicture, hand_pose
from bbllm_vision.hand_eye import Mount

PLATE_M = 0.004
"""Thickness of what the print is glued on [m]."""
MARGIN_M = 0.021
"""Of the paper around the squares, where the fingers grip [m]."""
GRIPPED_M = 0.015
PX_PER_SQUARE = 128
BOARD = 'fr3_calibration_board'
"""Of a name that no scene may use."""
START_RAD: Array = FR3.home_rad + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.35, 0.0])
"""From where the hand sees the table, or the camera the print, tilted by 20 degrees."""
GUIDED_RAD = np.array([0.1, 0.1, 0.1, 0.1, 0.25, 0.25, 0.5])
"""How far a person guides each joint from there, at most [rad]."""
TRIES_PER_VIEW = 4
CAMERAS = {Mount.STAND: TABLE_CAMERA, Mount.HAND: HAND_CAMERA}
T_LINK_OPTICAL: Array = matrix_from_pose(T_LINK_COLOR) @ matrix_from_pose(T_COLOR_OPTICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedArm:
    """An arm with a camera and a board, and where the camera is."""

    T_parent_camera: Array
    """Pose of the optical frame in fr3_link0 (stand) or fr3_hand (hand)."""
    take: Callable[[], ArmPicture]
    guide: Callable[[int], bool]
    """Sets the arm to another posture; False once there were `TRIES_PER_VIEW` for each view."""


@contextmanager
def simulated_arm(
    mount: Mount, board: TagBoard, *, count: int, seed: int
) -> Iterator[SimulatedArm]:
    """Yield an arm that is guided for *count* views; pictures raise RenderError."""
    simulation, settings = Simulation(SceneFile(name='calibration')), d435()
    dice = np.random.default_rng(seed)
    X, Z = _placed(mount, board)
    X = X @ _beside(dice)
    postures = iter(START_RAD + dice.uniform(-1, 1, (TRIES_PER_VIEW * count, 7)) * GUIDED_RAD)
    model = CAMERAS[mount]
    camera = replace(model, T_parent_link=pose_of_matrix(X @ np.linalg.inv(T_LINK_OPTICAL)))
    carrier = FR3.hand.body if mount is Mount.STAND else FR3.base_link

    def guide(number: int) -> bool:
        posture = next(postures, None)
        if posture is not None:
            simulation.data.qpos[:N_JOINTS] = posture
        return posture is not None

    def take() -> ArmPicture:
        image = cameras.take(camera.name)
        return ArmPicture(
            rgb=image.rgb,
            intrinsics=image.intrinsics,
            T_base_hand=hand_pose(simulation.data.qpos[:N_JOINTS]),
        )

    with SimCameras(
        simulation,
        replace(settings, mounts=(camera,)),
        seed=seed,
        add=lambda spec: _add_board(spec, board, carrier, Z),
    ) as cameras:
        yield SimulatedArm(T_parent_camera=X, take=take, guide=guide)


def _placed(mount: Mount, board: TagBoard) -> tuple[Array, Array]:
    """Return where people put the camera on its parent, and the board on its carrier."""
    T_base_hand = hand_pose(START_RAD)
    if mount is Mount.HAND:
        T_hand_camera = matrix_from_pose(HAND_CAMERA.T_parent_link) @ T_LINK_OPTICAL
        T_base_camera = T_base_hand @ T_hand_camera
        ahead, at_m = T_base_camera[:3, 2], T_base_camera[:3, 3]
        T_base_board = np.diag([1.0, -1.0, -1.0, 1.0])  # the print faces up
        T_base_board[:3, 3] = at_m + (PLATE_M - at_m[2]) / ahead[2] * ahead
        return T_hand_camera, T_base_board
    # Gripped by its upper edge: x of the print along that of the tool, y along the fingers.
    T_tool_board = np.eye(4)
    T_tool_board[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    T_tool_board[2, 3] = board.size_m[1] / 2 + MARGIN_M - GRIPPED_M
    T_base_board = FR3.kinematics.forward(START_RAD) @ T_tool_board
    # Beside the arm, turned by 20 degrees from straight before the print, 0.8 m away.
    T_board_camera = np.eye(4)
    T_board_camera[:3, :3] = Rotation.from_euler('yx', (15.0, 15.0), degrees=True).as_matrix()
    T_board_camera[:3, 3] = -0.8 * T_board_camera[:3, 2]
    return T_base_board @ T_board_camera, np.linalg.inv(T_base_hand) @ T_base_board


def _beside(dice: np.random.Generator) -> Array:
    """Return a transform by about 1 cm along each axis and 3 degrees about it."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(dice.normal(size=3) * 3.0, degrees=True).as_matrix()
    T[:3, 3] = dice.normal(size=3) * 0.01
    return T


def _add_board(spec: mujoco.MjSpec, board: TagBoard, parent: str, T_parent_board: Array) -> None:
    """Add the print on a thin plate, whose face is where the board is."""
    margin_px = round(MARGIN_M / board.square_m * PX_PER_SQUARE)
    picture = np.pad(board.picture(PX_PER_SQUARE), margin_px, constant_values=255)
    height_px, width_px = picture.shape
    spec.add_texture(
        name=BOARD,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=width_px,
        height=height_px,
        nchannel=3,
        data=np.repeat(picture.ravel(), 3).tolist(),
    )
    material = spec.add_material(name=BOARD, specular=0.0, reflectance=0.0)
    textures = list(material.textures)
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = BOARD
    material.textures = textures
    # The z axis of a box points out of the face that has the picture upright.
    T_board_box = np.diag([1.0, -1.0, -1.0, 1.0])
    T_board_box[2, 3] = PLATE_M / 2
    pose = pose_of_matrix(T_parent_board @ T_board_box)
    x, y, z, w = pose.quat_xyzw
    metre_px = board.square_m / PX_PER_SQUARE
    spec.body(parent).add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[width_px * metre_px / 2, height_px * metre_px / 2, PLATE_M / 2],
        pos=pose.position_m,
        quat=(w, x, y, z),
        material=BOARD,
        mass=0.0,
        contype=0,
        conaffinity=0,
    )
