"""Where people put a camera and its board, drawn at random, and the board as it is drawn there."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import Array
from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.types import Fact, Kind, Scene, SceneObject
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.robots.registry import load_robot
from bbllm.sim.camera_settings import (
    HAND_CAMERA,
    T_COLOR_OPTICAL,
    T_LINK_COLOR,
    TABLE_CAMERA,
    CameraSettings,
)
from bbllm_vision.board import TagBoard
from bbllm_vision.calibration.arm_mover import T_HAND_TCP, ArmMover, hand_pose, postures
from bbllm_vision.calibration.postures import is_in_view
from bbllm_vision.hand_eye import CalibrationError, Mount

PLATE_M = 0.004
"""Thickness of what the print is glued on [m]."""
MARGIN_M = 0.021
"""Of the paper around the squares, where the fingers grip [m]."""
GRIPPED_M = 0.015
PX_PER_SQUARE = 128
BOARD = 'calibration_board'
PREFIX = 'fr3_'
"""Of names in the model that no scene may use."""
PLACES = 60
"""Places of the board that are tried for one camera."""
CAMERAS = 40
"""Cameras that are drawn at random until one sees the board where the arm can have it."""
MODELS = {Mount.STAND: TABLE_CAMERA, Mount.HAND: HAND_CAMERA}
CAMERA_NAMES = {mount: model.name for mount, model in MODELS.items()}
T_LINK_OPTICAL: Array = matrix_from_pose(T_LINK_COLOR) @ matrix_from_pose(T_COLOR_OPTICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where camera and board are, and where the arm starts."""

    mount: Mount
    T_parent_camera: Array
    """Pose of the optical frame in fr3_link0 (stand) or fr3_hand (hand)."""
    T_carrier_board: Array
    """Pose of the board in fr3_hand (stand) or fr3_link0 (hand)."""
    pivot_m: Array
    """About which point of the hand's frame poses turn."""


def board_in_hand(board: TagBoard) -> Array:
    """Return T_hand_board of a plate that is gripped at the upper edge of the print."""
    T = np.eye(4)
    # x of the print along that of the tool, y along the fingers, so z against the tool's y.
    T[:3, 0], T[:3, 1], T[:3, 2] = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)
    T[2, 3] = T_HAND_TCP[2, 3] + board.size_m[1] / 2 + MARGIN_M - GRIPPED_M
    return T


def place_and_start(
    mover: ArmMover,
    mount: Mount,
    board: TagBoard,
    settings: CameraSettings,
    dice: np.random.Generator,
) -> Placement:
    """Draw a placement, and move the arm to where a person would lead it."""
    for _ in range(CAMERAS):
        placement, draw_pose = draw_placement(mount, board, settings, dice)
        solution = (placement.T_parent_camera, placement.T_carrier_board)
        for _ in range(PLACES):
            pose = draw_pose()
            if not is_in_view(pose, mount, solution, board, settings.intrinsics):
                continue
            for goal in postures(pose, load_robot().home_rad)[:1]:
                way = mover.route_to(goal)
                if way is not None:
                    mover.follow(way)
                    return placement
    raise CalibrationError(
        f'None of {CAMERAS} cameras that were drawn sees the board in a pose that the arm '
        'reaches. Use another seed.'
    )


def scene_with_plate(
    objects: tuple[SceneObject, ...], mount: Mount, board: TagBoard, position_rad: Array
) -> Scene:
    """Return what is around the arm, and the plate in the hand."""
    facts = tuple[Fact, ...]()
    if mount is Mount.STAND:
        width_m, height_m = (length + 2 * MARGIN_M for length in board.size_m)
        plate = SceneObject(
            name=BOARD,
            kind=Kind.CUBE,
            pose=pose_of_matrix(hand_pose(position_rad) @ board_in_hand(board)),
            size_m=(width_m, height_m, PLATE_M),
        )
        objects, facts = (*objects, plate), (Fact(BOARD, 'held_by', 'hand'),)
    return Scene(objects=objects, skills=(), facts=facts, stamp_s=0.0)


def draw_placement(
    mount: Mount, board: TagBoard, settings: CameraSettings, dice: np.random.Generator
) -> tuple[Placement, Callable[[], Array]]:
    """Return a placement, and what draws poses of the hand in which the board may be seen."""
    draw = _on_stand if mount is Mount.STAND else _on_hand
    return draw(board, settings, dice)


def add_board(spec: mujoco.MjSpec, board: TagBoard, parent: str, T_parent_board: Array) -> None:
    """Add the print on a thin plate, whose face is where the board is."""
    margin_px = round(MARGIN_M / board.square_m * PX_PER_SQUARE)
    picture = np.pad(board.picture(PX_PER_SQUARE), margin_px, constant_values=255)
    name = PREFIX + BOARD
    spec.add_texture(
        name=name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=picture.shape[1],
        height=picture.shape[0],
        nchannel=3,
        data=np.repeat(picture.ravel(), 3).tolist(),
    )
    material = spec.add_material(name=name, specular=0.0, reflectance=0.0)
    textures = list(material.textures)
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    material.textures = textures
    # The z axis of a box points out of the face that has the picture upright.
    T_board_box = np.diag([1.0, -1.0, -1.0, 1.0])
    T_board_box[2, 3] = PLATE_M / 2
    pose = pose_of_matrix(T_parent_board @ T_board_box)
    x, y, z, w = pose.quat_xyzw
    height_px, width_px = picture.shape
    metre_px = board.square_m / PX_PER_SQUARE
    spec.body(parent).add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[width_px * metre_px / 2, height_px * metre_px / 2, PLATE_M / 2],
        pos=pose.position_m,
        quat=(w, x, y, z),
        material=name,
        mass=0.0,
        contype=0,
        conaffinity=0,
    )


