"""The ROS 2 graph: nodes and what they use."""
