"""BrainBody-LLM, and what planners share to ask models and to understand their replies."""
