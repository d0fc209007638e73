"""What is wrong with the fields of a scene file, in sentences that name the object."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from bbllm.core.naming import name_fault, quoted

Location = tuple[int | str, ...]
"""Where in the file an error is, as pydantic gives it: ('objects', 2, 'size')."""


def readable(
    error: ValidationError, data: Mapping[str, Any], records: Mapping[str, type[BaseModel]]
) -> str:
    """
    Turn pydantic's errors into sentences.

    Args:
        error: What pydantic raised.
        data: The file's content.
        records: The record of each list of the file by its name; the file's own as ''.
    """
    lines: dict[tuple[str, str], str] = {}
    for problem in error.errors(include_url=False):
        loc = problem['loc']
        place, field = _place(loc, data), _field(loc)
        if problem['type'] == 'extra_forbidden':
            record = records.get(str(loc[0]) if len(loc) > 1 else '', records[''])
            text = f'unknown field {field!r}{_known_fields(field, list(record.model_fields))}'
        elif problem['type'] == 'missing':
            text = f'the field {field!r} is missing'
        elif problem['type'] == 'value_error':
            text = str(problem['msg']).removeprefix('Value error, ')
        else:
            text = f'{field} = {quoted(str(problem["input"]))} will not do: {problem["msg"]}'
        # a field that may have several forms gets one error for each: the first is enough
        lines.setdefault((place, field), f'{place}{text}'.rstrip('.') + '.')
    return ' '.join(lines.values())


def _place(loc: Location, data: Mapping[str, Any]) -> str:
    """Name the thing an error is about: `objects[2] (red_cube): `."""
    if len(loc) < 2 or not isinstance(loc[1], int):
        return ''
    name = ''
    with contextlib.suppress(KeyError, IndexError, TypeError):  # no name: its number must do
        name = data[str(loc[0])][loc[1]]['name']
    if name and name_fault(str(name)):
        name = quoted(str(name))
    return f'{loc[0]}[{loc[1]}]' + (f' ({name})' if name else '') + ': '


def _field(loc: Location) -> str:
    """Return the name of the field: after the list's name and number, where it is in a list."""
    if len(loc) == 2 and isinstance(loc[1], str):
        return f'{loc[0]}.{loc[1]}'
    return str(loc[2] if len(loc) > 2 and isinstance(loc[1], int) else loc[0] if loc else '')


def _known_fields(field: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(field.rpartition('.')[2], known, n=1)
    hint = f'; did you mean {close[0]!r}?' if close else '.'
    return f'{hint} Known: {", ".join(known)}'
