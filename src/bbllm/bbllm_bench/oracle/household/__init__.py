"""The oracle of households: `expert`, which receives start, goal and outcomes as data."""
