"""Commands whose modules are imported when they run, so that lists of commands are quick."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from bbllm.api.ros_environment import need_ros
from bbllm.cli.support.plain_help import PlainCommand
from bbllm.cli.support.requests import expand_groups
from bbllm.core.errors import ConfigError
from bbllm.core.paths import checkout_dir


class LazyCommand(TyperCommand):
    """A command, or a group, whose module is imported when it runs: `load` returns it."""

    def __init__(self, name: str, help: str, load: Callable[[], Any]):
        # A list of commands would cut the line of `help` at the width of the terminal.
        super().__init__(name, callback=None, help=help, short_help=help)
        self._load = load

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the arguments of the command itself, which the context then runs."""
        return self._load().make_context(info_name, args, parent, **extra)


def from_module(name: str, module: str, help: str) -> LazyCommand:
    return LazyCommand(
        name, help, lambda: command_of(getattr(importlib.import_module(module), name))
    )


def from_checkout(
    name: str, verb: str, module: str, help: str, *, needs_ros: bool = False
) -> LazyCommand:
    """
    Return a command of the folder `benchmarks`, which only a source checkout has.

    *verb* is the name with the group it is in; the module has a Typer application `app`, which is
    the command, or has it under this name.
    """

    def load() -> Any:
        if needs_ros:
            need_ros(f'bbllm {verb}')
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
        command = command_of(importlib.import_module(f'benchmarks.{module}').app)
        return command.commands[name] if isinstance(command, TyperGroup) else command

    return LazyCommand(name, help, load)


def command_of(verb: Any) -> Any:
    if isinstance(verb, typer.Typer):
        for each in verb.registered_commands:
            each.cls = PlainCommand
        return typer.main.get_command(verb)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(cls=PlainCommand)(expand_groups(verb))
    return typer.main.get_command(app)
