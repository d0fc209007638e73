"""Demonstrations: checked pick-and-place episodes as data sets for learning from motion."""
