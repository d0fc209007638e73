"""The types, seams and episode that everything else is built on; standard library only."""
