"""`bbllm bench`: scores planners and models on a suite; measures the arm and the stack."""

from typing import Any

import typer
from typer.core import TyperGroup

from bbllm.cli.support.lazy import LazyCommand, command_of, from_module
from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.paths import config_files, is_yaml_path


class BenchGroup(TyperGroup):
    """Takes the name of a suite, or the path of a suite file, as a command too."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        for name, text in COMMANDS.items():
            self.add_command(from_module(name, f'bbllm_bench.commands.bench_{name}', text))
        for name, (module, text) in BENCHMARKS.items():
            self.add_command(from_module(name, f'bbllm_bench.benchmarks.{module}', text))

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the suites first."""
        return [*_suites(), *super().list_commands(ctx)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the suites as one line, since all have the same options, and the commands."""
        suites = _suites()
        with formatter.section('Suites, of which `bbllm bench SUITE` plays one'):
            formatter.write_text(f'{", ".join(suites)}; or the path of a suite file')
        names = [name for name in self.list_commands(ctx) if name not in suites]
        with formatter.section('Commands'):
            formatter.write_dl([(x, self.get_command(ctx, x).short_help) for x in names])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or the one that runs the suite of that name."""
        found = super().get_command(ctx, cmd_name)
        is_path = not cmd_name.startswith('-') and is_yaml_path(cmd_name)
        if found is None and (cmd_name in _suites() or is_path):
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
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@bench.callback()
def bench_command() -> None:
    """Score planners and models on a suite of tasks; measure the arm, and the stack of nodes."""


BENCHMARKS = {
    'arm': (
        'arm.command',
        'Success, accuracy, speed and limits of the simulated arm (minutes).',
    ),
    'recorded': (
        'recorded.command',
        'Replay recorded replies of a language model, with a stand-in beside them.',
    ),
    'time': (
        'time.command',
        'What a person waits for: arm, models, stack; each figure beside a bound (ten minutes).',
    ),
    'eai-export': (
        'eai.export',
        'Answer the prompts of the Embodied Agent Interface: four modules, one reply each.',
    ),
    'eai-score': (
        'eai.score',
        'Score such answers by the evaluators of the Embodied Agent Interface.',
    ),
    'injection': (
        'injection.command',
        'What comes of instructions in names, facts, errors, feedback and file names.',
    ),
    'voice': (
        'voice.command',
        'Word errors, delays and missed stops of synthesised speech in noise (minutes).',
    ),
    'driver': (
        'driver.command',
        'Whether a driver, simulated or real, does what clients of franka_ros2 rely on.',
    ),
    'faults': (
        'faults.command',
        'Inject faults into the robot (needs ROS), or cross them with faults of the model.',
    ),
}
"""The module in `bbllm_bench/benchmarks` with the function of that name, `_` for `-`, and its help
line."""
COMMANDS = {
    'diff': 'Compare two runs pair by pair, on the cases that both have.',
    'compare': 'Score several planners, or all, on the same cases of a suite, with equal budgets.',
    'merge': 'Put the shards of a run, played on several machines, into one folder.',
    'report': "Write the report of a run's folder anew.",
}


def _suite_command(name: str) -> LazyCommand:
    def load() -> Any:
        from bbllm_bench.commands.bench_suite import suite

        command = command_of(suite)
        command.name = name
        return command

    return LazyCommand(name, f'Score a planner and its models on the suite {name}.', load)


def _suites() -> tuple[str, ...]:
    try:
        return tuple(sorted(config_files('suites/*.yaml')))
    except BbllmError:
        # No configuration: the commands that need none still work.
        return ()
