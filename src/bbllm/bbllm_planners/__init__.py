"""Planners of other papers beside BrainBody-LLM, as a package of its own would add them."""
