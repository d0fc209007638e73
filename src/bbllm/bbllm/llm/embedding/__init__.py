"""Embeddings of text."""
