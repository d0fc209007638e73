"""Metrics of episodes and their comparison in pairs."""
