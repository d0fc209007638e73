"""Cameras and what their pictures show."""
