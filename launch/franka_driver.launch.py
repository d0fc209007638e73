"""Start franka_ros2 for one FR3 with its hand, under this project's controllers."""

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from bbllm.core.paths import config_dir
from bbllm_ros.stack.launching import (
    DRIVER_ARGUMENTS,
    check_driver,
    declare_driver_arguments,
    keep_boundary,
)

DRIVER = PathJoinSubstitution([FindPackageShare('franka_bringup'), 'launch', 'franka.launch.py'])


def generate_launch_description() -> LaunchDescription:
    """Build the description."""
    return LaunchDescription(
        [
            *keep_boundary(),
            *declare_driver_arguments(),
            check_driver(),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(DRIVER),
                launch_arguments={
                    'robot_type': 'fr3',
                    'load_gripper': 'true',
                    'controllers_yaml': str(config_dir() / 'franka' / 'controllers.yaml'),
                    **{name: LaunchConfiguration(name) for name in DRIVER_ARGUMENTS},
                }.items(),
            ),
            Node(  # the driver starts its broadcasters, but no controller for the arm
                package='controller_manager',
                executable='spawner',
                namespace=LaunchConfiguration('namespace'),
                arguments=['fr3_arm_controller'],
                output='screen',
            ),
        ]
    )
