"""The arm as geometry and time: way-points to joints to trajectories."""
