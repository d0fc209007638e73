"""How planners speak of a table with an arm."""
