"""A simulated robot that rests publishes seldom what does not change."""

import pytest
from bbllm_interfaces.msg import ObjectStates
from sensor_msgs.msg import JointState

from bbllm_ros.sim.topics import FAST_S, REST_EVERY, REST_S, SLOW_EVERY
from tests.ros.stacks import started, until

pytestmark = pytest.mark.ros

STATES = 20 * REST_EVERY


@pytest.mark.slow  # waits for the rest of an arm
def test_objects_come_with_fewer_states_of_an_arm_that_rests(ros_domain: int) -> None:
    with started(('mujoco_sim',), speed=1.0) as running:
        states: list[JointState] = []
        objects: list[ObjectStates] = []
        node, group = running.client.node, running.client.group
        for kind, topic, received in (
            (JointState, 'franka/joint_states', states),
            (ObjectStates, 'objects', objects),
        ):
            node.create_subscription(kind, topic, received.append, STATES, callback_group=group)
        # A robot that has just begun counts as one that moved.
        until(lambda: len(states) > 2 * REST_S / FAST_S, 'states of a robot at rest')
        states_before, objects_before = len(states), len(objects)

        until(lambda: len(states) >= states_before + STATES, 'states')

        ratio = (len(states) - states_before) / (len(objects) - objects_before)
        assert ratio > 2 * SLOW_EVERY
