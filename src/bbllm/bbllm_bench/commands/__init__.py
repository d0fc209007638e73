"""Verbs of the command line that measure, or that need all packages, one module each."""

VERBS = {
    'demo': 'Watch a simulated arm build a plus sign from cubes, repairs and all.',
    'doctor': 'Check this machine: Python, models, ROS, rendering; print what to do.',
    'show': 'Show an episode as it was: plan, repairs, counts, pictures.',
    'bench': (
        'Score planners and models on a suite of tasks; measure the arm, and the stack of nodes.'
    ),
    'data': 'Write data from simulated episodes: demonstrations of motions.',
}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
