"""The command `bbllm`: joins the verbs and turns errors into one sentence and an exit code."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import bbllm
from bbllm.cli.support.lazy import from_checkout, from_module
from bbllm.cli.support.verb_group import Commands

VERBS = {
    'demo': 'Watch a simulated arm build a plus sign from cubes, repairs and all.',
    'run': 'Carry out one task, given in plain words.',
    'plan': 'Print the plan for a task and the call that each step becomes; nothing moves.',
    'show': 'Show an episode as it was: plan, repairs, counts, pictures.',
    'up': 'Start the stack: five nodes, each in its own process; Ctrl-C ends them.',
    'say': 'Send the planner of a running stack a message in the middle of a task.',
    'approve': 'Approve or deny what the arm waits to do: a plan, a call, or to go on.',
    'forget': 'Make a running stack discard its beliefs about objects.',
    'scenes': 'List the scenes and houses that a task can start with.',
    'policies': 'Write the policies of SROS 2 for the processes of a stack.',
    'doctor': 'Check this machine: Python, models, ROS, rendering; print what to do.',
    'bench': (
        'Score planners and models on a suite of tasks; measure the arm, and the stack of nodes.'
    ),
}
"""Help lines of the verbs, so that `bbllm --help` imports none of their modules."""
DATA = 'Make data to tune small models with, measured in the simulator; check such files.'


class Verbs(Commands):
    """Has the verbs, each of which is imported when it runs."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        for name, text in VERBS.items():
            self.add_command(from_module(name, f'bbllm.cli.commands.{name}', text))
        self.add_command(from_checkout('data', 'data', 'finetuning.command', DATA))


app = typer.Typer(
    name='bbllm',
    cls=Verbs,
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
    Franka Research 3, real or simulated, carries it out. The Brain gets
    what goes wrong in words, and plans on from there.

    Start with [bold]bbllm demo[/bold].
    """
