"""
The ROS clock of nodes: the wall clock, or `/clock` where use_sim_time is set.

Stamps of a node's own messages come from it. What guards against silence uses the steady clock,
and what lasts a time in the world uses the stamps of messages, so both work at any speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.parameter import Parameter


def now_s(node: Node) -> float:
    """Return the time for the stamps of a node's own messages [s]."""
    return float(node.get_clock().now().nanoseconds) * 1e-9


def fix_clock(node: Node) -> None:
    """Refuse changes of use_sim_time after the start: half of a graph would stay behind."""
    from rcl_interfaces.msg import SetParametersResult

    used = node.get_parameter('use_sim_time').value

    def check(changes: list[Parameter]) -> SetParametersResult:
        changed = any(item.name == 'use_sim_time' and item.value != used for item in changes)
        reason = (
            'use_sim_time can be set at the start only, of all nodes together: start the stack '
            'again, for example with the launch argument use_sim_time'
        )
        return SetParametersResult(successful=not changed, reason=reason if changed else '')

    node.add_on_set_parameters_callback(check)
