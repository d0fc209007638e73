"""Suites of tasks: goals, scenes, and their files."""
