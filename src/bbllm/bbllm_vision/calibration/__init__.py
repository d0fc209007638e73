"""Calibration of cameras: views of the board, and what comes of them."""
