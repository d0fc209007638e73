"""A camera that fails: get_scene says which and what would do, and the arm stays where it is."""

import time
from collections.abc import Callable, Iterator

import pytest
from bbllm_interfaces.msg import SimGoal
from bbllm_interfaces.srv import GetScene

from bbllm.core.errors import SceneError
from bbllm.core.types import Code, SkillCall, Status
from bbllm.robots.fr3 import FR3
from bbllm_ros.convert.records import stamp_from_msg, stamp_to_msg
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.sim.topics import GOALS
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import Stack, StackConfig
from bbllm_vision.stream_health import Stream
from tests.doubles.fork_server import serve_module
from tests.ros.perception.perceiving import CUBE, Double, perceiving
from tests.ros.perception.pictures import PictureCamera
from tests.ros.sim_clients import received_on
from tests.ros.stacks import Background, Running, started, until

pytestmark = pytest.mark.ros

PARAMS: dict[str, dict[str, Value]] = {
    'state_estimator': {'sources': 'camera', 'scene': 'tabletop'},
    # Its own camera has the name, and so the frames, of the one of the test.
    'mujoco_sim': {'cameras': False},
}
NODES = ('mujoco_sim', 'state_estimator', 'fr3_executor')


@pytest.fixture(scope='module')
def detector() -> Double:
    return Double()


@pytest.fixture(scope='module')
def seen(ros_domain: int, detector: Double) -> Iterator[tuple[Running, PictureCamera]]:
    with (
        PictureCamera(simulated=True) as camera,
        perceiving(detector, scene='tabletop'),
        started(NODES, params=PARAMS, speed=1.0) as running,
    ):
        yield running, camera


def test_scene_has_what_pictures_show_and_the_furniture_of_the_file(
    seen: tuple[Running, PictureCamera],
) -> None:
    running, _ = seen
    until(lambda: running.in_scene('red_cube'), 'the cube of the detector')

    scene = running.client.scene()

    # The camera looks straight down from 1 m over (0.5, 0): x is x there, and y is -y.
    x, y, z = CUBE.position_m
    assert scene.object('red_cube').pose.position_m == pytest.approx((0.5 + x, -y, 1 - z))
    assert 'location_A' in scene.names
    assert 'green_cube' not in scene.names  # the simulator has it, and no picture shows it


def test_detector_is_given_the_pixels_of_the_robot(
    seen: tuple[Running, PictureCamera], detector: Double
) -> None:
    until(lambda: detector.ignored and detector.ignored[-1] is not None, 'pixels of the robot')

    mask = detector.ignored[-1]
    assert mask is not None
    # 60 px for each metre at a distance of 1 m; the middle of the picture is (0.5, 0).
    x, y, z = FR3.kinematics.forward(FR3.home_rad)[:3, 3].tolist()
    assert mask[round(23.5 - 60 * y / (1 - z)), round(31.5 + 60 * (x - 0.5) / (1 - z))]
    assert not mask[40, 56]


FAULTS: dict[str, tuple[Callable[[PictureCamera], None], str, str]] = {
    'unplugged': (lambda camera: camera.silent.update(Stream), 'has sent nothing on', 'cable'),
    'covered': (lambda camera: setattr(camera, 'deep', False), 'measures depth at 0%', 'Uncover'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_fault_of_a_camera_is_an_error_with_its_remedy_and_nothing_moves(
    seen: tuple[Running, PictureCamera], fault: str
) -> None:
    (running, camera), (breaks, expected, remedy) = seen, FAULTS[fault]
    until(lambda: not running.scene_error(), 'scene before the fault')
    with received_on(running, SimGoal, 'sim/goals', GOALS) as goals:
        breaks(camera)
        begun_s = time.monotonic()
        until(lambda: running.scene_error(), 'error of get_scene')
        print(f'{fault}: the error came after {time.monotonic() - begun_s:.2f} s')
        error = running.scene_error_with(expected)
        outcome = running.client.execute(SkillCall('pick', ('red_cube',)))
    camera.mend()
    until(lambda: not running.scene_error(), 'scene after the fault')

    assert error.startswith('The scene is stale. The camera table_camera ')
    assert remedy in error
    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.STALE_SCENE)
    assert 'table_camera' in outcome.message
    assert not goals


def test_scene_of_a_task_is_waited_for_while_a_camera_has_a_fault(
    seen: tuple[Running, PictureCamera],
) -> None:
    running, camera = seen
    until(lambda: not running.scene_error(), 'scene before the fault')
    stamp_s = running.client.scene().stamp_s
    camera.silent.update(Stream)
    running.scene_error_with('has sent nothing')
    asked = Background(
        lambda: running.ask(GetScene, 'get_scene', not_before=stamp_to_msg(stamp_s + 0.001))
    )
    camera.mend()

    reply = asked.result()

    assert (reply.code, reply.message) == (GetScene.Response.NONE, '')
    assert stamp_from_msg(reply.scene.header.stamp) > stamp_s


def test_perception_that_is_not_there_is_named(ros_domain: int) -> None:
    nodes = ('mujoco_sim', 'state_estimator')
    config = StackConfig(nodes=nodes, namespace='blind', params=PARAMS, start=serve_module)
    with Stack(config) as stack, StackClient('blind', environ=stack.environ()) as client:
        until(lambda: not client.missing(config.nodes), 'the other nodes')
        with pytest.raises(SceneError) as error:
            client.scene()

    assert 'The node perception, which finds objects in pictures, has sent nothing' in str(
        error.value
    )
    assert 'bbllm up sim --sources camera' in str(error.value)
