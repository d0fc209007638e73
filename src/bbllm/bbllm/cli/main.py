"""The command `bbllm`: joins the verbs and turns errors into one sentence and an exit code."""

from __future__ import annotations

from typing import Annotated

import typer

import bbllm
from bbllm.cli.commands.approve import approve
from bbllm.cli.commands.bench import HAND_OVER, bench, data
from bbllm.cli.commands.demo import demo
from bbllm.cli.commands.doctor import doctor
from bbllm.cli.commands.forget import forget
from bbllm.cli.commands.plan import plan
from bbllm.cli.commands.policies import policies
from bbllm.cli.commands.run import run
from bbllm.cli.commands.say import say
from bbllm.cli.commands.scenes import scenes
from bbllm.cli.commands.show import show
from bbllm.cli.commands.up import up
from bbllm.cli.support.verb_group import Commands

app = typer.Typer(
    name='bbllm',
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode='rich',
    pretty_exceptions_enable=False,
    context_settings={'help_option_names': ['-h', '--help']},
)


def print_version(wanted: bool) -> None:
    """Print the version and end, where it was asked for."""
    if wanted:
        typer.echo(f'bbllm {bbllm.__version__}')
        raise typer.Exit


@app.callback()
def bbllm_command(
    version: Annotated[
        bool,
        typer.Option(
            '--version', callback=print_version, is_eager=True, help='Print the version and end.'
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            '--debug', envvar='BBLLM_DEBUG', help='Show the traceback of a fault in the program.'
        ),
    ] = False,
) -> None:
    """
    Tell a robot arm in plain words what to do.

    A Brain model plans, a Body model turns each step into a call, and a
    Franka Research 3, real or simulated, carries it out. What goes wrong is
    told to the Brain in words, and it plans on from there.

    Start with [bold]bbllm demo[/bold].
    """


for verb in (demo, run, plan, show, up, say, approve, forget, scenes, policies, doctor):
    app.command()(verb)
app.add_typer(bench)
app.command(context_settings=HAND_OVER, add_help_option=False)(data)
