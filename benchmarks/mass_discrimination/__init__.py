"""Which of two cubes is heavier, by the measured force."""
