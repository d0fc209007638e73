"""
Conformance tests for drivers that serve the ROS 2 interface of franka_ros2.

A pytest plugin and the checks, which use only rclpy and the message packages that the driver uses.
`python -m franka_driver_conformance` runs them.
"""
