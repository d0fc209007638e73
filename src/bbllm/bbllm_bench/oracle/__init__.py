"""Rule-based models that are handed the goal and the observations as data, not by a prompt."""
