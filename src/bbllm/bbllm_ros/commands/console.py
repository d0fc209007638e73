"""`bbllm console`: a page in a browser that shows a running stack and directs it."""

from __future__ import annotations

from bbllm.cli.support.options import JsonOption, StackOptions
from bbllm.cli.views.output import Output
from bbllm_ros.stack.found_stack import open_stack
from bbllm_viewer.commands.browser import PageOptions, check_packages, served, until_interrupted

HINT = 'Or do without: bbllm demo --browser.'


def console(*, page: PageOptions, stack: StackOptions, json: JsonOption = False) -> None:
    """
    Show a running stack in a browser, and direct it from there.

    The page shows the plan with the step under way, each repair with its
    cause, prompts and replies, the scene and the arm; it begins tasks, sends
    remarks, approves by hash and stops. Only this machine reaches it, at an
    address that nobody can guess. Ctrl-C ends it; a task that the page
    began is cancelled then, as with `bbllm run`.

    Examples:
      bbllm console
      bbllm console --port 8470
      bbllm console --namespace bbllm_real
      bbllm console --host robot-pc --tls-cert cert.pem --tls-key key.pem
    """
    check_packages('bbllm console')
    output = Output(json)
    with open_stack('bbllm console', stack, output, hint=HINT) as client:
        from bbllm_ros.stack.session import StackSession
        from bbllm_viewer.console.session_desk import SessionDesk

        with SessionDesk(StackSession(client)) as desk, served(desk, page, output) as url:
            output.result({'url': url, 'namespace': client.namespace})
            output.print('Ctrl-C ends it; the stack goes on.', 'dim')
            until_interrupted()
