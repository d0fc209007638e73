"""What the robot can do, and how each skill becomes way-points."""
