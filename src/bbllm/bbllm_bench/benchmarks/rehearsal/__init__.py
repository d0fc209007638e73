"""What rehearsals are worth: episodes with and without them, and calls that were foreseen."""
