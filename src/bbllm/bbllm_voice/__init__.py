"""Speech: what is said becomes a line that a person confirms; `stop` stops at once."""
