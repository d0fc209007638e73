"""Calibration of cameras over ROS; nothing here sends anything to a robot."""
