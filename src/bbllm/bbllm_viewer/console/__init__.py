"""A page in a browser that shows a robot at work, and through which a person directs it."""
