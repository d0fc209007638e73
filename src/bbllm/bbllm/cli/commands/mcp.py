"""`bbllm mcp`: lets language models use a running stack, under a person's permits."""

from __future__ import annotations

import importlib.util
from typing import Any

from bbllm.api.options import EpisodeOptions
from bbllm.api.setup import make_setup
from bbllm.cli.support.discovery import open_stack
from bbllm.cli.support.options import MethodOptions, StackOptions
from bbllm.cli.support.requests import fill, option
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.extras import how_to_install
from bbllm.core.journal import summarize
from bbllm.core.progress import progress_of
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene

HOST = '127.0.0.1'
HINT = 'For tasks of programs it has to ask a person: bbllm up sim --approval plan.'


def mcp(
    *,
    http: int | None = option(
        'Serve HTTP on this port of 127.0.0.1, under /mcp, in place of stdin and stdout.',
        metavar='PORT',
        min=1,
        max=65535,
    ),
    method: MethodOptions,
    stack: StackOptions,
) -> None:
    """
    Serve a running stack to language models by the Model Context Protocol.

    Tools: scene, plan, run_task, task_status, say, stop. None of them permits
    a motion: the stack has to ask a person (`bbllm up sim --approval plan`),
    who answers with `bbllm approve`. Resources: journals and pictures of the
    episodes. Speaks on stdin and stdout, as clients that start it expect, or
    with --http on a port that only this machine reaches.

    [bold]Examples[/bold]

      bbllm mcp
      bbllm mcp --http 8765
      bbllm mcp --namespace bbllm_real
    """
    if importlib.util.find_spec('mcp') is None:
        raise ConfigError(f'`bbllm mcp` needs the package mcp; {how_to_install("mcp")}.')
    output = Output(json=True)  # stdout belongs to the protocol
    options = fill(EpisodeOptions, method)
    with open_stack('bbllm mcp', stack, output, hint=HINT) as client:
        from bbllm.mcp.server import make_server
        from bbllm.mcp.task_desk import TaskDesk

        with TaskDesk(client) as desk:
            server = make_server(client, desk, lambda task, scene: _plan(options, task, scene))
            if http is None:
                server.run('stdio')
            else:
                output.print(f'Serving http://{HOST}:{http}/mcp; Ctrl-C ends.')
                server.run('streamable-http', host=HOST, port=http)


def _plan(options: EpisodeOptions, task: str, scene: Scene) -> dict[str, Any]:
    """Return the plan of a task as JSON values."""
    setup = make_setup(options, scene.domain)
    episode = setup.plan_only(make_task(task), scene)
    summary = summarize(episode)
    return {
        'plan': [
            {'index': row.index, 'text': row.text, 'call': row.call, 'note': row.note}
            for row in progress_of(episode).rows
        ],
        **{key: summary[key] for key in ('message', 'conditions', 'brain', 'body')},
    }
