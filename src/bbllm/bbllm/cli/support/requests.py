"""Command lines from dataclasses: a verb takes one request, and each field of it is an option."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import typer

T = TypeVar('T')


METAVARS = {str: 'NAME', int: 'N', Path: 'FILE'}
"""What stands for a value in help texts, by its type."""


def option(
    help: str, *flags: str, default: Any = None, panel: str | None = None, **settings: Any
) -> Any:
    """
    Return a field that is an option; *settings* are more arguments of `typer.Option`.

    Where the first of its flags is short, `--name-of-the-field` comes before it. The default is
    shown in the help text unless it is None. Without a panel, it is in that of its group.
    """

    def declare(name: str, kind: Any, group: str | None) -> Any:
        named = bool(flags) and flags[0].startswith('--')
        names = flags if named else (flag_of(name), *flags)
        settings.setdefault('metavar', METAVARS.get(get_args(kind)[0] if get_args(kind) else kind))
        shown = default is not None
        return typer.Option(
            default,
            *names,
            help=help,
            rich_help_panel=panel or group,
            show_default=shown,
            **settings,
        )

    return field(default=default, metadata={'declare': declare})


flag = partial(option, default=False)
"""Called with a help text: a field that is a switch."""


def flag_of(name: str) -> str:
    return f'--{name.replace("_", "-")}'


def expand_request(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with the fields of its request as parameters, for typer to declare."""
    request = get_type_hints(verb).get('request')
    if request is None:
        return verb

    def call(**values: Any) -> None:
        verb(_build(request, values))

    call.__name__, call.__doc__ = verb.__name__, verb.__doc__
    # typer reads the signature; functions have no such attribute by type.
    call.__signature__ = Signature(list(_parameters(request)))  # type: ignore[attr-defined]
    return call


def _parameters(request: Any) -> Iterator[Parameter]:
    hints = get_type_hints(request, include_extras=True)
    for item in fields(request):
        kind = hints[item.name]
        if is_dataclass(kind):
            yield from _parameters(kind)
            continue
        default = Parameter.empty if item.default is MISSING else item.default
        if declare := item.metadata.get('declare'):
            default = declare(item.name, kind, getattr(request, 'panel', None))
        yield Parameter(item.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _build(request: Any, values: Mapping[str, Any]) -> Any:
    kinds = get_type_hints(request)
    return request(
        **{
            item.name: _build(kind, values) if is_dataclass(kind) else values[item.name]
            for item in fields(request)
            for kind in [kinds[item.name]]
        }
    )


def given(request: Any) -> dict[str, object]:
    """Return the options of a group that have a value, by name; groups within it included."""
    values: dict[str, object] = {}
    for item in fields(request):
        value = getattr(request, item.name)
        if is_dataclass(value):
            values |= given(value)
        elif value is not None and value is not False:
            values[item.name] = value
    return values


def fill(record: type[T], request: Any, /, **more: Any) -> T:
    """Return a dataclass of the options of its fields' names, and of *more*, which wins."""
    known = {item.name for item in fields(record)}  # type: ignore[arg-type]  # T is a dataclass
    values = {name: value for name, value in given(request).items() if name in known}
    return record(**{**values, **more})
