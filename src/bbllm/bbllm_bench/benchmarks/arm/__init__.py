"""Trials of the arm in simulation."""
