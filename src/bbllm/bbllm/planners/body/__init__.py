"""Body: maps a step to a skill call."""
