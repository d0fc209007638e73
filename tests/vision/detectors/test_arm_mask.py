"""The mask of the robot, against simulated pictures."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.arm.limits import Q_READY
from bbllm.sim import drawing
from bbllm.sim.camera_settings import d435
from bbllm.sim.cameras import SimCameras
from bbllm.sim.drawing import RenderError
from bbllm.sim.scene_file import make_scene
from bbllm.sim.simulation import Simulation
from bbllm.vision.detectors.arm_mask import arm_mask
from bbllm.vision.detectors.views import CameraView

EXACT = replace(d435(), subpixel_px=0.0, edge_m=0.0, color_noise=0.0)
HAND_WIDTH_M = 0.04


@pytest.mark.parametrize('turn_rad', [0.0, 0.8, -0.8, 1.5])
def test_what_rises_above_an_empty_table_is_in_the_mask(turn_rad: float) -> None:
    position_rad = Q_READY + np.array([0.2, 0.4, 0.0, 0.3, 0.0, 0.0, turn_rad])
    simulation = Simulation(make_scene({'objects': []}))
    simulation.data.qpos[:7], simulation.data.qpos[7:9] = position_rad, HAND_WIDTH_M / 2
    with SimCameras(simulation, EXACT) as cameras:
        try:
            image = cameras.take('table_camera')
        except RenderError as error:
            if drawing.PACKAGES not in str(error):
                raise
            pytest.skip(str(error))
        T_world_camera = cameras.pose('table_camera')

    mask = arm_mask(position_rad, HAND_WIDTH_M, image.intrinsics, T_world_camera)

    heights = CameraView.of(image.intrinsics, T_world_camera).heights(image.depth_m)
    risen = heights > 0.05
    assert np.count_nonzero(risen) > 1000
    assert not np.count_nonzero(risen & ~mask)
    assert np.count_nonzero(mask) < 2 * np.count_nonzero(risen)
