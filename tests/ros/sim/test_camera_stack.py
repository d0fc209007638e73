"""A stack whose scenes come from the pictures of simulated cameras alone."""

import math
from collections.abc import Iterator

import pytest
from bbllm_interfaces.msg import ObjectStates

from bbllm.core.events import Ending
from bbllm.core.types import Pose
from bbllm.scene.scene_file import load_scene
from bbllm.sim.cameras import SimCameras
from bbllm.sim.drawing import RenderError
from bbllm.sim.simulation import Simulation
from bbllm_ros.convert.records import objects_from_msg
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.stack.stack import NODES, PERCEPTION
from tests.ros.sim_clients import received_on
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

SCENE = 'tabletop'
# A machine that is busy with other tests draws and detects late; no figure depends on these.
PATIENT: dict[str, Value] = {'max_delay_s': 20.0}
PARAMS: dict[str, dict[str, Value]] = {
    'mujoco_sim': {'scene': SCENE},
    'state_estimator': {
        'sources': 'camera',
        'scene': SCENE,
        'max_age_s': 20.0,
        'wait_s': 30.0,
        **PATIENT,
    },
    PERCEPTION: {'scene': SCENE, 'silent_after_s': 5.0, **PATIENT},
}


@pytest.fixture(scope='module')
def running(ros_domain: int) -> Iterator[Running]:
    try:
        with SimCameras(Simulation(load_scene(SCENE))) as cameras:
            cameras.take('table_camera')
    except RenderError as error:
        pytest.skip(str(error))
    with started((*NODES, PERCEPTION), params=PARAMS, speed=0.5) as running:
        yield running


def truth_of(running: Running, name: str) -> Pose:
    """Return a pose by the simulator's own state, which the stack under test does not use."""
    with received_on(running, ObjectStates, 'objects') as messages:
        until(lambda: messages, 'objects of the simulator')
    found = {item.name: item.pose for item in objects_from_msg(messages[-1])}
    return found[name]


def test_estimator_does_not_subscribe_to_the_truth(running: Running) -> None:
    node = running.client.node
    received_on = dict(node.get_subscriber_names_and_types_by_node('state_estimator', '/bbllm'))

    assert '/bbllm/detections' in received_on
    assert '/bbllm/objects' not in received_on
    seen = dict(node.get_subscriber_names_and_types_by_node(PERCEPTION, '/bbllm'))
    assert '/bbllm/table_camera/color/image_raw' in seen
    assert '/bbllm/objects' not in seen


def test_task_is_carried_out_on_what_pictures_show(running: Running) -> None:
    until(lambda: running.in_scene('red_cube'), 'red_cube in the scene')
    before = running.client.scene().object('red_cube').pose
    assert math.dist(before.position_m, truth_of(running, 'red_cube').position_m) < 0.01

    result = running.run('put the red cube on location_B')

    assert (result.ending, result.message) == (Ending.FINISHED, '')
    x, y, _ = truth_of(running, 'red_cube').position_m
    place = running.client.scene().object('location_B').pose.position_m
    assert math.dist((x, y), place[:2]) < 0.02
