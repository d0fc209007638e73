"""`bbllm bench`: scores planners and models on a suite; measures the arm and the stack."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from bbllm.cli.support.ros import need_ros
from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.core.paths import checkout_dir, is_yaml_path


class BenchGroup(TyperGroup):
    """Takes the name of a suite, or the path of a suite file, as a command too."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the suites first; benchmarks of a checkout are listed in a checkout only."""
        names = super().list_commands(ctx)
        if checkout_dir() is None:
            names = [name for name in names if name not in BENCHMARKS]
        return [*_suites(), *names]

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
    _hand_over('bbllm.cli.commands.bench_diff', context, 'diff')


@bench.command('compare', context_settings=HAND_OVER, add_help_option=False)
def compare(context: typer.Context) -> None:
    """Score several planners, or all, on the same cases of a suite, with equal budgets."""
    _hand_over('bbllm.cli.commands.bench_compare', context, 'compare')


@bench.command('report', context_settings=HAND_OVER, add_help_option=False)
def report(context: typer.Context) -> None:
    """Write the report of a run's folder anew."""
    _hand_over('bbllm.cli.commands.bench_report', context, 'report')


@bench.command('driver', context_settings=HAND_OVER, add_help_option=False)
def driver(context: typer.Context) -> None:
    """Whether a driver, simulated or real, does what clients of franka_ros2 rely on."""
    need_ros('bbllm bench driver')
    _hand_over('bbllm.cli.commands.bench_driver', context, 'driver')


@dataclass(frozen=True)
class Benchmark:
    """An engineering benchmark of the folder `benchmarks`, which only a source checkout has."""

    module: str
    """Its module there, which has a typer app of one command."""
    help: str
    needs_ros: bool = False


BENCHMARKS = {
    'arm': Benchmark(
        'arm.command',
        'Success, accuracy, speed, limits and planning times of the simulated arm (minutes).',
    ),
    'weigh': Benchmark(
        'mass_discrimination.command',
        'How well the arm tells which of two cubes is heavier, and how long that takes (minutes).',
    ),
    'household-speed': Benchmark(
        'household_speed.command',
        'Steps per second of the household, and of VirtualHome 2.3.0 (needs make extras).',
    ),
    'sample-goals': Benchmark(
        'goals.command',
        'Draw goals for houses in three splits, each proven solvable with its least steps.',
    ),
    'stack': Benchmark(
        'stack.command',
        'Start-up, memory, speed and overhead of the five nodes (needs ROS).',
        needs_ros=True,
    ),
    'process-faults': Benchmark(
        'faults.process',
        'Kill, stop and freeze processes in mid-task, and report how tasks end (needs ROS).',
        needs_ros=True,
    ),
    'faults': Benchmark(
        'faults.robot',
        'Inject faults into the robot in mid-task, and report how tasks end (needs ROS, minutes).',
        needs_ros=True,
    ),
}


def _add_benchmark(name: str, benchmark: Benchmark) -> None:
    def run(context: typer.Context) -> None:
        if benchmark.needs_ros:
            need_ros(f'bbllm bench {name}')
        run_benchmark(f'bench {name}', benchmark.module, context)

    bench.command(name, help=benchmark.help, context_settings=HAND_OVER, add_help_option=False)(
        run
    )


for _name, _benchmark in BENCHMARKS.items():
    _add_benchmark(_name, _benchmark)


def run_benchmark(verb: str, module: str, context: typer.Context) -> None:
    """
    Run the typer app of a module in the checkout's folder `benchmarks`.

    Raises:
        ConfigError: This is not a checkout.
    """
    root = checkout_dir()
    if root is None or not (root / 'benchmarks' / '__init__.py').is_file():
        raise ConfigError(
            f'`bbllm {verb}` needs the folder benchmarks/ of a checkout of the bbllm '
            'repository, which an installed package does not have. In a checkout type: '
            f'make setup (once), then bin/bbllm {verb}.'
        )
    if str(root) not in sys.path:
        # Last, so that no folder of the checkout shadows an installed package.
        sys.path.append(str(root))
    _run(typer.main.get_command(importlib.import_module(f'benchmarks.{module}').app), context)


def _hand_over(module: str, context: typer.Context, name: str) -> None:
    """Run a command that a module has; imported now, because that takes seconds."""
    _run(_command(getattr(importlib.import_module(module), name)), context)


def _run(command: Any, context: typer.Context) -> None:
    # Not as a program of its own: errors and Ctrl-C go up to `bbllm`.
    code = command.main(
        context.args,
        prog_name=context.command_path,
        standalone_mode=False,
        help_option_names=['-h', '--help'],
    )
    if code:
        raise typer.Exit(code)


def data(context: typer.Context) -> None:
    """Make data to tune small models with, measured in the simulator; check such files."""
    run_benchmark('data', 'finetuning.command', context)


def _suite_command(name: str) -> Any:
    from bbllm.cli.commands.bench_suite import suite

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
    from bbllm.bench.suites.suite import list_suites

    try:
        return list_suites()
    except BbllmError:
        # No configuration: the commands that need none still work.
        return ()
