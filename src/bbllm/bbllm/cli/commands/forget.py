"""`bbllm forget`: makes a running stack discard its beliefs about objects."""

from __future__ import annotations

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.discovery import await_nodes, found_stack
from bbllm.cli.support.options import DomainOption, JsonOption, NamespaceOption
from bbllm.cli.views.output import Output

BELIEVER = 'state_estimator'
HINT = 'One that believes takes --open-state rules, or open_state:=rules.'


def forget(
    domain: DomainOption = None,
    namespace: NamespaceOption = None,
    json: JsonOption = False,
) -> None:
    """
    Make a running stack discard its beliefs about objects.

    A stack with `--open-state` remembers across tasks which objects slipped,
    did not rise or are out of reach, by their names. Run this after the objects
    were rearranged: the red cube may be another one now.

    Exit code: 0 when all is forgotten, also if there was no belief; 2 where
    the stack runs without `--open-state`, 1 where there is none.

    [bold]Examples[/bold]

      bbllm forget
    """
    need_ros('bbllm forget')
    choose_domain(domain)
    output = Output(json)
    with found_stack(namespace, output, hint=HINT) as client:
        await_nodes(
            client,
            [BELIEVER],
            lambda: client.can_forget,
            output,
        )
        forgotten = client.forget()
    output.print(forgotten)
    output.result({'forgotten': forgotten})
