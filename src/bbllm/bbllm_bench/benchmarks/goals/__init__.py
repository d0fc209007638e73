"""Goals for houses, sampled and proven solvable."""
