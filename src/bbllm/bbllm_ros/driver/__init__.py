"""Driver of a robot behind franka_ros2."""
