"""What worked in earlier episodes: made, kept in a file, and found again by similarity."""
