"""Nodes of programs that are none themselves: when their thread and they come to an end."""

import threading

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation as rclpy_c

from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from tests.ros.stacks import PATIENCE_S


def test_a_callback_that_runs_ends_before_its_node_leaves_the_graph(ros_domain: int) -> None:
    own = OwnNodes(args=[], domain_id=ros_domain)
    node = own.join('busy', '/somewhere')
    begun, go_on = threading.Event(), threading.Event()
    counted: list[int] = []

    def count() -> None:
        begun.set()
        go_on.wait(PATIENCE_S)
        counted.append(node.count_publishers('nothing'))

    node.create_timer(0.01, count)
    own.spin(node, 'busy')
    assert begun.wait(PATIENCE_S)
    closing = threading.Thread(target=own.close)
    closing.start()
    assert own._ending.wait(PATIENCE_S)
    go_on.set()
    closing.join(PATIENCE_S)

    assert not closing.is_alive()
    assert counted == [0]
    assert 'busy' not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(rclpy_c.InvalidHandle):
        node.count_publishers('nothing')
