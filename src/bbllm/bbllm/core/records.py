"""Records to JSON values and back, and JSON to compare them by."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, IntEnum
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

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
        kept = [f.name for f in dataclasses.fields(value) if f.metadata.get('json', True)]
        return {name: to_json(getattr(value, name)) for name in kept}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    raise TypeError(f'{type(value).__name__} has no JSON form; records consist of plain values.')


def from_json(cls: type[T], data: object) -> T:
    """
    Build a record of type *cls* from what `to_json` made; missing fields take their defaults.

    Raises ValueError where the data does not fit the type; names the first such field.
    """
    try:
        return cast(T, _adapter(cls).validate_python(data))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = '.'.join(map(str, (cls.__name__, *fault['loc'])))
        raise ValueError(f'{place} is {fault["input"]!r:.80}: {fault["msg"]}.') from error


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


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
