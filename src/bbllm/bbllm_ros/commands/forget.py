"""`bbllm forget`: makes a running stack discard its beliefs about objects."""

from operator import attrgetter

from bbllm.cli.support.options import JsonOption, StackOptions
from bbllm.cli.views.output import Output
from bbllm_ros.stack.found_stack import found_stack

BELIEVER = 'state_estimator'
HINT = 'One that believes takes --open-state rules, or open_state:=rules.'


def forget(stack: StackOptions, json: JsonOption = False) -> None:
    """
    Make a running stack discard its beliefs about objects.

    A stack with `--open-state` remembers across tasks which objects slipped,
    did not rise or are out of reach, by their names. Run this after the objects
    were rearranged: the red cube may be another one now.

    Exit code: 0 when all is forgotten, also if there was no belief; 2 where
    the stack runs without `--open-state`, 1 where there is none.

    Examples:
      bbllm forget
    """
    output, joined = Output(json), attrgetter('can_forget')
    with found_stack('bbllm forget', stack, output, [BELIEVER], joined, hint=HINT) as client:
        forgotten = client.forget()
    output.print(forgotten)
    output.result({'forgotten': forgotten})
