"""The node `perception`: pictures become detections, and a fault of a camera has its reason."""

from collections.abc import Callable, Iterator

import pytest
from bbllm_interfaces.msg import Detections
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import ReliabilityPolicy

from bbllm.core.constants import SAME_S
from bbllm_ros.convert.camera_status import TOPIC, faults_from_msg
from bbllm_ros.convert.records import LATCHED, stamp_from_msg
from bbllm_ros.estimator.detection_feed import batch_from_vision
from bbllm_ros.perception.detection_outputs import vision_to_msg
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_vision.stream_health import Stream
from tests.ros.perception.perceiving import CUBE, Double, perceiving
from tests.ros.perception.pictures import PictureCamera
from tests.ros.stacks import until

pytestmark = pytest.mark.ros


class Listener:
    """Subscribes to what the node publishes."""

    def __init__(self, namespace: str = 'bbllm') -> None:
        self.received: list[Detections] = []
        self.faults: dict[str, str] = {}
        self.statuses = 0
        self._own = OwnNodes(args=[])
        self.node = self._own.join('listener', f'/{namespace}')
        self._subscription = None
        self.node.create_subscription(DiagnosticArray, TOPIC, self._receive_status, LATCHED)
        self.listen()
        self._own.spin(self.node, 'listener')

    def listen(self) -> None:
        self._subscription = self.node.create_subscription(
            Detections, 'detections', self.received.append, 10
        )

    def leave(self) -> None:
        self.node.destroy_subscription(self._subscription)

    def close(self) -> None:
        self._own.close()

    def _receive_status(self, msg: DiagnosticArray) -> None:
        self.faults = faults_from_msg(msg)
        self.statuses += 1

    def sees(self, count: int = 3) -> Callable[[], bool]:
        """Return whether so many more detections were heard than now."""
        wanted = len(self.received) + count
        return lambda: len(self.received) >= wanted


@pytest.fixture
def detector() -> Double:
    return Double()


@pytest.fixture
def listener(ros_domain: int) -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture
def camera(ros_domain: int) -> Iterator[PictureCamera]:
    with PictureCamera() as camera:
        yield camera


def test_pictures_become_detections_with_their_stamp_and_frame(
    detector: Double, camera: PictureCamera, listener: Listener
) -> None:
    with perceiving(detector):
        until(listener.sees(), 'detections')

    msg = listener.received[-1]
    assert msg.header.frame_id == 'table_camera_color_optical_frame'
    assert any(abs(stamp_from_msg(msg.header.stamp) - s) < 1e-6 for s in detector.stamps_s)
    (item,) = msg.detections
    assert (item.name, item.kind, item.color, item.confidence) == ('red_cube', 'cube', 'red', 0.9)
    assert (item.pose.position.x, item.pose.position.y, item.pose.position.z) == CUBE.position_m
    assert (item.size.x, item.size.y, item.size.z) == CUBE.size_m
    assert listener.faults == {'table_camera': ''}


def test_vision_messages_have_the_name_the_pose_and_the_box() -> None:
    msg = vision_to_msg((CUBE,), 'left', 12.5)

    (item,) = msg.detections
    assert (msg.header.frame_id, msg.header.stamp.sec) == ('left', 12)
    assert item.id == item.results[0].hypothesis.class_id == 'red_cube'
    (reported,) = batch_from_vision(msg, 'detections_3d').detections
    assert (reported.name, reported.position_m, reported.quat_xyzw, reported.confidence) == (
        CUBE.name,
        CUBE.position_m,
        CUBE.quat_xyzw,
        CUBE.confidence,
    )
    assert (item.bbox.size.x, item.bbox.size.y, item.bbox.size.z) == CUBE.size_m


def test_camera_that_publishes_with_best_effort_is_received(
    detector: Double, listener: Listener
) -> None:
    with PictureCamera(reliability=ReliabilityPolicy.BEST_EFFORT), perceiving(detector):
        until(listener.sees(), 'detections')


