"""Models by name, and recorded or replayed ones."""
