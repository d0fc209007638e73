"""Episodes of the bench over the nodes."""
