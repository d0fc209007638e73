"""An episode as a page shows it, and what of it has to be known to show any moment of it again."""
