"""Controllers of the simulated robot."""
