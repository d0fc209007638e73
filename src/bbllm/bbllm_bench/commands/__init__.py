"""Verbs of the command line that measure or make data, and their commands, one module each."""

VERBS = {
    'bench': (
        'Score planners and models on a suite of tasks; measure the arm, and the stack of nodes.'
    ),
    'data': (
        'Make data from simulated episodes: demonstrations of motions, and prompts with answers.'
    ),
}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
