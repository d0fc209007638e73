"""Tracking of detected objects."""
