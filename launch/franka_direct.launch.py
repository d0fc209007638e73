"""Start a real arm over libfranka alone, without franka_ros2, and bbllm's nodes."""

from launch import LaunchDescription

from bbllm_ros.stack.launching import describe_stack
from bbllm_ros.stack.stack import DIRECT_NODES


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return describe_stack(*DIRECT_NODES)
