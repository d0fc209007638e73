"""Detectors: from a picture with depth to the objects in it."""
