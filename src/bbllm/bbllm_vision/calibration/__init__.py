"""Calibration of cameras: postures of the arm, views of the board, and what comes of them."""
