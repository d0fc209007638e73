"""The mask of the robot, and what is detected beside it, on simulated pictures."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bbllm.arm.driver import Array
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.scene.camera import RgbdImage
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.scene_file import SceneFile, make_scene
from bbllm.scene.transforms import compose
from bbllm.sim import drawing
from bbllm.sim.camera_settings import CameraSettings, d435
from bbllm.sim.cameras import SimCameras
from bbllm.sim.drawing import RenderError
from bbllm.sim.simulation import Simulation
from bbllm_vision.detectors.arm_mask import arm_mask
from bbllm_vision.detectors.blocks import BlocksDetector
from bbllm_vision.detectors.views import CameraView

EXACT = replace(d435(), subpixel_px=0.0, edge_m=0.0, color_noise=0.0)
HAND_WIDTH_M, HAND_OPEN_M = 0.04, 0.048


def picture(
    scene: SceneFile, position_rad: Array, width_m: float, settings: CameraSettings
) -> tuple[RgbdImage, Pose]:
    """Return a picture of the camera over the table, and where that is."""
    simulation = Simulation(scene)
    simulation.data.qpos[:7], simulation.data.qpos[7:9] = position_rad, width_m / 2
    with SimCameras(simulation, settings) as cameras:
        try:
            return cameras.take('table_camera'), cameras.pose('table_camera')
        except RenderError as error:
            if drawing.PACKAGES not in str(error):
                raise
            pytest.skip(str(error))


@pytest.mark.parametrize('turn_rad', [0.0, 0.8, -0.8, 1.5])
def test_what_rises_above_an_empty_table_is_in_the_mask(turn_rad: float) -> None:
    position_rad = FR3.home_rad + np.array([0.2, 0.4, 0.0, 0.3, 0.0, 0.0, turn_rad])
    image, T_world_camera = picture(make_scene({'objects': []}), position_rad, HAND_WIDTH_M, EXACT)

    mask = arm_mask(position_rad, HAND_WIDTH_M, image.intrinsics, T_world_camera)

    heights = CameraView.of(image.intrinsics, T_world_camera).heights(image.depth_m)
    risen = heights > 0.05
    assert np.count_nonzero(risen) > 1000
    assert not np.count_nonzero(risen & ~mask)
    assert np.count_nonzero(mask) < 2 * np.count_nonzero(risen)


@pytest.mark.parametrize(
    ('color', 'place_m', 'joints_rad'),
    [
        # Reported 16 mm off in `segregate` of the suite `tabletop`, seed 4242: fingers counted.
        ('black', (0.238, 0.291), (0.885, -0.031, 0, -2.804, 0, 2.773, 2.718)),
        # 2 cm off in `pairs_a_side`, seed 77: sides passed for a top that the hand hides.
        ('black', (0.288, 0.466), (0.91, 0.346, 0.103, -2.231, -0.065, 2.574, 2.372)),
        ('olive', (0.168, -0.519), (-1.258, 0.339, 0, -2.24, 0, 2.579, -2.043)),
    ],
)
def test_a_cylinder_under_the_hand_is_where_it_is_or_not_reported(
    color: str,
    place_m: tuple[float, float],
    joints_rad: tuple[float, ...],
) -> None:
    scene = make_scene(
        {
            'objects': [{'name': 'can', 'kind': 'cylinder', 'color': color, 'xy': place_m}],
            'locations': [{'name': 'location_A', 'xy': place_m}],
        }
    )
    over_it_rad = np.array(joints_rad)
    image, T_world_camera = picture(scene, over_it_rad, HAND_OPEN_M, d435())
    mask = arm_mask(over_it_rad, HAND_OPEN_M, image.intrinsics, T_world_camera)
    detector = BlocksDetector(Catalogue.of_objects(scene.movables), scene.fixtures)

    for found in detector.detect(image, T_world_camera, ignored=mask):
        seen = Pose(position_m=found.position_m, quat_xyzw=found.quat_xyzw)
        position_m = compose(T_world_camera, seen).position_m
        assert math.dist(position_m, scene.movables[0].pose.position_m) < 0.003
