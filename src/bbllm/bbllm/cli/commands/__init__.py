"""Verbs of the command line, one module each."""

VERBS = {
    'demo': 'Watch a simulated arm build a plus sign from cubes, repairs and all.',
    'run': 'Carry out one task, given in plain words.',
    'plan': 'Print the plan for a task and the call that each step becomes; nothing moves.',
    'scenes': 'List the scenes and houses that a task can start with.',
    'doctor': 'Check this machine: Python, models, ROS, rendering; print what to do.',
}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
