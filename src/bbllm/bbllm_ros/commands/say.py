"""`bbllm say`: sends the planner a message in the middle of a task."""

from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption, StackOptions
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_remark
from bbllm_ros.stack.found_stack import found_stack

PLANNER = 'brain_planner'


def say(
    text: Annotated[str, typer.Argument(metavar='TEXT', help='The message.')],
    stack: StackOptions,
    *,
    timeout: Annotated[
        float, typer.Option(min=0.0, max=600.0, help='How long to wait for its fate [s].')
    ] = 60.0,
    json: JsonOption = False,
) -> None:
    """
    Send the planner of a running stack a message in the middle of a task.

    It becomes a part of the task: plan and goal follow it. A motion under way
    ends first; a request to a model or a question for approval is begun anew.
    Prints what became of it: taken up, too late, or not understood.

    Examples:
      bbllm say 'leave the green cube where it is'
    """
    words = make_remark(text)
    output = Output(json)
    with found_stack(
        'bbllm say', stack, output, [PLANNER], lambda client: client.accepts_remarks
    ) as client:
        fate = client.send_remark(words, wait_s=timeout)
    output.print(fate)
    output.result({'sent': words, 'fate': fate, 'namespace': client.namespace})
