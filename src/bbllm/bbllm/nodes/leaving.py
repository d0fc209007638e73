"""Nodes that leave the graph when they are told to, and not when Python next collects garbage."""

from __future__ import annotations

from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node


def leave_graph(*nodes: Node) -> None:
    """
    Destroy nodes with all that is theirs, so that nobody sees them any more.

    `Node.destroy_node` leaves out the clients and servers of actions. Each of them holds its node,
    and so its participant stays in the graph: others go on counting it as one who listens.

    Args:
        nodes: All of one context, none of them spun any more.
    """
    for node in nodes:
        for waitable in list(node.waitables):
            if isinstance(waitable, ActionClient | ActionServer):
                waitable.destroy()
        node.destroy_node()
