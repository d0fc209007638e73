"""The public Python API: robots, episodes, and what both share with the command line."""
