"""Conversion between records and ROS messages."""
