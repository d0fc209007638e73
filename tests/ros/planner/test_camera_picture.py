"""Pictures of a camera's topic for planners: which one is taken, and where there is none."""

import io
from collections.abc import Iterator

import pytest
from geometry_msgs.msg import TransformStamped
from PIL import Image as PictureFile
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import Image
from tf2_msgs.msg import TFMessage

from bbllm.core.errors import WorldError
from bbllm.core.types import Pose
from bbllm_ros.convert.records import WORLD_FRAME, stamp_to_msg, transform_to_msg
from bbllm_ros.planner import camera_picture
from bbllm_ros.planner.camera_picture import STATIC, CameraPicture
from bbllm_ros.rclpy_support.own_nodes import OwnNodes

pytestmark = pytest.mark.ros

TOPIC = 'table_camera/color/image_raw'
FRAME = 'table_camera_color_optical_frame'
DOWN = Pose(position_m=(0.7, 0.0, 1.4), quat_xyzw=(-(0.5**0.5), 0.5**0.5, 0.0, 0.0))


def image(stamp_s: float, encoding: str = 'rgb8', *, padding: int = 0) -> Image:
    """Return a picture of 4 x 2 pixels whose first channel is 200 and whose last is 10."""
    row = bytes((200, 90, 10)) * 4 + bytes(padding)
    msg = Image(height=2, width=4, step=12 + padding, encoding=encoding, data=row * 2)
    msg.header.stamp, msg.header.frame_id = stamp_to_msg(stamp_s), FRAME
    return msg


class Taking:
    """A node that takes pictures, and a camera that sends one every 20 ms, always newer."""

    def __init__(self, taker: Node, camera: Node):
        self.taker = taker
        self.picture = CameraPicture(taker, ReentrantCallbackGroup(), TOPIC)
        self.sent_s = 0.0
        self.publisher = camera.create_publisher(Image, TOPIC, 2)
        self.tf = camera.create_publisher(TFMessage, '/tf_static', STATIC)
        camera.create_timer(0.02, self.send)

    def send(self) -> None:
        self.sent_s += 1.0
        self.publisher.publish(image(self.sent_s))

    def stand(self) -> None:
        pose: TransformStamped = transform_to_msg(WORLD_FRAME, FRAME, DOWN, 0.0)
        self.tf.publish(TFMessage(transforms=[pose]))


@pytest.fixture
def taking(ros_domain: int) -> Iterator[Taking]:
    with (
        OwnNodes(args=[], domain_id=ros_domain) as nodes,
        OwnNodes(args=[], domain_id=ros_domain) as others,
    ):
        taker, camera = nodes.join('taker', '/pictures'), others.join('camera', '/pictures')
        found = Taking(taker, camera)
        nodes.spin(taker, 'taker')
        others.spin(camera, 'camera')
        yield found


def nothing() -> None:
    """Go on."""


def test_a_picture_is_newer_than_asked_and_has_the_view_of_its_camera(taking: Taking) -> None:
    taking.stand()
    newer_s = taking.sent_s + 3.0

    found = taking.picture.take(newer_s, nothing)

    assert taking.sent_s >= newer_s
    assert found.view == (
        'from above, by the camera table_camera; in it, x points up and y to the left'
    )
    with PictureFile.open(io.BytesIO(found.data)) as picture:
        assert (picture.format, picture.size) == ('JPEG', (4, 2))
    assert list(taking.taker.subscriptions) == []


def test_without_transforms_the_pose_is_unknown(
    taking: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(camera_picture, 'POSE_S', 0.1)

    found = taking.picture.take(0.0, nothing)

    assert found.view == 'by the camera table_camera, whose pose is not known'


def test_a_topic_without_pictures_is_an_error_that_names_it(
    taking: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(camera_picture, 'PICTURE_S', 1.0)
    other = CameraPicture(taking.taker, ReentrantCallbackGroup(), 'no/such_topic')

    with pytest.raises(WorldError, match=r'/pictures/no/such_topic within 1 s: no node publ'):
        other.take(0.0, nothing)
    with pytest.raises(WorldError, match=r'nothing newer than 1000000000\.00 s came'):
        taking.picture.take(1e9, nothing)
