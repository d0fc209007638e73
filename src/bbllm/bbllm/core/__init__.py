"""The types, seams and episode that everything else is built on; needs pydantic only."""
