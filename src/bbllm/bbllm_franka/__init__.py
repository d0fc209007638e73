"""A Franka Research 3 without ROS: the arm driver over libfranka, from wheels."""
