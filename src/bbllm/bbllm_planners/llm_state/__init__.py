"""LLM-State."""
