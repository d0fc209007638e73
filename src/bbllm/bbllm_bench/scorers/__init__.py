"""Judges of settled tables: pure functions of geometry, independent of plans and models."""
