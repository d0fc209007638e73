"""Destroying what belongs to a node at once, not when Python next collects garbage."""

from __future__ import annotations

from itertools import chain
from typing import Any

from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node


def leave_graph(*nodes: Node) -> None:
    """
    Destroy nodes with all that is theirs, so that no other process sees them any more.

    `Node.destroy_node` leaves out the clients and servers of actions. Each of them references its
    node, and so its participant stays in the graph: others go on counting it as a listener.

    Args:
        nodes: All of one context, none of them spun any more.
    """
    for node in nodes:
        for waitable in list(node.waitables):
            if isinstance(waitable, ActionClient | ActionServer):
                waitable.destroy()
        node.destroy_node()


def entities_of(node: Node) -> frozenset[int]:
    """Return the identities of everything that a node has now; for `destroy_since`."""
    kinds = (node.publishers, node.subscriptions, node.clients, node.services, node.timers)
    return frozenset(id(entity) for entity in chain(*kinds, node.waitables))


def destroy_since(node: Node, kept: frozenset[int]) -> None:
    """Destroy what a node has, except what it had when `entities_of` was called."""

    def new(entities: Any) -> list[Any]:
        return [entity for entity in entities if id(entity) not in kept]

    for waitable in new(node.waitables):
        if isinstance(waitable, ActionClient | ActionServer):
            waitable.destroy()
    for kind, destroy in (
        (node.timers, node.destroy_timer),
        (node.subscriptions, node.destroy_subscription),
        (node.services, node.destroy_service),
        (node.clients, node.destroy_client),
        (node.publishers, node.destroy_publisher),
    ):
        for entity in new(kind):
            destroy(entity)
