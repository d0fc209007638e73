"""Recordings in MCAP, with the messages and definitions of ROS 2, written and read without ROS."""
