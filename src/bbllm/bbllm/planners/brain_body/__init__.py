"""BrainBody-LLM."""
