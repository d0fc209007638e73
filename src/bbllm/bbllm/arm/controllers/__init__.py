"""The controllers of franka_ros2, for a simulated robot and for one over libfranka."""
