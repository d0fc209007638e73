"""`bbllm say`: tells the planner something in the middle of its task."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.discovery import found_stack, look_for
from bbllm.cli.support.options import DomainOption, NamespaceOption
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_task

TOPIC = 'human_feedback'
PLANNER = 'brain_planner'
SENT_S = 0.3
"""How long a message may take to leave this process, wall clock [s]."""


def say(
    text: Annotated[str, typer.Argument(metavar='TEXT', help='What to say.')],
    domain: DomainOption = None,
    namespace: NamespaceOption = None,
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
    output = Output()
    with found_stack(namespace, output) as client:
        look_for(
            client,
            [PLANNER],
            lambda: client.node.count_subscribers(TOPIC) > 0,
            output,
        )
        # Being found and being joined are two things in DDS; the second follows at once.
        time.sleep(SENT_S)
        client.say(words)
        time.sleep(SENT_S)
    output.say('Said. The planner reads it before its next step, if a task is under way.')
