"""Client of OpenAI-compatible servers."""
