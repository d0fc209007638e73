"""Keeps nodes to the wall clock, by which they tell how old things are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbllm.core.errors import ConfigError

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.parameter import Parameter


def keep_wall_clock(node: Node) -> None:
    """
    Refuse use_sim_time, now and later: rclpy declares it, and would let anybody set it.

    Raises:
        ConfigError: It is set already.
    """
    from rcl_interfaces.msg import SetParametersResult

    why = (
        'use_sim_time stays false: nobody publishes /clock, and ages of joint states and scenes '
        'are told by the wall clock, so the node would stand still'
    )
    if node.get_parameter('use_sim_time').value:
        raise ConfigError(f'{node.get_name()}: {why}.')

    def check(changes: list[Parameter]) -> SetParametersResult:
        asked = any(item.name == 'use_sim_time' and item.value for item in changes)
        return SetParametersResult(successful=not asked, reason=why if asked else '')

    node.add_on_set_parameters_callback(check)
