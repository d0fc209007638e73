"""The FR3 as geometry and time: way-points to joints to trajectories."""
