"""What a stack published replays into `state_estimator`, as `ros2 bag play --clock` does it."""

import importlib
import time
from collections.abc import Callable

import pytest
from bbllm_interfaces.msg import Scene as SceneMsg
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from bbllm.core.constants import NAMESPACE
from bbllm.core.types import Scene
from bbllm_ros.convert.records import from_msg, stamp_from_msg, stamp_to_msg
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import Stack, StackConfig
from tests.doubles.fork_server import serve_module
from tests.ros.stacks import started, until

pytestmark = [pytest.mark.ros, pytest.mark.slow]  # a task in real time

OBJECTS = 'objects'
INPUTS = (
    OBJECTS,
    'franka/joint_states',
    'franka_gripper/joint_states',
    'franka_robot_state_broadcaster/external_wrench_in_base_frame',
)
"""What `state_estimator` needs of a robot and a table."""
ANY = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
RATE = 2.0
STEP_S = 1e-4
"""Between the stamps of joint states that are repeated: an arm with one stamp hangs [s]."""


def test_what_a_stack_published_replays_into_its_last_scene(ros_domain: int) -> None:
    messages: list[tuple[str, float, bytes]] = []
    published: list[SceneMsg] = []

    def receive(name: str) -> Callable[[bytes], None]:
        return lambda data: messages.append((name, time.time(), data))

    with started(params={'state_estimator': {'rate_hz': 20.0}}, speed=1.0) as stack:
        node = stack.client.node
        types = dict(node.get_topic_names_and_types())
        kinds = {name: class_of(types[f'/{NAMESPACE}/{name}'][0]) for name in INPUTS}
        for name, kind in kinds.items():
            node.create_subscription(kind, name, receive(name), ANY, raw=True)
            until(lambda name=name: any(each == name for each, _, _ in messages), name)
        stack.run('put the red cube on location_B')
        node.create_subscription(SceneMsg, 'scene', published.append, 500)
        until(lambda: len(published) > 5, 'scenes of the arm at rest')
    expected = from_msg(Scene, published[-1])
    last = {name: deserialize_message(data, kinds[name]) for name, _, data in messages}
    end_s = stamp_from_msg(last[OBJECTS].header.stamp)
    config = StackConfig(
        nodes=('state_estimator',),
        namespace='replayed',
        params={'state_estimator': {'use_sim_time': True, 'rate_hz': 20.0}},
        start=serve_module,
    )
    scenes: list[Scene] = []
    with Stack(config), StackClient('replayed') as client:
        node = client.node
        node.create_subscription(
            SceneMsg, 'scene', lambda msg: scenes.append(from_msg(Scene, msg)), 500
        )
        clock = node.create_publisher(Clock, '/clock', 10)
        publishers = {name: node.create_publisher(kind, name, 10) for name, kind in kinds.items()}
        for publisher in (clock, *publishers.values()):
            until(publisher.get_subscription_count, f'subscription to {publisher.topic_name}')
        until(lambda: client.heartbeats.alive('state_estimator'), 'state_estimator')
        begun_s, first_s = time.monotonic(), messages[0][1]
        for name, stamp_s, data in messages:
            time.sleep(max(0.0, begun_s + (stamp_s - first_s) / RATE - time.monotonic()))
            clock.publish(Clock(clock=stamp_to_msg(stamp_s)))
            publishers[name].publish(data)
        repeated_s = end_s

        def is_at_end() -> bool:
            nonlocal repeated_s
            repeated_s += STEP_S
            for name, message in last.items():
                if name != OBJECTS:
                    message.header.stamp = stamp_to_msg(repeated_s)
                publishers[name].publish(message)
            return bool(scenes) and scenes[-1].stamp_s >= end_s - STEP_S

        until(is_at_end, 'scene of the last objects')

    assert scenes[-1].facts == expected.facts
    assert any(scene.held == 'red_cube' for scene in scenes)


def class_of(message: str) -> type:
    package, _, name = message.split('/')
    kind: type = getattr(importlib.import_module(f'{package}.msg'), name)
    return kind
