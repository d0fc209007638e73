"""Execution of skills: trajectories, recovery, settling, slip."""
