"""Inner Monologue."""
