"""The group of verbs: turns whatever goes wrong into one sentence and an exit code."""

import io
import os
import sys
import time
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from bbllm.cli.support.lazy import from_module
from bbllm.cli.views import StdoutError
from bbllm.core.errors import (
    ApprovalError,
    BbllmError,
    ConfigError,
    ReplayError,
    TaskError,
    UnknownNameError,
)
from bbllm.core.paths import state_dir
from bbllm.core.plugins import Plugin, installed
from bbllm.core.text import escape_hidden, json_text

FAILED = 1
"""The episode did not finish, or the program broke."""
MENDABLE = (ApprovalError, ConfigError, TaskError, UnknownNameError, ReplayError)
"""What a person can mend by typing something else."""
BAD_INPUT = 2
"""What was typed, or a file that was named, cannot be used."""
INTERRUPTED = 130
"""Ctrl-C, as shells count it: 128 + SIGINT."""
GROUP = 'bbllm.commands'
UNHEARD = 141
"""The reader of stdout went away, as shells count it: 128 + SIGPIPE."""


class Verbs(TyperGroup):
    """
    Has the verbs, each of which is imported when it runs, and runs one.

    With --json, an error too becomes exactly one object on stdout.
    """

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        for name, (module, text) in find_verbs().items():
            self.add_command(from_module(name, module, text))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether a program is listening before anything can go wrong."""
        ctx.meta['bbllm.json'] = '--json' in args
        ctx.meta['bbllm.debug'] = '--debug' in args or bool(os.environ.get('BBLLM_DEBUG'))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a letter shows a question mark instead of a traceback.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors='replace')
        try:
            try:
                return self._invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            raise typer.Exit(UNHEARD) from None
        except OSError as error:
            # `_invoke` reports the errors of a verb; this one is of stdout, as on a full disk.
            _forget_stdout()
            with suppress(OSError):
                typer.echo(f'error: The output cannot be written ({error.strerror}).', err=True)
            raise typer.Exit(FAILED) from None

    def _invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, BrokenPipeError, StdoutError):
            raise
        except KeyboardInterrupt:
            _report(ctx, 'Interrupted from the keyboard.', 'Interrupted')
            raise typer.Exit(INTERRUPTED) from None
        except BbllmError as error:
            _report(ctx, str(error), type(error).__name__)
            raise typer.Exit(BAD_INPUT if isinstance(error, MENDABLE) else FAILED) from error
        except Exception as error:  # the last resort: no person is shown a bare traceback
            if hasattr(error, 'format_message'):
                # A usage error: typer prints it, with the usage line, better than we could.
                if hasattr(error, 'message'):
                    # A word of the library that checks values, for its own readers.
                    error.message = escape_hidden(error.message).removeprefix('Value error, ')
                _report_json(ctx, error.format_message(), 'UsageError')
                raise
            if ctx.meta['bbllm.debug']:
                raise
            # A fault of this program: people get a sentence, the traceback goes to a file.
            text = f'Fault in the program: {type(error).__name__}: {error}'
            _report(ctx, f'{text}\nTraceback: {_save_traceback()}', type(error).__name__)
            raise typer.Exit(FAILED) from error


def _report(ctx: Any, text: str, kind: str) -> None:
    _report_json(ctx, text, kind)
    typer.echo(f'{typer.style("error:", fg="red", bold=True)} {escape_hidden(text)}', err=True)


def _report_json(ctx: Any, text: str, kind: str) -> None:
    if ctx.meta['bbllm.json']:
        typer.echo(json_text({'error': text, 'error_kind': kind}))


def _forget_stdout() -> None:
    # Else Python tries to print what is left once more when it ends, and complains.
    with Path(os.devnull).open('wb') as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _save_traceback() -> Path | str:
    text = traceback.format_exc()
    path = state_dir() / 'faults' / f'{time.strftime("%Y%m%d-%H%M%S")}-{os.getpid()}.txt'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
    except OSError:
        # Nowhere to write to: then the terminal is the only place left.
        sys.stderr.write(text)
        return 'above'
    return path


class Verb(NamedTuple):
    """Where a verb is, and the line about it in `bbllm --help`."""

    module: str
    """Its dotted name; has a function or a Typer application that is called like the verb."""
    help: str


@cache
def find_verbs() -> dict[str, Verb]:
    """
    Return all verbs: those of bbllm first, then by the names of their entry points.

    An entry point of the group `bbllm.commands` names a dictionary with the help line of each
    verb; the module of a verb is beside the module of the dictionary and has its name. What
    cannot be loaded, or has a name that is taken, is left out with a warning on stderr.
    """
    found: dict[str, Verb] = {}
    for point in sorted(installed(GROUP), key=_after_ours):
        try:
            lines = {str(name): str(text) for name, text in point.load().items()}
        except Exception as error:  # a package of somebody else may fail in any way
            _warn(f'The verbs of {point.value} cannot be loaded: {type(error).__name__}: {error}')
            continue
        for name, text in lines.items():
            verb = Verb(f'{point.module}.{name}', text)
            taken = found.setdefault(name, verb)
            if taken is not verb:
                _warn(f'{verb.module} is left out: `bbllm {name}` is {taken.module}.')
    return found


def _after_ours(point: Plugin) -> tuple[bool, str]:
    """Sort so that no other package can take the name of a verb of bbllm, such as `approve`."""
    return point.package != 'bbllm', point.name


def _warn(text: str) -> None:
    typer.echo(f'warning: {text}', err=True)
