"""A plain agent that calls tools."""
