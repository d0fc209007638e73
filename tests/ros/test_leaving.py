"""Clients that are closed are gone for everybody else at once."""

import gc
from collections.abc import Iterator

import pytest
from members import member
from rclpy.node import Node
from stacks import until

from bbllm.ros.stack.client import StackClient
from franka_driver_conformance.client import DriverClient

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
