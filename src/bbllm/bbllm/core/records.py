"""Records to JSON values and back, by their type hints, and JSON to compare them by."""

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from functools import cache
from typing import Any, TypeVar

T = TypeVar('T')
DECIMALS = 4
"""Of numbers in `canonical`: lengths count to a tenth of a millimetre."""


def to_json(value: object) -> Any:
    """
    Turn a record into JSON values.

    Integer enums become their names, so that a journal can be read without this program.
    """
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    raise TypeError(f'{type(value).__name__} has no JSON form; records hold plain values only.')


def from_json(cls: type[T], data: Any) -> T:
    """
    Build a record of type *cls* from what `to_json` made; missing fields take their defaults.

    Raises ValueError where the data does not fit the type; names the field.
    """
    return typing.cast(T, build(cls, data, cls.__name__))


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def build(kind: Any, data: Any, where: str) -> Any:
    """
    Build a value of type *kind*, which any field of a record may have, from what `to_json` made.

    Raises ValueError where it does not fit; calls it *where*.
    """
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _build_record(typing.cast(type, kind), data, where)
    if origin is tuple:
        return _build_tuple(typing.get_args(kind), data, where)
    if origin in (typing.Union, types.UnionType):
        inner = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        return None if data is None else build(inner[0], data, where)
    if origin is Mapping:
        if not isinstance(data, Mapping):
            raise ValueError(f'{where}: expected an object, found {data!r}.')
        value = typing.get_args(kind)[1]
        return {name: build(value, item, f'{where}.{name}') for name, item in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _build_enum(kind, data, where)
    if kind is float:
        if not isinstance(data, (int, float)):
            raise ValueError(f'{where}: expected a number, found {data!r}.')
        try:
            return float(data)
        except OverflowError as error:
            raise ValueError(f'{where}: {error}.') from error
    if isinstance(kind, type) and kind in (str, int, bool) and not isinstance(data, kind):
        raise ValueError(f'{where}: expected {kind.__name__}, found {data!r}.')
    return data


def _build_record(cls: type, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        # JSON of the wrong shape is a bad value of the file, not a bug of the caller.
        raise ValueError(f'{where}: expected an object, found {data!r}.')
    hints = _hints(cls)
    names = {f.name for f in dataclasses.fields(cls)}
    given = {
        name: build(hints[name], value, f'{where}.{name}')
        for name, value in data.items()
        if name in names
    }
    try:
        return cls(**given)
    except TypeError as error:
        raise ValueError(f'{where}: {error}.') from error


def _build_tuple(args: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise ValueError(f'{where}: expected a list, found {data!r}.')
    kinds = [args[0]] * len(data) if args[-1] is Ellipsis else list(args)
    if len(kinds) != len(data):
        raise ValueError(f'{where}: expected {len(kinds)} values, found {len(data)}.')
    pairs = zip(kinds, data, strict=True)
    return tuple(build(kind, item, f'{where}[{i}]') for i, (kind, item) in enumerate(pairs))


def _build_enum(kind: type[Enum], data: Any, where: str) -> Enum:
    if issubclass(kind, IntEnum) and isinstance(data, str) and data in kind.__members__:
        return kind[data]
    try:
        return kind(data)
    except ValueError as error:
        known = ', '.join(kind.__members__)
        raise ValueError(f'{where}: {data!r} is none of {known}.') from error


def canonical(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and rounded numbers: equal for equal values."""
    return json.dumps(_plain(value), sort_keys=True, separators=(',', ':'), ensure_ascii=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0  # no minus before a zero
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
