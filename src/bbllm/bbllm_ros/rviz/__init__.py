"""Markers and menus in rviz."""
