"""Parameters of the nodes."""
