"""Recording and replay of model replies."""
