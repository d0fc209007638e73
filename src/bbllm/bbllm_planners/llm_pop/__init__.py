"""LLM-POP."""
