"""Start, memory and overhead of the five nodes."""
