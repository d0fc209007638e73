"""Suites as tasks of inspect_ai."""
