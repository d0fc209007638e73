"""How planners speak of a household."""
