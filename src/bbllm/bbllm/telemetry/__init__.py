"""Traces of episodes for observability tools; nothing here is imported unless it is asked for."""
