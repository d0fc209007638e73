"""Sampling of scenes on tables and in houses."""
