"""`bbllm forget`: makes a running stack forget what it believes of things."""

from __future__ import annotations

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.discovery import found_stack, look_for
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
    Make a running stack forget what it believes of things.

    A stack with `--open-state` keeps over all its tasks which things slipped,
    would not rise or are out of reach, by their names. Say this when the table
    was laid anew: the red cube of now may be another one.

    Exit code: 0 when all is forgotten, also where nothing was believed; 2 where
    the stack runs without `--open-state`, 1 where there is none.

    [bold]Examples[/bold]

      bbllm forget
    """
    need_ros('bbllm forget')
    choose_domain(domain)
    output = Output(json)
    with found_stack(namespace, output, hint=HINT) as client:
        look_for(
            client,
            [BELIEVER],
            lambda: client.can_forget,
            output,
        )
        forgotten = client.forget()
    output.say(forgotten)
    output.result({'forgotten': forgotten})
