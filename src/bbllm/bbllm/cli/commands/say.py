"""`bbllm say`: sends the planner a message in the middle of a task."""

import time
from typing import Annotated

import typer

from bbllm.cli.support.discovery import found_stack
from bbllm.cli.support.options import StackOptions
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_task

TOPIC = 'human_feedback'
PLANNER = 'brain_planner'
SENT_S = 0.3
"""How long a message may take to leave this process, wall clock [s]."""


def say(
    text: Annotated[str, typer.Argument(metavar='TEXT', help='What to say.')], stack: StackOptions
) -> None:
    """
    Send the planner of a running stack a message in the middle of a task.

    The planner reads it before its next step, as feedback on its plan.

    [bold]Examples[/bold]

      bbllm say 'leave the green cube where it is'
    """
    words = make_task(text).instruction
    output = Output()
    with found_stack(
        'bbllm say', stack, output, [PLANNER], lambda x: x.node.count_subscribers(TOPIC) > 0
    ) as client:
        # In DDS, a node is found before it is joined; the second follows at once.
        time.sleep(SENT_S)
        client.say(words)
        time.sleep(SENT_S)
    output.print('Said. The planner reads it before its next step, if a task is under way.')
