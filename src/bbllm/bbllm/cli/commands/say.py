"""`bbllm say`: sends the planner a message in the middle of a task."""

from typing import Annotated

import typer

from bbllm.cli.support.discovery import found_stack
from bbllm.cli.support.options import StackOptions
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_remark

PLANNER = 'brain_planner'


def say(
    text: Annotated[str, typer.Argument(metavar='TEXT', help='What to say.')], stack: StackOptions
) -> None:
    """
    Send the planner of a running stack a message in the middle of a task.

    The planner reads it before its next step, as feedback on its plan.

    [bold]Examples[/bold]

      bbllm say 'leave the green cube where it is'
    """
    words = make_remark(text)
    output = Output()
    with found_stack(
        'bbllm say', stack, output, [PLANNER], lambda client: client.can_say
    ) as client:
        client.say(words)
    output.print('Sent. The planner reads it before its next step.')
