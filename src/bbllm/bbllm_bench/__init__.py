"""Suites, checkers and measurements: the same episode, run many times."""
