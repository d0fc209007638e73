"""Text and live views of episodes and runs."""
