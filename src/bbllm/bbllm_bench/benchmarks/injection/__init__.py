"""What comes of instructions that stand in what a model reads about its scene."""
