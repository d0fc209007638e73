"""FLTRNN and its baselines."""
