"""`bbllm say`: sends the planner a message in the middle of a task."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from bbllm.cli.support.discovery import found_stack
from bbllm.cli.support.options import StackOptions
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_task

if TYPE_CHECKING:
    from bbllm.ros.stack.client import StackClient

TOPIC = 'human_feedback'
PLANNER = 'brain_planner'
SENT_S = 0.3
"""How long a message may take to leave this process, wall clock [s]."""


@dataclass(frozen=True, kw_only=True)
class SayRequest:
    """What `bbllm say` was asked for."""

    text: Annotated[str, typer.Argument(metavar='TEXT', help='What to say.')]
    stack: StackOptions


def say(request: SayRequest) -> None:
    """
    Send the planner of a running stack a message in the middle of a task.

    The planner reads it before its next step, as feedback on its plan.

    [bold]Examples[/bold]

      bbllm say 'leave the green cube where it is'
    """
    words = make_task(request.text).instruction
    output = Output()

    def joined(client: StackClient) -> bool:
        return bool(client.node.count_subscribers(TOPIC))

    with found_stack('bbllm say', request.stack, output, [PLANNER], joined) as client:
        # In DDS, a node is found before it is joined; the second follows at once.
        time.sleep(SENT_S)
        client.say(words)
        time.sleep(SENT_S)
    output.print('Said. The planner reads it before its next step, if a task is under way.')
