"""`bbllm say`: tells the planner something in the middle of its task."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bbllm.cli.choices import DomainOption
from bbllm.cli.output import Output
from bbllm.cli.ros import choose_domain, need_ros
from bbllm.core.errors import LostNodeError
from bbllm.core.tasks import make_task

TOPIC = 'human_feedback'
LISTENER_S = 3.0
"""How long the planner may take to be found, wall clock [s]."""
SENT_S = 0.3
"""How long a message may take to leave this process, wall clock [s]."""


def say(
    text: Annotated[str, typer.Argument(metavar='TEXT', help='What to say.')],
    domain: DomainOption = None,
) -> None:
    """
    Tell a running stack something in the middle of a task.

    The planner reads it before its next step, as feedback on its plan.

    [bold]Examples[/bold]

      bbllm say 'leave the green cube where it is'
    """
    words = make_task(text).instruction
    need_ros('bbllm say')
    choose_domain(domain)
    from bbllm.nodes.client import StackClient

    with StackClient() as client:
        deadline_s = time.monotonic() + LISTENER_S
        while not client.node.count_subscribers(TOPIC):
            if time.monotonic() > deadline_s:
                raise LostNodeError(
                    f'Nobody listens: no brain_planner was found within {LISTENER_S:g} s. '
                    'Start a stack with `bbllm up sim` and a task with `bbllm run`.'
                )
            time.sleep(0.05)
        # Being found and being joined are two things in DDS; the second follows at once.
        time.sleep(SENT_S)
        client.say(words)
        time.sleep(SENT_S)
    Output().say('Said. The planner reads it before its next step, if a task is under way.')
