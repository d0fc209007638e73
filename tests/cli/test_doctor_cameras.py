"""What `bbllm doctor` finds of a camera, and what it names as the remedy."""

from dataclasses import replace
from typing import Any

import pytest

from bbllm.core.types import Pose
from bbllm.scene.camera import Intrinsics
from bbllm_ros.checks.cameras import judge_camera
from bbllm_ros.checks.machine import Level, fail
from bbllm_vision.camera_report import CameraReport

NAME = '/bbllm/table_camera'
DEPTH = f'{NAME}/aligned_depth_to_color/image_raw'
FINE = CameraReport(
    name=NAME,
    rate_hz=14.9,
    size_px=(640, 480),
    depth_size_px=(640, 480),
    frame='optical',
    depth_frame='optical',
    intrinsics=Intrinsics(
        width_px=640, height_px=480, fx_px=615.0, fy_px=614.0, cx_px=319.5, cy_px=239.5
    ),
    depth_share=0.93,
    pose=Pose(position_m=(0.75, 0.0, 1.4)),
)


def test_good_camera_is_one_line_with_its_figures() -> None:
    (found,) = judge_camera(FINE)

    assert found.level is Level.OK
    for figure in ('15 Hz', '640 x 480', 'fx 615 fy 614', '93%', '0.750 0.000 1.400 in fr3_link0'):
        assert figure in found.text


@pytest.mark.parametrize(
    ('change', 'text', 'remedy'),
    [
        ({'unpublished': (DEPTH,)}, f'no node publishes {DEPTH}', 'align_depth.enable:=true'),
        ({'unpublished': (f'{NAME}/color/image_raw',)}, 'no node publishes', 'Start the driver'),
        ({'silent': (DEPTH,)}, f'nothing came on {DEPTH}', 'cable'),
        ({'fault': "encoding 'mono8'", 'intrinsics': None}, 'mono8', 'docs/perception.md'),
        ({'rate_hz': 2.0}, '2.0 pictures a second', 'overloaded'),
        ({'size_px': (848, 480)}, 'a camera_info of 640 x 480', 'one size'),
        ({'depth_size_px': (848, 480)}, 'not registered', 'align_depth.enable:=true'),
        ({'depth_frame': 'imager'}, "in 'imager' is not registered", 'align_depth.enable:=true'),
        ({'depth_share': 0.05}, '5% of the pixels', 'Uncover'),
        ({'pose': None, 'pose_fault': 'Nothing joins them.'}, 'Nothing joins', '/tf_static'),
    ],
)
def test_fault_of_a_camera_has_its_remedy(change: dict[str, Any], text: str, remedy: str) -> None:
    found = list(judge_camera(replace(FINE, **change), fail))

    texts = {finding.text: finding for finding in found if text in finding.text}
    assert texts, [finding.text for finding in found]
    (finding,) = texts.values()
    assert finding.level is Level.FAIL
    assert remedy in finding.remedy
    assert finding.text.startswith(NAME)
    assert not [finding for finding in found if finding.level is Level.OK]
