"""Robots as data: what an arm and its hand are, without what they do."""
