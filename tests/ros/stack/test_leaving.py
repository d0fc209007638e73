"""What is closed has left the graph at once; a goal outlives its node without a fault."""

import gc
from collections.abc import Iterator

import pytest
from bbllm_interfaces.action import ExecuteSkill
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.node import Node
from std_srvs.srv import Trigger

from bbllm_ros.rclpy_support.entities import leave_graph, unless_destroyed
from bbllm_ros.stack.client import StackClient
from franka_driver_conformance.client import DriverClient
from tests.ros.members import member
from tests.ros.stacks import until

pytestmark = pytest.mark.ros

KINDS = [StackClient, DriverClient]


@pytest.fixture
def witness(ros_domain: int) -> Iterator[Node]:
    with member('witness') as node:
        gc.disable()
        yield node
        gc.enable()


@pytest.mark.parametrize('kind', KINDS)
def test_client_that_is_closed_has_left_the_graph(
    witness: Node, kind: type[StackClient | DriverClient]
) -> None:
    client = kind(namespace='leaving')
    node = client.node.get_name()
    until(lambda: node in witness.get_node_names(), 'the client')

    client.close()

    until(lambda: node not in witness.get_node_names(), 'leaving')


def test_goal_whose_node_was_destroyed_while_it_waited_is_no_fault(ros_domain: int) -> None:
    with member('served') as node:
        client = node.create_client(Trigger, 'gone')
        run = unless_destroyed(node, ExecuteSkill, lambda _: client.service_is_ready())
        assert run(None) is False
        node.destroy_client(client)
        with pytest.raises(InvalidHandle):
            run(None)

        leave_graph(node)

        assert run(None) == ExecuteSkill.Result()
