"""`bbllm mcp`: lets language models use a running stack, under a person's permits."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from bbllm.api.config import EpisodeConfig, MethodChoice
from bbllm.api.setup import make_setup
from bbllm.cli.support.options import JsonOption, StackOptions
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.journal import summarize
from bbllm.core.paths import state_dir
from bbllm.core.plugins import how_to_install
from bbllm.core.progress import progress_of
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene
from bbllm_ros.stack.found_stack import open_stack
from bbllm_viewer.commands.browser import until_interrupted

if TYPE_CHECKING:
    from starlette.types import ASGIApp

TOKEN_FILE = 'mcp_token'
HINT = 'For tasks of programs it has to ask a person: bbllm up sim --approval plan.'


def mcp(
    *,
    http: int | None = option(
        'Serve HTTP on this port of 127.0.0.1 in place of stdin and stdout; prints the address.',
        metavar='PORT',
        min=1,
        max=65535,
    ),
    method: MethodChoice,
    stack: StackOptions,
    json: JsonOption = False,
) -> None:
    """
    Serve a running stack to language models by the Model Context Protocol.

    Tools: scene, plan, run_task, task_status, say, stop. None of them permits
    a motion: the stack has to ask a person (`bbllm up sim --approval plan`),
    who answers with `bbllm approve`. Resources: journals and pictures of the
    episodes. Speaks on stdin and stdout, as clients that start it expect, or
    with --http on a port that only this machine reaches, at an address with a
    token, which stays the same.

    Examples:
      bbllm mcp
      bbllm mcp --http 8765
      bbllm mcp --namespace bbllm_real
    """
    if importlib.util.find_spec('mcp') is None:
        raise ConfigError(f'`bbllm mcp` needs the package mcp; {how_to_install("mcp")}.')
    if json and http is None:
        raise ConfigError('--json prints the address of --http PORT; without it stdout is of MCP.')
    output = Output(json=True)  # stdout belongs to the protocol
    options = EpisodeConfig.of(method.given)
    with open_stack('bbllm mcp', stack, output, hint=HINT) as client:
        from bbllm_ros.mcp.server import make_server
        from bbllm_ros.mcp.task_desk import TaskDesk

        with TaskDesk(client) as desk:
            server = make_server(client, desk, lambda task, scene: _plan(options, task, scene))
            if http is None:
                server.run('stdio')
            else:
                _serve_http(server.streamable_http_app(), http, output, json=json)


def _serve_http(app: ASGIApp, port: int, output: Output, *, json: bool) -> None:
    from bbllm_viewer.web.kept_token import kept_token
    from bbllm_viewer.web.server import Address, SecretServer

    file = state_dir() / TOKEN_FILE
    token = kept_token(file)
    with SecretServer(app, Address(port=port), token=token, serves_programs=True) as served:
        output.print('Serving clients of this machine that have this address; Ctrl-C ends.')
        output.print_line(f'  {served.url}mcp')
        output.print(f'Its token is in {file}; delete that for a new one.', 'dim')
        if json:
            output.result({'url': f'{served.url}mcp', 'token_file': str(file)})
        until_interrupted()


def _plan(options: EpisodeConfig, task: str, scene: Scene) -> dict[str, Any]:
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
