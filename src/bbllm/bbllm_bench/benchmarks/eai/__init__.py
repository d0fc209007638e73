"""The four modules of the Embodied Agent Interface: its prompts answered, its evaluators run."""
