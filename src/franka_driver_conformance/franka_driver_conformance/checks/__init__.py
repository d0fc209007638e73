"""The checks: one test each, grouped by what they look at."""
