"""Verbs of the command line, one module each."""

VERBS = {
    'run': 'Carry out one task, given in plain words.',
    'chat': 'Talk with the robot: tasks, questions, corrections, answers.',
    'plan': 'Print the plan for a task and the call that each step becomes; nothing moves.',
    'experience': 'List, show, edit or forget what worked in earlier episodes.',
    'scenes': 'List the scenes and houses that a task can start with.',
}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