def _on_stand(
    board: TagBoard, settings: CameraSettings, dice: np.random.Generator
) -> tuple[Placement, Callable[[], Array]]:
    """Draw a camera around the table, that looks at where the arm works."""
    azimuth, elevation = dice.uniform((-1.2, 0.35), (1.2, 1.3))
    target_m = dice.uniform((0.4, -0.1, 0.25), (0.55, 0.1, 0.4))
    away = np.array(
        [
            math.cos(azimuth) * math.cos(elevation),
            math.sin(azimuth) * math.cos(elevation),
            math.sin(elevation),
        ]
    )
    T_base_camera = _aimed(target_m + dice.uniform(0.7, 1.1) * away, target_m)
    T_base_camera[:3, :3] @= _turn(dice.normal(size=3) * math.radians(5.0))
    T_hand_board = board_in_hand(board)
    T_hand_board[:3, :3] @= _turn(dice.normal(size=3) * math.radians(3.0))
    T_hand_board[:3, 3] += dice.normal(size=3) * 0.005

    def draw_pose() -> Array:
        """Return a pose in which the board faces the camera, with some tilt."""
        seen = np.eye(4)
        seen[:3, 3] = _sight(settings, dice) * dice.uniform(0.5, 0.95)
        spin = dice.uniform(-math.pi, math.pi)
        seen[:3, :3] = _turn(np.array([0.0, 0.0, spin])) @ _turn(_tilt(dice))
        return np.asarray(T_base_camera @ seen @ np.linalg.inv(T_hand_board))

    return Placement(
        mount=Mount.STAND,
        T_parent_camera=T_base_camera,
        T_carrier_board=T_hand_board,
        pivot_m=board_in_hand(board)[:3, 3],
    ), draw_pose


def _on_hand(
    board: TagBoard, settings: CameraSettings, dice: np.random.Generator
) -> tuple[Placement, Callable[[], Array]]:
    """Draw a camera near where Franka's mount has it, and a board that lies before the arm."""
    T_hand_camera = matrix_from_pose(HAND_CAMERA.T_parent_link) @ T_LINK_OPTICAL
    T_hand_camera[:3, :3] @= _turn(dice.normal(size=3) * math.radians(4.0))
    T_hand_camera[:3, 3] += dice.normal(size=3) * 0.01
    T_base_board = np.diag([1.0, -1.0, -1.0, 1.0])  # the print faces up
    T_base_board[:3, :3] @= _turn(np.array([0.0, 0.0, dice.uniform(-math.pi, math.pi)]))
    T_base_board[:3, 3] = dice.uniform((0.42, -0.15, PLATE_M), (0.55, 0.15, PLATE_M))
    distance_m = float(dice.uniform(0.36, 0.48))

    def draw_pose() -> Array:
        """Return a pose from which the camera looks at the middle of the board, with some tilt."""
        seen = np.eye(4)
        seen[2, 3] = distance_m
        spin = dice.uniform(-math.pi, math.pi)
        seen[:3, :3] = _turn(np.array([0.0, 0.0, spin])) @ _turn(_tilt(dice))
        return np.asarray(T_base_board @ np.linalg.inv(T_hand_camera @ seen))

    return Placement(
        mount=Mount.HAND,
        T_parent_camera=T_hand_camera,
        T_carrier_board=T_base_board,
        # As a person would take it: what is straight ahead of the hand.
        pivot_m=np.array([0.0, 0.0, distance_m]),
    ), draw_pose


def _aimed(position_m: Array, target_m: Array) -> Array:
    """Return the pose of an optical frame that looks at a point, with the picture upright."""
    T = np.eye(4)
    z = (target_m - position_m) / np.linalg.norm(target_m - position_m)
    x = np.cross(z, (0.0, 0.0, 1.0))
    x /= np.linalg.norm(x)
    T[:3, 0], T[:3, 1], T[:3, 2], T[:3, 3] = x, np.cross(z, x), z, position_m
    return T


def _turn(vector_rad: Array) -> Array:
    """Return the rotation of a rotation vector, shape (3, 3)."""
    return np.asarray(Rotation.from_rotvec(vector_rad).as_matrix())


def _tilt(dice: np.random.Generator) -> Array:
    """Return the rotation vector of a tilt by 12 to 25 degrees in any direction [rad]."""
    angle, direction = np.radians(dice.uniform(12.0, 25.0)), dice.uniform(0.0, 2 * math.pi)
    return np.array([angle * math.cos(direction), angle * math.sin(direction), 0.0])


def _sight(settings: CameraSettings, dice: np.random.Generator) -> Array:
    """Return a direction of the optical frame near the middle of the picture, z = 1."""
    u, v = dice.uniform(-0.15, 0.15, 2)
    intrinsics = settings.intrinsics
    x, y = u * intrinsics.width_px / intrinsics.fx_px, v * intrinsics.height_px / intrinsics.fy_px
    return np.array([x, y, 1.0])
