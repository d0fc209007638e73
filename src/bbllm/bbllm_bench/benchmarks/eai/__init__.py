"""Houses and scores beside the evaluator of the Embodied Agent Interface."""
