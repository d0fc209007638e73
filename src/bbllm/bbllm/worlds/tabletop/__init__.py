"""The table as a world."""
