"""Verbs of the command line that work with ROS 2 or with a running stack, one module each."""

VERBS = {
    'up': 'Start the nodes that do tasks, or a simulated robot for them; Ctrl-C ends it.',
    'say': 'Send the planner of a running stack a message in the middle of a task.',
    'approve': 'Approve or deny what the arm waits to do: a plan, a call, or to go on.',
    'console': 'Show a running stack in a browser, and direct it from there.',
    'mcp': 'Serve a running stack to language models by the Model Context Protocol.',
    'calibrate': 'Find where a camera is, by a printed board and the motions of the arm.',
}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
