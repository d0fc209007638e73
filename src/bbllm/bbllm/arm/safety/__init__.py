"""Safety of motion: the envelope, its guard, and the approval of plans."""
