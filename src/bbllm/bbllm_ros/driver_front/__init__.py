"""The ROS side of an arm's driver: names, types and semantics of franka_ros2, over any backend."""
