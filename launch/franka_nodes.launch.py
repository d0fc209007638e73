"""Start bbllm's nodes beside a driver that runs already."""

from launch import LaunchDescription

from bbllm.nodes.launching import (
    declare_arguments,
    declare_namespace,
    declare_rviz,
    start_node,
    start_rviz,
)
from bbllm.nodes.stack import REAL_NODES


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return LaunchDescription(
        [
            declare_namespace(),
            declare_rviz(),
            *declare_arguments(*REAL_NODES),
            *[start_node(node) for node in REAL_NODES],
            *start_rviz(),
        ]
    )
