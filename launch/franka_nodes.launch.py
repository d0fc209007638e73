"""Start bbllm's nodes beside a driver that runs already."""

from launch import LaunchDescription

from bbllm_ros.stack.launching import describe_stack
from bbllm_ros.stack.stack import REAL_NODES


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return describe_stack(*REAL_NODES)
