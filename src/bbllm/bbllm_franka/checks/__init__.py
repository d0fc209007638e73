"""Checks of a Franka Research 3 over libfranka, and of the computer before it; no ROS."""
