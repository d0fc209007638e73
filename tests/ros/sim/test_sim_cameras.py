"""The simulated cameras over ROS: names, stamps and frames; drawn for subscribers only."""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from bbllm.core.types import Pose
from bbllm.scene.scene_file import load_scene
from bbllm.scene.transforms import FrameError, TransformTree, angle_between
from bbllm.sim.cameras import SimCameras
from bbllm.sim.drawing import RenderError
from bbllm.sim.simulation import Simulation
from bbllm_bench.benchmarks.time.processes import children_of
from bbllm_ros.convert.records import LATCHED, stamp_from_msg, transforms_from_msg
from tests.ros.sim_clients import received_on
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

CAMERAS = ('table_camera', 'hand_camera')
COLOR, DEPTH = 'color/image_raw', 'aligned_depth_to_color/image_raw'
COLOR_INFO, DEPTH_INFO = 'color/camera_info', 'aligned_depth_to_color/camera_info'
SIZE_PX = (848, 480)


@pytest.fixture(scope='module')
def simulation() -> Simulation:
    """The simulation that the node starts with; skips where nothing can be drawn."""
    simulation = Simulation(load_scene('plus_sign'))
    try:
        with SimCameras(simulation) as cameras:
            cameras.take('table_camera')
    except RenderError as error:
        pytest.skip(str(error))
    return simulation


@pytest.fixture(scope='module')
def sim(ros_domain: int, simulation: Simulation) -> Iterator[Running]:
    params = {'mujoco_sim': {'scene': 'plus_sign'}}
    with started(('mujoco_sim',), speed=1.0, params=params) as running:
        yield running


@contextmanager
def pictures(sim: Running, camera: str, topics: Sequence[str] = (COLOR, DEPTH)) -> Iterator[Any]:
    """Subscribe as a detector does; yield the lists of messages, in the order of *topics*."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                received_on(
                    sim,
                    CameraInfo if topic.endswith('info') else Image,
                    f'{camera}/{topic}',
                    qos_profile_sensor_data,
                )
            )
            for topic in topics
        ]


def stamps(messages: Sequence[Any]) -> list[float]:
    return [stamp_from_msg(message.header.stamp) for message in messages]


def pixels(message: Image) -> NDArray[Any]:
    shape: tuple[int, ...] = (message.height, message.width)
    kind = np.dtype({'rgb8': 'u1', '16UC1': '<u2'}[message.encoding])
    if message.encoding == 'rgb8':
        shape = (*shape, 3)
    assert message.step == kind.itemsize * math.prod(shape[1:])
    return np.frombuffer(message.data, kind).reshape(shape)


def drawing_processes(sim: Running) -> set[int]:
    """Return the processes that draw for the cameras of a simulator: its children."""
    return children_of(sim.stack.processes['mujoco_sim'].pid)


def test_nothing_is_drawn_without_subscribers(sim: Running) -> None:
    until(lambda: not drawing_processes(sim), 'end of what has drawn before')
    with pictures(sim, 'table_camera') as (colors, _):
        until(lambda: colors, 'picture')
        assert len(drawing_processes(sim)) == 1
    until(lambda: not drawing_processes(sim), 'end of the process that draws')
    with pictures(sim, 'hand_camera', [DEPTH]) as (depths,):
        until(lambda: depths, 'picture of another process')


@pytest.mark.parametrize('camera', CAMERAS)
def test_pictures_have_the_form_of_the_real_driver(sim: Running, camera: str) -> None:
    with pictures(sim, camera, [COLOR, DEPTH, COLOR_INFO, DEPTH_INFO]) as received_:
        colors, depths, infos, depth_infos = received_

        def whole() -> list[float]:
            """Return the moments of which all four messages came."""
            return sorted(set.intersection(*(set(stamps(messages)) for messages in received_)))

        # A machine that is busy loses pictures, and not of all topics the same.
        until(lambda: len(whole()) >= 3, 'three moments of all four messages')
    first = whole()[:1]
    color = next(each for each in colors if stamps([each]) == first)
    depth = next(each for each in depths if stamps([each]) == first)
    width, height = SIZE_PX
    assert pixels(color).shape == (height, width, 3)
    assert pixels(depth).shape == (height, width)
    assert 300 < np.median(pixels(depth)) < 1500  # millimetres
    for message in (color, depth, infos[0], depth_infos[0]):
        assert message.header.frame_id == f'{camera}_color_optical_frame'
    for info in (infos[0], depth_infos[0]):
        assert (info.width, info.height) == SIZE_PX
        assert info.k[0] == info.k[4] == info.p[0] == info.p[5] == 615.0
        assert info.k[2] == info.p[2] == (width - 1) / 2
        assert not any(info.d)


def test_the_rate_is_at_most_15_a_simulated_second(sim: Running) -> None:
    with pictures(sim, 'hand_camera', [COLOR_INFO]) as (infos,):
        until(lambda: len(infos) > 10, 'ten pictures')
    gaps = np.diff(stamps(infos))
    assert gaps.min() > 0.0
    assert gaps.mean() >= 1.0 / 15.0 - 0.01


@pytest.mark.parametrize('camera', CAMERAS)
def test_frames_give_the_pose_of_the_picture(
    sim: Running, camera: str, simulation: Simulation
) -> None:
    node = sim.client.node
    tree, seen = TransformTree(), set()

    def take(message: TFMessage, static: bool) -> None:
        for parent, child, pose, stamp_s in transforms_from_msg(message):
            tree.add(parent, child, pose, stamp_s, static)
            seen.add(child)

    def topic(name: str) -> str:
        published: list[tuple[str, list[str]]] = node.get_publisher_names_and_types_by_node(
            'mujoco_sim', node.get_namespace()
        )
        return next(each for each, _ in published if each.rsplit('/', 1)[1] == name)

    subscriptions = [
        node.create_subscription(TFMessage, topic('tf_static'), lambda m: take(m, True), LATCHED),
        node.create_subscription(TFMessage, topic('tf'), lambda m: take(m, False), 10),
    ]
    frames = {f'{camera}_{end}' for end in ('link', 'color_frame', 'color_optical_frame')}
    poses: list[Pose] = []

    def find() -> bool:
        for color in colors:
            with suppress(FrameError):  # its transforms may come later than the picture
                stamp_s = stamp_from_msg(color.header.stamp)
                poses.append(tree.lookup('fr3_link0', color.header.frame_id, stamp_s))
        return bool(poses)

    with pictures(sim, camera, [COLOR]) as (colors,):
        until(lambda: frames <= seen and find(), 'picture with all of its transforms')
    for subscription in subscriptions:
        node.destroy_subscription(subscription)

    found = poses[0]
    wanted = SimCameras(simulation).pose(camera)
    assert found.position_m == pytest.approx(wanted.position_m, abs=0.002)
    assert angle_between(found.quat_xyzw, wanted.quat_xyzw) < 0.003
