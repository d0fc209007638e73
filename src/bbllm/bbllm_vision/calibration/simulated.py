"""
Calibrations in simulation, where it is known where the camera is.

The arm moves in the physics; the board is in the model that is drawn alone: a print on a stiff
plate that the fingers grip by an edge, or that lies on the table. Camera and board are placed at
random around where people put them, and the procedure has no access to these poses.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.driver import N_JOINTS
from bbllm.arm.envelope import load_envelope
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.robots.registry import load_robot
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.camera_settings import d435
from bbllm.sim.cameras import SimCameras
from bbllm.sim.driver import SimDriver
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation
from bbllm_vision.board import TagBoard
from bbllm_vision.calibration.arm_mover import ArmMover, hand_pose
from bbllm_vision.calibration.collecting import ArmPicture
from bbllm_vision.calibration.placements import (
    MODELS,
    PLATE_M,
    T_LINK_OPTICAL,
    Placement,
    add_board,
    place_and_start,
    scene_with_plate,
)
from bbllm_vision.hand_eye import Mount

SETTLE_S = 0.3
"""After the arm has come to rest, until the picture [s]."""
GRIP_SPEED_M_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupErrors:
    """What a calibration takes to be exact, and is not: standard deviations over set-ups."""

    joint_rad: float = 0.0
    """Constant offset of each joint from what it measures [rad]."""
    focal_share: float = 0.0
    """Error of the focal length that camera_info gives, as a share of it."""


EXACT = SetupErrors()


@contextmanager
def rig(
    mount: Mount, board: TagBoard, *, seed: int, errors: SetupErrors = EXACT
) -> Iterator[tuple[Placement, ArmMover, Callable[[], ArmPicture]]]:
    """
    Yield where all is, an arm from where the board is seen, and what takes a picture.

    Raises:
        CalibrationError: None of many cameras that are drawn sees the board.
    """
    simulation, settings = Simulation(SceneFile(name='calibration')), d435()
    driver = SimDriver(SimulatedRobot(simulation))
    mover = ArmMover(driver, load_envelope())
    if mount is Mount.STAND:
        driver.move_gripper(PLATE_M, GRIP_SPEED_M_S)
    position_rad = driver.joint_state().position_rad
    mover.update(scene_with_plate(simulation.objects(), mount, board, position_rad))
    dice = np.random.default_rng(seed)
    truth = place_and_start(mover, mount, board, settings, dice)
    offsets_rad = dice.normal(size=N_JOINTS) * errors.joint_rad
    focal = 1.0 + dice.normal() * errors.focal_share
    T_parent_link = truth.T_parent_camera @ np.linalg.inv(T_LINK_OPTICAL)
    camera = replace(MODELS[mount], T_parent_link=pose_of_matrix(T_parent_link))
    parent = load_robot().hand.body if mount is Mount.STAND else load_robot().base_link

    def shoot() -> ArmPicture:
        driver.wait(SETTLE_S)
        position_rad = driver.joint_state().position_rad
        image = cameras.take(camera.name)
        exact = image.intrinsics
        return ArmPicture(
            rgb=image.rgb,
            intrinsics=replace(exact, fx_px=focal * exact.fx_px, fy_px=focal * exact.fy_px),
            T_base_hand=hand_pose(position_rad + offsets_rad),
        )

    with SimCameras(
        simulation,
        replace(settings, mounts=(camera,)),
        seed=seed,
        add=lambda spec: add_board(spec, board, parent, truth.T_carrier_board),
    ) as cameras:
        yield truth, mover, shoot
