"""Verbs of the command line that show what was, one module each."""

VERBS = {'show': 'Show an episode as it was: plan, repairs, counts, pictures.'}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
