"""Start the real arm: franka_ros2 with this project's controllers, and bbllm's nodes."""

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from bbllm_ros.stack.launching import DRIVER_ARGUMENTS, describe_stack
from bbllm_ros.stack.stack import REAL_NODES

DRIVER = PathJoinSubstitution([FindPackageShare('bbllm'), 'launch', 'franka_driver.launch.py'])


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    driver = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(DRIVER),
        launch_arguments=[(name, LaunchConfiguration(name)) for name in DRIVER_ARGUMENTS],
    )
    return describe_stack(*REAL_NODES, driver=driver)
