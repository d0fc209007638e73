"""Commands whose modules are imported when they run, so that lists of commands are quick."""

import importlib
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from bbllm.cli.support.plain_help import PlainCommand


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
    function = name.replace('-', '_')
    return LazyCommand(
        name, help, lambda: command_of(getattr(importlib.import_module(module), function))
    )


def command_of(verb: Any) -> Any:
    if isinstance(verb, typer.Typer):
        for each in verb.registered_commands:
            each.cls = PlainCommand
        return typer.main.get_command(verb)
    from bbllm.cli.support.requests import expand_groups  # imports pydantic

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(cls=PlainCommand)(expand_groups(verb))
    return typer.main.get_command(app)
