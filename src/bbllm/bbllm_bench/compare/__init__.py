"""Comparison of planners on the same episodes."""
