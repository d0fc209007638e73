"""A camera is calibrated over its topics, while an arm is guided; nothing is sent to a robot."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image, JointState
from tf2_msgs.msg import TFMessage
from typer.testing import CliRunner

from bbllm.arm.driver import Array
from bbllm.cli.main import app
from bbllm.core.errors import WorldError
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import pose_of_matrix
from bbllm_ros.calibration import arm_camera
from bbllm_ros.calibration.arm_camera import ArmCamera
from bbllm_ros.commands import calibrate_real as real
from bbllm_ros.convert.images import info_to_msg, rgb_to_msg
from bbllm_ros.convert.records import LATCHED, header, transform_to_msg
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_vision.board import BoardSighting
from bbllm_vision.calibration.collecting import hand_pose
from bbllm_vision.calibration.simulated import GUIDED_RAD
from bbllm_vision.hand_eye import Mount, predicted
from tests.ros.stacks import until
from tests.vision.drawn_boards import INTRINSICS, picture_of, pose, sighting_of

pytestmark = pytest.mark.ros

NAMESPACE = 'bbllm_real'
OPTICAL = 'camera_color_optical_frame'
T_LINK_OPTICAL = pose((0.0, 0.015, 0.0), (-69.28, 69.28, -69.28))
Z = pose((0.0, 0.0, 0.2), (90.0, 0.0, 0.0))
START = hand_pose(FR3.home_rad)
X = START @ Z @ np.linalg.inv(pose((0.0, 0.0, 0.6), (20.0, 5.0, 0.0)))
PERIOD_S = 0.03
SETTLING = 10
"""So many pictures after a motion the arm rests, also for who takes them late."""


class GuidedArm:
    """Publishes what a driver and realsense2_camera do; a test moves the arm."""

    def __init__(self) -> None:
        self._own = OwnNodes()
        self._lock = threading.Lock()
        self._count = 0
        self._position_rad = np.array(FR3.home_rad)
        self._rgb = picture_of(predicted(hand_pose(FR3.home_rad), Mount.STAND, X, Z))
        node = self._own.join('guided_arm', f'/{NAMESPACE}')
        self._images = node.create_publisher(Image, '/camera/camera/color/image_raw', 2)
        self._infos = node.create_publisher(CameraInfo, '/camera/camera/color/camera_info', 2)
        self._joints = node.create_publisher(
            JointState, 'franka/joint_states', QoSProfile(depth=1)
        )
        static = node.create_publisher(TFMessage, '/tf_static', LATCHED)
        link = pose_of_matrix(T_LINK_OPTICAL)
        static.publish(TFMessage(transforms=[transform_to_msg('camera_link', OPTICAL, link, 0.0)]))
        self.drift_rad = 0.0
        node.create_timer(PERIOD_S, self._publish)
        self._own.spin(node, 'guided arm')

    def guide(self, position_rad: Array) -> None:
        position = np.array(position_rad)
        rgb = picture_of(predicted(hand_pose(position), Mount.STAND, X, Z))
        with self._lock:  # no picture of one posture with the joint states of another
            self._position_rad, self._rgb = position, rgb
            count = self._count + SETTLING
        until(lambda: self._count >= count, 'pictures of the new posture')

    def _publish(self) -> None:
        with self._lock:
            self._position_rad[6] += self.drift_rad
            position, rgb = self._position_rad.tolist(), self._rgb
            self._count += 1
        joints = JointState(header=header(0.0), name=list(FR3.joints))
        joints.position, joints.velocity = position, [0.0] * 7
        self._joints.publish(joints)
        self._infos.publish(info_to_msg(INTRINSICS, 0.0, OPTICAL))
        self._images.publish(rgb_to_msg(rgb, 0.0, OPTICAL))

    def close(self) -> None:
        self._own.close()


@pytest.fixture
def arm(ros_domain: int) -> Iterator[GuidedArm]:
    """Yield an arm that stands where the board is seen."""
    guided = GuidedArm()
    yield guided
    guided.close()


class Person:
    """Guides the arm to the next posture, and presses Enter."""

    def __init__(self, arm: GuidedArm, postures_rad: list[Array]):
        self._arm, self._left = arm, postures_rad

    def readline(self) -> str:
        if not self._left:
            return 'q\n'
        self._arm.guide(self._left.pop(0))
        return '\n'


def seen_postures(count: int) -> list[Array]:
    """Return joint positions from which the pose of the board can be seen."""
    guided = FR3.home_rad + np.random.default_rng(2).uniform(-1, 1, (50, 7)) * GUIDED_RAD
    boards = ((one, predicted(hand_pose(one), Mount.STAND, X, Z)) for one in guided)
    return [one for one, board in boards if isinstance(sighting_of(board), BoardSighting)][:count]


def test_a_guided_arm_calibrates_the_camera(
    arm: GuidedArm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    away = FR3.home_rad.copy()
    away[5] += 1.5  # the board is out of the picture: no view, and the person goes on
    person = Person(arm, [away, *seen_postures(9)])
    monkeypatch.setattr(real, 'sys', type('Sys', (), {'stdin': person}))
    path = tmp_path / 'camera.yaml'
    words = ['calibrate', 'real', '--views', '12', '--out', str(path), '--json']
    result = CliRunner().invoke(app, words, prog_name='bbllm')
    assert result.exit_code == 0, result.stderr
    assert 'picture 1: no view: 0 of 15 corners' in result.stderr
    assert 'view 9 of 12' in result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    assert (data['parent_frame'], data['child_frame']) == ('fr3_link0', 'camera_link')
    truth = X @ np.linalg.inv(T_LINK_OPTICAL)
    written = yaml.safe_load(path.read_text())
    assert written['xyz_m'] == pytest.approx(truth[:3, 3], abs=2e-3)
    assert written['views'] == 9


def test_an_arm_that_moves_is_no_view(arm: GuidedArm) -> None:
    with ArmCamera(NAMESPACE, '/camera/camera') as camera:
        assert camera.wait_for_frame() == OPTICAL
        assert camera.take().intrinsics == INTRINSICS
        arm.drift_rad = 0.002
        with pytest.raises(WorldError, match='The arm moved while the picture was taken'):
            camera.take()


def test_a_topic_that_is_silent_is_named(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arm_camera, 'FIRST_S', 0.2)
    silent = pytest.raises(WorldError, match='/bbllm_real/wrist/color/image_raw within 0 s')
    with ArmCamera(NAMESPACE, 'wrist') as camera, silent:
        camera.wait_for_frame()
