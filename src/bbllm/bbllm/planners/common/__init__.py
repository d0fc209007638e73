"""Prompts, grammars and histories that several planners use."""
