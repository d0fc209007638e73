"""The command `bbllm`: joins the verbs and turns errors into one sentence and an exit code."""

from typing import Annotated

import typer

import bbllm
from bbllm.cli.support.plain_help import ALL, HELP_NAMES
from bbllm.cli.support.verb_group import Verbs

app = typer.Typer(
    name='bbllm',
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    # Groups of verbs inherit them; a verb has two tiers of its own.
    context_settings={'help_option_names': [*HELP_NAMES, ALL]},
)


def print_version(wanted: bool) -> None:
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
    Franka Research 3, real or simulated, carries it out. The Brain gets
    what goes wrong in words, and plans on from there.

    Start with `bbllm demo`.
    """
