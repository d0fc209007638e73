"""Data to tune small models with: tasks, episodes in the simulator, pairs, checks, files."""
