"""LLM-POP and its fine-tuned variants."""
