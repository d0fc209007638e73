"""Faults of robot and model in mid-task."""
