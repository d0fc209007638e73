"""Judges of settled tables: pure functions of geometry, which know nothing of plans and models."""
