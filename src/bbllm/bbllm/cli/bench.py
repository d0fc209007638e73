"""`bbllm bench`: measures the arm, and the stack of nodes."""

from __future__ import annotations

import importlib

import typer

from bbllm.cli.ros import need_ros

bench = typer.Typer(
    name='bench',
    no_args_is_help=True,
    rich_markup_mode='rich',
    help='Measure the arm, and the stack of nodes; prints tables with the machine named.',
)
# What they take is described where they are; `--help` is answered there too.
HAND_OVER = {'allow_extra_args': True, 'ignore_unknown_options': True, 'help_option_names': []}


@bench.command('arm', context_settings=HAND_OVER, add_help_option=False)
def arm(context: typer.Context) -> None:
    """Success, accuracy, speed, limits and planning times of the simulated arm (minutes)."""
    _hand_over('bbllm.bench.arm', context)


@bench.command('stack', context_settings=HAND_OVER, add_help_option=False)
def stack(context: typer.Context) -> None:
    """Start-up, memory, speed and overhead of the five nodes (needs ROS)."""
    need_ros('bbllm bench stack')
    _hand_over('bbllm.nodes.bench_stack', context)


def _hand_over(module: str, context: typer.Context) -> None:
    """Run the command that a module calls `main`; imported now, because that takes seconds."""
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command()(importlib.import_module(module).main)
    command(context.args, prog_name=context.command_path)
