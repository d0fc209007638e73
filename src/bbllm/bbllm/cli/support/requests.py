"""Command lines of verbs: their parameters, and the fields of their groups, are options."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, is_dataclass
from functools import partial
from inspect import Parameter, Signature, signature
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
    Return the default of a parameter or field that is an option.

    *settings* are more arguments of `typer.Option`. Where the first of its flags is short,
    `--name-of-the-field` comes before it. The default is shown in the help text unless it is None.
    Without a panel, it is in that of its group.
    """

    def declare(name: str, kind: Any, group: str | None) -> Any:
        named = bool(flags) and flags[0].startswith('--')
        names = flags if named else (flag_of(name), *flags)
        settings.setdefault('metavar', METAVARS.get(get_args(kind)[0] if get_args(kind) else kind))
        settings.update(
            help=help, rich_help_panel=panel or group, show_default=default is not None
        )
        return typer.Option(default, *names, **settings)

    return dataclasses.field(default=default, metadata={'declare': declare})


flag = partial(option, default=False)
"""Called with a help text: a switch."""


def flag_of(name: str) -> str:
    return f'--{name.replace("_", "-")}'


def expand_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with the fields of its groups as parameters, for typer to declare."""

    def call(**values: Any) -> None:
        _build(verb, values)

    call.__name__, call.__doc__ = verb.__name__, verb.__doc__
    # typer reads the signature; functions have no such attribute by type.
    call.__signature__ = Signature(list(_parameters(verb)))  # type: ignore[attr-defined]
    return call


def _members(owner: Any) -> dict[str, tuple[Any, Any]]:
    """Return type and default of each parameter of a verb, or field of a group."""
    kinds = get_type_hints(owner, include_extras=True)
    if is_dataclass(owner):
        defaults: dict[str, Any] = {item.name: item for item in dataclasses.fields(owner)}
    else:
        defaults = {name: item.default for name, item in signature(owner).parameters.items()}
    return {name: (kinds[name], default) for name, default in defaults.items()}


def _parameters(owner: Any) -> Iterator[Parameter]:
    for name, (kind, default) in _members(owner).items():
        if is_dataclass(kind):
            yield from _parameters(kind)
            continue
        if isinstance(default, Field):
            declare, default = default.metadata.get('declare'), default.default
            if declare:
                default = declare(name, kind, getattr(owner, 'panel', None))
        default = Parameter.empty if default is MISSING else default
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _build(owner: Any, values: Mapping[str, Any]) -> Any:
    """Call a verb, or make a group, with its values."""
    return owner(
        **{
            name: _build(kind, values) if is_dataclass(kind) else values[name]
            for name, (kind, _) in _members(owner).items()
        }
    )


def given(group: Any) -> dict[str, object]:
    """Return the options of a group that have a value, by name; groups within it included."""
    values: dict[str, object] = {}
    for item in dataclasses.fields(group):
        value = getattr(group, item.name)
        if is_dataclass(value):
            values |= given(value)
        elif value is not None and value is not False:
            values[item.name] = value
    return values


def fill(record: type[T], /, *groups: Any, **more: Any) -> T:
    """Return a dataclass of the options of its fields' names, and of *more*, which wins."""
    known = {item.name for item in dataclasses.fields(record)}  # type: ignore[arg-type]  # T is a dataclass
    values = {name: value for group in groups for name, value in given(group).items()}
    chosen = {name: value for name, value in values.items() if name in known}
    return record(**{**chosen, **{name: v for name, v in more.items() if v is not None}})
