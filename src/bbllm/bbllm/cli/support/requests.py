"""Command lines of verbs: their parameters, and the fields of their groups, are options."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, is_dataclass
from enum import Enum
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from bbllm.api.settings import Settings, flag_of, surface_of
from bbllm.cli.support.plain_help import COMMON, LISTED
from bbllm.core.errors import BbllmError

T = TypeVar('T')


METAVARS = {str: 'NAME', int: 'N', Path: 'FILE'}
"""What stands for a value in help texts, by its type."""


def option(
    help: str, *flags: str, default: Any = None, panel: str | None = None, **settings: Any
) -> Any:
    """
    Return the default of a parameter or field that is an option of verbs alone.

    *settings* are more arguments of `typer.Option`. Where the first of its flags is short,
    `--name-of-the-field` comes before it. The default is shown in the help text unless it is None.
    Without a panel, it is in that of its group.
    """

    def declare(name: str, kind: Any, group: str | None) -> Any:
        names = _flags(name, flags)
        settings.setdefault('metavar', METAVARS.get(get_args(kind)[0] if get_args(kind) else kind))
        settings.update(
            help=help, rich_help_panel=panel or group, show_default=default is not None
        )
        return typer.Option(default, *names, **settings)

    return dataclasses.field(default=default, metadata={'declare': declare})


flag = partial(option, default=False)
"""Called with a help text: a switch."""


def _flags(name: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    named = bool(flags) and flags[0].startswith('--')
    return flags if named else (flag_of(name), *flags)


def beginning(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes the beginning of a name, for the shell."""

    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except BbllmError:
            # An error in a completion would garble the line that is typed.
            return []

    return complete


def _declared(name: str, item: FieldInfo) -> tuple[Any, Any]:
    """Return the type and the option of a setting; it is None where nothing was typed."""
    shown = surface_of(item)
    kind, flags = shown.kind or _typed(item.annotation), _flags(name, shown.flags)
    if shown.common:
        COMMON.add(flags[0].partition('/')[0])
    if shown.listed and shown.words is not None:
        LISTED[flags[0]] = shown.words
    value = typer.Option(
        None,
        *flags,
        help=_with_default(item),
        metavar=shown.metavar or METAVARS.get(kind),
        rich_help_panel=shown.panel,
        show_default=False,
        min=shown.low if kind in (int, float) else None,
        max=shown.high if kind in (int, float) else None,
        autocompletion=beginning(shown.words) if shown.words else None,
    )
    return Union[kind, None], value  # noqa: UP007  # the kind is known at run time alone


def _typed(annotation: Any) -> Any:
    """Return the type that a command line has for one of Python."""
    if get_origin(annotation) is Annotated:
        return _typed(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return _typed(next(x for x in get_args(annotation) if x is not NoneType))
    return list[str] if get_origin(annotation) is tuple else annotation


def _with_default(item: FieldInfo) -> str:
    """Return what a setting is, with its default in the first sentence."""
    text, default = item.description or '', item.default
    if default in (None, False, True, '', ()) or default == -1 or default == 0:
        return text
    shown = default.value if isinstance(default, Enum) else default
    head, dot, tail = text.partition('. ')
    return f'{head.removesuffix(".")} (default: {shown}).{" " if dot else ""}{tail}'


def expand_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with the fields of its groups as parameters, for typer to declare."""

    def call(**values: Any) -> None:
        _build(verb, values)

    call.__name__, call.__doc__ = verb.__name__, verb.__doc__
    # typer reads the signature; functions have no such attribute by type.
    call.__signature__ = Signature(list(_parameters(verb)))  # type: ignore[attr-defined]
    return call


def _is_settings(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Settings)


def _is_group(kind: Any) -> bool:
    return is_dataclass(kind) or _is_settings(kind)


def _members(owner: Any) -> dict[str, tuple[Any, Any]]:
    """Return type and default of each parameter of a verb, or field of a group."""
    if _is_settings(owner):
        return {name: (item.annotation, item) for name, item in owner.model_fields.items()}
    kinds = get_type_hints(owner, include_extras=True)
    if is_dataclass(owner):
        defaults: dict[str, Any] = {item.name: item for item in dataclasses.fields(owner)}
    else:
        defaults = {name: item.default for name, item in signature(owner).parameters.items()}
    return {name: (kinds[name], default) for name, default in defaults.items()}


def _parameters(owner: Any) -> Iterator[Parameter]:
    for name, (kind, default) in _members(owner).items():
        if _is_group(kind):
            yield from _parameters(kind)
            continue
        if isinstance(default, FieldInfo):
            kind, default = _declared(name, default)
        elif isinstance(default, Field):
            declare, default = default.metadata.get('declare'), default.default
            if declare:
                default = declare(name, kind, getattr(owner, 'panel', None))
        default = Parameter.empty if default is MISSING else default
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _build(owner: Any, values: Mapping[str, Any]) -> Any:
    """Call a verb, or make a group, with its values."""
    if _is_settings(owner):
        # An option that may be repeated is an empty list where it was not typed.
        return owner.of({name: values[name] for name in owner.model_fields if values[name] != []})
    return owner(
        **{
            name: _build(kind, values) if _is_group(kind) else values[name]
            for name, (kind, _) in _members(owner).items()
        }
    )


def given(group: Any) -> dict[str, object]:
    """Return the options of a group that have a value, by name; groups within it included."""
    if isinstance(group, Settings):
        return group.given
    values: dict[str, object] = {}
    for item in dataclasses.fields(group):
        value = getattr(group, item.name)
        if is_dataclass(value) or isinstance(value, Settings):
            values |= given(value)
        elif value is not None and value is not False:
            values[item.name] = value
    return values


def spelled(owner: type[Settings]) -> Callable[[str], str]:
    """Return what spells a setting of a record as the first of its flags."""

    def spell(name: str) -> str:
        flags = surface_of(owner.model_fields[name]).flags
        return flags[0].partition('/')[0] if flags else flag_of(name)

    return spell


def fill(record: type[T], /, *groups: Any, **more: Any) -> T:
    """Return a record of the options of its fields' names, and of *more*, which wins."""
    values = {name: value for group in groups for name, value in given(group).items()}
    more = {name: value for name, value in more.items() if value is not None}
    if issubclass(record, Settings):
        return record.of({**{n: x for n, x in values.items() if n in record.model_fields}, **more})
    known = {item.name for item in dataclasses.fields(record)}  # type: ignore[arg-type]  # T is a dataclass
    return record(**{**{name: x for name, x in values.items() if name in known}, **more})
