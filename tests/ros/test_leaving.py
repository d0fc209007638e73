"""Clients that are closed are gone for everybody else at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from stacks import until

from bbllm.ros.rclpy_support.entities import leave_graph
from bbllm.ros.stack.client import StackClient
from franka_driver_conformance.client import DriverClient

pytestmark = pytest.mark.ros

KINDS = [StackClient, DriverClient]


@pytest.fixture
def witness(ros_domain: int) -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('witness', context=context)
    gc.disable()
    yield node
    gc.enable()
    leave_graph(node)
    rclpy.shutdown(context=context)


@pytest.mark.parametrize('kind', KINDS)
def test_client_that_is_closed_has_left_the_graph(
    witness: Node, kind: type[StackClient | DriverClient]
) -> None:
    client = kind(namespace='leaving')
    node = client.node.get_name()
    until(lambda: node in witness.get_node_names(), 'the client')

    client.close()

    until(lambda: node not in witness.get_node_names(), 'leaving')
