"""Start the simulated robot and bbllm's nodes, as `bbllm up sim` does."""

from launch import LaunchDescription

from bbllm.nodes.launching import declare_arguments, declare_namespace, start_node
from bbllm.nodes.stack import NODES


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return LaunchDescription(
        [
            declare_namespace(),
            *declare_arguments(*NODES),
            *[start_node(node) for node in NODES],
        ]
    )
