"""A classical planner plans over our preconditions; the model writes the goal alone."""