def test_pictures_are_subscribed_to_only_while_detections_are(
    detector: Double, camera: PictureCamera, listener: Listener
) -> None:
    listener.leave()
    with perceiving(detector):
        until(lambda: 'no node subscribes' in listener.faults.get('table_camera', ''), 'idle')
        assert not camera.watched
        listener.listen()
        until(lambda: camera.watched, 'subscription to pictures')
        until(listener.sees(), 'detections')
        listener.leave()
        until(lambda: not camera.watched, 'end of the subscription to pictures')


def test_slow_detector_gets_the_newest_picture_next(
    detector: Double, camera: PictureCamera, listener: Listener
) -> None:
    detector.allowed.clear()
    with perceiving(detector) as node:
        until(lambda: detector.stamps_s, 'first picture')
        before = node._feeds[0].dropped
        until(lambda: node._feeds[0].dropped >= before + 5, 'dropped pictures')
        detector.allowed.set()
        until(lambda: len(detector.stamps_s) >= 2, 'second picture')

    first_s, second_s = detector.stamps_s[:2]
    left_out = [s for s in camera.stamps_s if first_s + SAME_S < s < second_s - SAME_S]
    assert len(left_out) >= 5


def test_several_cameras_are_used(detector: Double, listener: Listener) -> None:
    with (
        PictureCamera(name='left'),
        PictureCamera(name='right'),
        perceiving(detector, cameras='left, right'),
    ):
        until(
            lambda: len({msg.header.frame_id for msg in listener.received}) == 2,
            'detections of two cameras',
        )


FAULTS: dict[str, tuple[Callable[[PictureCamera], None], str]] = {
    'unplugged': (
        lambda camera: camera.silent.update(Stream),
        'has sent nothing on /faults/table_camera/color/image_raw for',
    ),
    'other encoding': (
        lambda camera: setattr(camera, 'color_encoding', 'yuv422'),
        "encoding 'yuv422'; rgb8 and bgr8",
    ),
    'stamps apart': (
        lambda camera: setattr(camera, 'depth_late_s', 0.03),
        'colour and depth whose stamps differ by',
    ),
}


@pytest.fixture(scope='module')
def used(ros_domain: int) -> Iterator[tuple[PictureCamera, Listener]]:
    listener = Listener('faults')
    with PictureCamera(namespace='faults') as camera, perceiving(Double(), 'faults'):
        yield camera, listener
    listener.close()


@pytest.mark.parametrize('fault', FAULTS)
def test_fault_of_a_camera_ends_its_detections_with_a_reason_until_it_is_mended(
    used: tuple[PictureCamera, Listener], fault: str
) -> None:
    (camera, listener), (breaks, expected) = used, FAULTS[fault]
    until(listener.sees(), 'detections')

    breaks(camera)
    until(lambda: expected in listener.faults.get('table_camera', ''), f'fault {expected!r}')
    statuses = listener.statuses
    until(lambda: listener.statuses > statuses, 'another status')
    # Detections that were published before the fault was stated have been received by now.
    count, statuses = len(listener.received), listener.statuses
    until(lambda: listener.statuses >= statuses + 2, 'two more statuses')
    reported = listener.faults['table_camera']
    during = len(listener.received) - count
    camera.mend()
    until(listener.sees(), 'detections after the fault')
    until(lambda: not listener.faults['table_camera'], 'end of the fault')

    assert reported.startswith('The camera table_camera ')
    assert reported.endswith('.')
    assert during == 0


def test_camera_without_a_place_in_the_world_is_a_fault(
    detector: Double, listener: Listener
) -> None:
    with PictureCamera(name='loose', mounted=False), perceiving(detector, cameras='loose'):
        until(lambda: 'no known pose' in listener.faults.get('loose', ''), 'fault of tf')

    assert 'loose_color_optical_frame' in listener.faults['loose']
    assert not listener.received


def test_camera_that_is_not_there_is_a_fault_with_the_topic(
    detector: Double, listener: Listener
) -> None:
    with perceiving(detector, cameras='/camera/camera'):
        until(lambda: listener.faults.get('/camera/camera'), 'fault of a missing camera')
        until(
            lambda: (
                'has sent nothing on /camera/camera/color/image_raw'
                in listener.faults['/camera/camera']
            ),
            'name of the topic',
        )
