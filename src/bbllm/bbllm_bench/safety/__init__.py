"""Counts of unsafe commands and broken limits."""
