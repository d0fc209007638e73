"""The detector and the tracking alone, on random tables whose truth is known."""
