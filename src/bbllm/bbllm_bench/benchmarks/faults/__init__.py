"""Faults of the robot and of processes in mid-task."""
