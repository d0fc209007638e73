"""Start the simulated robot and bbllm's nodes, as `bbllm up sim` does."""

from launch import LaunchDescription

from bbllm_ros.stack.launching import describe_stack
from bbllm_ros.stack.stack import NODES


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return describe_stack(*NODES, simulated=True)
