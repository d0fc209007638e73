"""A picture becomes detections, or the reason why not; a double stands for the detector."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from bbllm.arm.driver import JointState
from bbllm.core.errors import ModelUnavailableError
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.scene.camera import Intrinsics, Mask, RgbdImage
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import TransformTree
from bbllm_vision.detectors.picture_reader import PictureReader, RobotClock
from bbllm_vision.detectors.sight import Hidden
from bbllm_vision.picture_health import HealthLimits, PictureFault

CUBE = Detection(name='cube', position_m=(0.1, 0.0, 0.8), quat_xyzw=(0.0, 0.0, 0.0, 1.0))
CAMERA = Intrinsics(width_px=8, height_px=6, fx_px=9.0, fy_px=9.0, cx_px=4.0, cy_px=3.0)
AT = Pose(position_m=(0.5, 0.0, 1.0), quat_xyzw=(1.0, 0.0, 0.0, 0.0))


@dataclass
class Double:
    name: str = 'double'
    poses: list[Pose] = field(default_factory=list)
    ignored: list[Mask | None] = field(default_factory=list)
    fails: bool = False

    def detect(
        self, image: RgbdImage, T_world_camera: Pose, *, ignored: Mask | None = None
    ) -> tuple[Detection, ...]:
        self.ignored.append(ignored)
        if self.fails:
            raise ModelUnavailableError('the server is down.')
        self.poses.append(T_world_camera)
        return (CUBE,)


def picture(stamp_s: float = 5.0, frame: str = 'left_optical') -> RgbdImage:
    rng = np.random.default_rng(round(stamp_s * 1000))
    return RgbdImage(
        rgb=rng.integers(80, 90, (6, 8, 3)).astype(np.uint8),
        depth_m=rng.normal(0.8, 0.01, (6, 8)).astype(np.float32),
        intrinsics=CAMERA,
        stamp_s=stamp_s,
        frame=frame,
    )


def named(
    found: tuple[Detection, ...], T_world_camera: Pose, hidden: Hidden
) -> tuple[Detection, ...]:
    return tuple(replace(item, name=f'{item.name}_1') for item in found)


def without_robot(stamp_s: float) -> JointState | None:
    return None


@pytest.fixture
def detector() -> Double:
    return Double()


@pytest.fixture
def reader(detector: Double) -> PictureReader:
    tree = TransformTree()
    tree.add('fr3_link0', 'left_optical', AT, 0.0, static=True)
    return PictureReader(detector, named, tree, without_robot, HealthLimits(), max_delay_s=2.0)


def test_good_picture_gives_named_detections_of_a_camera_in_the_world(
    reader: PictureReader, detector: Double
) -> None:
    found = reader.read('left', picture(), 5.1)

    assert not isinstance(found, PictureFault)
    assert [(item.name, item.position_m) for item in found] == [('cube_1', CUBE.position_m)]
    (pose,) = detector.poses
    assert pose.position_m == pytest.approx(AT.position_m)
    assert detector.ignored == [None]


def test_robot_at_the_time_of_the_picture_is_left_out_and_hides_what_is_below_it() -> None:
    tree = TransformTree()
    tree.add('fr3_link0', 'left_optical', AT, 0.0, static=True)
    ready = JointState(
        position_rad=FR3.home_rad, velocity_rad_s=np.zeros(7), width_m=0.08, stamp_s=5.0
    )
    asked_s: list[float] = []
    hides: list[Hidden] = []

    def robot_at(stamp_s: float) -> JointState:
        asked_s.append(stamp_s)
        return ready

    def naming(
        found: tuple[Detection, ...], T_world_camera: Pose, hidden: Hidden
    ) -> tuple[Detection, ...]:
        hides.append(hidden)
        return found

    detector = Double()
    reader = PictureReader(detector, naming, tree, robot_at, HealthLimits(), max_delay_s=2.0)
    wide = Intrinsics(width_px=320, height_px=240, fx_px=200.0, fy_px=200.0, cx_px=160, cy_px=120)
    bare = picture()
    image = RgbdImage(
        rgb=np.resize(bare.rgb, (240, 320, 3)),
        depth_m=np.ones((240, 320), np.float32),
        intrinsics=wide,
        stamp_s=bare.stamp_s,
        frame=bare.frame,
    )

    assert not isinstance(reader.read('left', image, 5.1), PictureFault)

    (mask,), (hidden,) = detector.ignored, hides
    assert mask is not None
    x, y, z = FR3.kinematics.forward(ready.position_rad)[:3, 3].tolist()
    # It looks straight down from 1 m over (0.5, 0): x is to the right, and y is up.
    below = (0.5 + (x - 0.5) / (1 - z), y / (1 - z), 0.0)
    assert mask[round(120 - 200 * below[1]), round(160 + 200 * (below[0] - 0.5))]
    assert not mask[210, 250]
    assert asked_s == [5.0]
    assert hidden(below)
    assert not hidden((0.75, -0.3, 0.0))


@pytest.mark.parametrize(
    ('stamp_s', 'now_s', 'message'),
    [
        (0.0, None, 'without a stamp'),
        (2.9, 5.0, '2.1 s late on the clock of the robot'),
        (7.1, 5.0, '2.1 s ahead on the clock of the robot'),
    ],
)
def test_stamps_of_another_clock_are_a_fault(
    reader: PictureReader, detector: Double, stamp_s: float, now_s: float | None, message: str
) -> None:
    fault = reader.read('left', picture(stamp_s), now_s)

    assert isinstance(fault, PictureFault)
    assert message in fault.text
    assert not detector.poses


def test_stamps_are_not_judged_while_the_clock_of_the_robot_is_not_known(
    reader: PictureReader,
) -> None:
    assert not isinstance(reader.read('left', picture(99.0), None), PictureFault)


def test_camera_that_no_transform_joins_to_the_world_is_a_fault_with_the_frames(
    reader: PictureReader,
) -> None:
    fault = reader.read('right', picture(frame='right_optical'), None)

    assert isinstance(fault, PictureFault)
    assert fault.reason == 'frame'
    assert 'right_optical' in fault.text and '/tf_static' in fault.text


def test_detector_that_fails_is_named(reader: PictureReader, detector: Double) -> None:
    detector.fails = True

    fault = reader.read('left', picture(), None)

    assert isinstance(fault, PictureFault)
    assert fault.text.endswith('the detector double cannot use: the server is down')


def test_each_camera_has_its_own_size() -> None:
    tree = TransformTree()
    for name in ('left', 'right'):
        tree.add('fr3_link0', name, AT, 0.0, static=True)
    reader = PictureReader(Double(), named, tree, without_robot, HealthLimits(), max_delay_s=2.0)
    small = Intrinsics(width_px=4, height_px=3, fx_px=9.0, fy_px=9.0, cx_px=4.0, cy_px=3.0)
    whole = picture(frame='left')
    half = RgbdImage(
        rgb=whole.rgb[:3, :4],
        depth_m=whole.depth_m[:3, :4],
        intrinsics=small,
        stamp_s=5.0,
        frame='right',
    )

    assert not isinstance(reader.read('left', whole, None), PictureFault)
    assert not isinstance(reader.read('right', half, None), PictureFault)
    assert isinstance(reader.read('left', half, None), PictureFault)


def test_clock_is_known_while_stamps_change() -> None:
    clock = RobotClock(forget_after_s=0.5)
    assert clock.now_s(1.0) is None

    clock.take(100.0, 1.0)
    clock.take(100.0, 1.4)

    assert clock.now_s(1.4) == 100.0
    assert clock.now_s(1.6) is None
    clock.take(100.7, 1.7)
    assert clock.now_s(1.7) == 100.7
