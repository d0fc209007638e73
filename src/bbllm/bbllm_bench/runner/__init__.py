"""Runs episodes in worker processes."""
