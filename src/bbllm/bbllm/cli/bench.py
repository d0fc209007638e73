"""`bbllm bench`: scores planners and models on a suite; measures the arm and the stack."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperGroup

from bbllm.cli.ros import need_ros
from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.paths import is_yaml_path


class BenchGroup(TyperGroup):
    """Takes the name of a suite, or the path of a suite file, as a command too."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the suites first."""
        return [*_suites(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or the one that runs the suite of that name."""
        found = super().get_command(ctx, cmd_name)
        if found is None and (cmd_name in _suites() or _is_path(cmd_name)):
            return _suite_command(cmd_name)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or name the suites and commands that there are."""
        name = args[0]
        if not name.startswith('-') and self.get_command(ctx, name) is None:
            raise UnknownNameError(
                'suite or command of `bbllm bench`', name, self.list_commands(ctx)
            )
        return super().resolve_command(ctx, args)


bench = typer.Typer(
    name='bench',
    cls=BenchGroup,
    no_args_is_help=True,
    rich_markup_mode='rich',
    help='Score planners and models on a suite of tasks; measure the arm, and the stack of nodes.',
)
# What they take is described where they are; `--help` is answered there too.
HAND_OVER = {'allow_extra_args': True, 'ignore_unknown_options': True, 'help_option_names': []}


@bench.command('diff', context_settings=HAND_OVER, add_help_option=False)
def diff(context: typer.Context) -> None:
    """Compare two runs pair by pair, on the cases that both have."""
    _hand_over('bbllm.cli.bench_diff', context, 'diff')


@bench.command('compare', context_settings=HAND_OVER, add_help_option=False)
def compare(context: typer.Context) -> None:
    """Score several planners, or all, on the same cases of a suite, with equal budgets."""
    _hand_over('bbllm.cli.bench_compare', context, 'compare')


@bench.command('report', context_settings=HAND_OVER, add_help_option=False)
def report(context: typer.Context) -> None:
    """Write the report of a run's folder anew."""
    _hand_over('bbllm.cli.bench_report', context, 'report')


@bench.command('arm', context_settings=HAND_OVER, add_help_option=False)
def arm(context: typer.Context) -> None:
    """Success, accuracy, speed, limits and planning times of the simulated arm (minutes)."""
    _hand_over('bbllm.bench.arm', context)


@bench.command('weigh', context_settings=HAND_OVER, add_help_option=False)
def weigh(context: typer.Context) -> None:
    """How well the arm tells which of two cubes is heavier, and how long that takes (minutes)."""
    _hand_over('bbllm.cli.bench_weigh', context, 'weigh')


@bench.command('household-speed', context_settings=HAND_OVER, add_help_option=False)
def household_speed(context: typer.Context) -> None:
    """Steps a second of the household, and of VirtualHome 2.3.0 beside it (needs make extras)."""
    _hand_over('bbllm.bench.household_speed', context)


@bench.command('sample-goals', context_settings=HAND_OVER, add_help_option=False)
def sample_goals(context: typer.Context) -> None:
    """Draw goals for houses in three splits, each proven solvable with its least steps."""
    _hand_over('bbllm.cli.bench_sample_goals', context, 'sample_goals')


@bench.command('stack', context_settings=HAND_OVER, add_help_option=False)
def stack(context: typer.Context) -> None:
    """Start-up, memory, speed and overhead of the five nodes (needs ROS)."""
    need_ros('bbllm bench stack')
    _hand_over('bbllm.nodes.bench_stack', context)


@bench.command('process-faults', context_settings=HAND_OVER, add_help_option=False)
def process_faults(context: typer.Context) -> None:
    """Kill, stop and freeze nodes and their owners in mid-task, and see what becomes of it."""
    need_ros('bbllm bench process-faults')
    _hand_over('bbllm.nodes.bench_process_faults', context)


@bench.command('faults', context_settings=HAND_OVER, add_help_option=False)
def faults(context: typer.Context) -> None:
    """What becomes of a task when something goes wrong with the robot (needs ROS, minutes)."""
    need_ros('bbllm bench faults')
    _hand_over('bbllm.nodes.bench_faults', context)


@bench.command('driver', context_settings=HAND_OVER, add_help_option=False)
def driver(context: typer.Context) -> None:
    """Whether a driver, simulated or real, does what clients of franka_ros2 rely on."""
    need_ros('bbllm bench driver')
    _hand_over('bbllm.cli.bench_driver', context, 'driver')


def _hand_over(module: str, context: typer.Context, name: str = 'main') -> None:
    """Run a command that a module has; imported now, because that takes seconds."""
    command = _command(getattr(importlib.import_module(module), name))
    # Not as a program of its own: errors and Ctrl-C go up to `bbllm`.
    code = command.main(context.args, prog_name=context.command_path, standalone_mode=False)
    if code:
        raise typer.Exit(code)


def _suite_command(name: str) -> Any:
    from bbllm.cli.bench_suite import suite

    command = _command(suite)
    command.name = name
    command.short_help = f'Score a planner and its models on the suite {name}.'
    return command


def _command(function: Any) -> Any:
    app = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode='rich'
    )
    app.command(context_settings={'help_option_names': ['-h', '--help']})(function)
    return typer.main.get_command(app)


def _is_path(name: str) -> bool:
    return not name.startswith('-') and is_yaml_path(name)


def _suites() -> tuple[str, ...]:
    from bbllm.bench.suite import list_suites

    try:
        return list_suites()
    except BbllmError:
        # No configuration: the commands that need none still work.
        return ()
