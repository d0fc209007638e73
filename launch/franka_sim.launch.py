"""Start the simulated robot and bbllm's nodes, as `bbllm up sim` does."""

from launch import LaunchDescription

from bbllm.nodes.launching import (
    declare_arguments,
    declare_namespace,
    declare_rviz,
    start_node,
    start_rviz,
)
from bbllm.nodes.stack import NODES


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return LaunchDescription(
        [
            declare_namespace(simulated=True),
            declare_rviz(),
            *declare_arguments(*NODES, simulated=True),
            *[start_node(node, simulated=True) for node in NODES],
            *start_rviz(simulated=True),
        ]
    )
