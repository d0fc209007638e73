"""Timers, action servers and messages of a node, and its teardown, beyond what rclpy has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

RESULT_TIMEOUT_S = 10
"""How long an action server keeps the result of a goal that has ended. Clients of this project ask
for it when the goal is accepted, and again each second; rclpy keeps it for 900 s, whole
trajectories included [s]."""


def steady_timer(
    node: Node, period_s: float, call: Callable[[], None], group: CallbackGroup | None = None
) -> None:
    """Call a function regularly, whatever the node takes for its time."""
    node.create_timer(period_s, call, group, Clock(clock_type=ClockType.STEADY_TIME))


def serve_action(
    node: Node,
    group: CallbackGroup,
    kind: Any,
    name: str,
    run: Callable[[Any], Any],
    cancel: Callable[[Any], CancelResponse],
    **callbacks: Callable[[Any], Any],
) -> ActionServer:
    """Serve an action until the node is destroyed; see `ActionServer`."""
    return ActionServer(
        node,
        kind,
        name,
        run,
        cancel_callback=cancel,
        callback_group=group,
        result_timeout=RESULT_TIMEOUT_S,
        **callbacks,
    )


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


def take_all(subscription: Any, callback: Callable[[Any], None]) -> None:
    """
    Hand over every message of a topic that waits, the oldest first.

    An executor takes one message of a subscription in each of its rounds, however many wait.

    Raises:
        InvalidHandle: The node was destroyed.
    """
    # The call that rclpy's own executor makes: 7.1 has no public one.
    with subscription.handle:
        while taken := subscription.handle.take_message(subscription.msg_type, subscription.raw):
            callback(taken[0])
