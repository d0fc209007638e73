"""Timers, action servers and messages of a node, and its teardown, beyond what rclpy has."""

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from bbllm.core.text import listed

RESULT_TIMEOUT_S = 10
"""
How long an action server keeps the result of an ended goal; rclpy's default is 900 s, whole
trajectories included.

Clients here request it at acceptance, and again each second [s].
"""


def now_s(node: Node) -> float:
    """Return the time for the stamps of a node's own messages: the wall clock, or `/clock` [s]."""
    return float(node.get_clock().now().nanoseconds) * 1e-9


def steady_timer(
    node: Node, period_s: float, call: Callable[[], None], group: CallbackGroup | None = None
) -> None:
    """Call a function regularly, whatever clock the node uses."""
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
        unless_destroyed(node, kind, run),
        cancel_callback=cancel,
        callback_group=group,
        result_timeout=RESULT_TIMEOUT_S,
        **callbacks,
    )


def unless_destroyed(node: Node, kind: Any, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """
    Return what runs a goal, and gives an empty result where its node was destroyed meanwhile.

    A process that ends waits for its goals a little only; one that still waits for an answer then
    is no fault, and no client would see its result.
    """

    def run_goal(goal: Any) -> Any:
        try:
            return run(goal)
        except InvalidHandle:
            if _exists(node):
                raise
            return kind.Result()

    return run_goal


def _exists(node: Node) -> bool:
    try:
        with node.handle:
            return True
    except InvalidHandle:
        return False


def serve_services(
    node: Node,
    group: CallbackGroup,
    folder: str,
    servers: Mapping[Any, Callable[[Any, Any], Any]],
) -> None:
    """Serve services whose names follow from their types: SetTCPFrame is `set_tcp_frame`."""
    for kind, serve in servers.items():
        name = re.sub('(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])', '_', kind.__name__).lower()
        node.create_service(kind, f'{folder}/{name}', serve, callback_group=group)


def end_goal(goal: ServerGoalHandle, *, succeeded: bool, cancelled: bool) -> None:
    """Give a goal its last status; one is cancelled only where a client asked for it."""
    if succeeded:
        goal.succeed()
    elif cancelled and goal.is_cancel_requested:
        goal.canceled()
    else:
        goal.abort()


def sources_of(node: Node, topic: str) -> list[str]:
    """
    Return the nodes that publish a topic, with their namespaces, one entry for each publisher.

    DDS lists a process that was killed for up to 20 s more, so one name may come twice.
    """
    infos = node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
    return sorted(f'{info.node_namespace.rstrip("/")}/{info.node_name}' for info in infos)


def rivals(node: Node, topic: str) -> str:
    """Name the nodes that publish a topic where more than one does, in a sentence; else ''."""
    sources = sources_of(node, topic)
    if len(sources) < 2:
        return ''
    killed = ' One that was killed is listed for up to 20 s more.' if len({*sources}) == 1 else ''
    return f'{topic} comes from {listed(sources)}, and one node alone should publish it.{killed}'


def leave_graph(*nodes: Node) -> None:
    """
    Destroy nodes of one context, which nothing spins any more, so that no process sees them.

    `Node.destroy_node` leaves out the clients and servers of actions. Each of them references its
    node, and so its participant stays in the graph: others go on counting it as a listener.
    The node's handle goes first, by which `unless_destroyed` detects what a goal under way meets.
    """
    for node in nodes:
        node.handle.destroy_when_not_in_use()
        for waitable in list(node.waitables):
            if isinstance(waitable, ActionClient | ActionServer):
                waitable.destroy()
        node.destroy_node()


def entities_of(node: Node) -> frozenset[int]:
    """Return the identities of all that a node has now; for `destroy_since`."""
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


def take_all(subscription: Any, callback: Callable[[Any, float], None]) -> None:
    """
    Hand over every waiting message of a topic; an executor takes only one per round.

    With each comes the wall clock at which DDS received it [s]. Raises InvalidHandle where the
    node was destroyed.
    """
    # The call that rclpy's own executor makes: 7.1 has no public one.
    with subscription.handle:
        while taken := subscription.handle.take_message(subscription.msg_type, subscription.raw):
            message, info = taken
            callback(message, info['received_timestamp'] * 1e-9)
