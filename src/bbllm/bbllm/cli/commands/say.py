"""`bbllm say`: sends the planner a message in the middle of a task."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.discovery import await_nodes, found_stack
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
    Send the planner of a running stack a message in the middle of a task.

    The planner reads it before its next step, as feedback on its plan.

    [bold]Examples[/bold]

      bbllm say 'leave the green cube where it is'
    """
    words = make_task(text).instruction
    need_ros('bbllm say')
    choose_domain(domain)
    output = Output()
    with found_stack(namespace, output) as client:
        await_nodes(
            client,
            [PLANNER],
            lambda: client.node.count_subscribers(TOPIC) > 0,
            output,
        )
        # In DDS, a node is found before it is joined; the second follows at once.
        time.sleep(SENT_S)
        client.say(words)
        time.sleep(SENT_S)
    output.print('Said. The planner reads it before its next step, if a task is under way.')
