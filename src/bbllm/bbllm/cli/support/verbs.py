"""Verbs of the command line by name, from entry points of installed packages."""

from functools import cache
from typing import NamedTuple

import typer

from bbllm.core.plugins import Plugin, installed

GROUP = 'bbllm.commands'


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
