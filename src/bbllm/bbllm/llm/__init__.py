"""Language models behind one method: any OpenAI-compatible server, and stand-ins."""
