"""Relations, transforms and the catalogue of objects."""
