"""What is wrong with a suite file, in sentences that name the task and the field."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from bbllm.core.errors import ConfigError

Location = tuple[int | str, ...]


class SuiteFileError(ConfigError):
    """A suite file that cannot be used."""


def readable(error: ValidationError, data: Mapping[str, Any], record: type[BaseModel]) -> str:
    """
    Turn pydantic's errors into sentences.

    Args:
        error: What pydantic raised.
        data: The file's content.
        record: The record that the content was held against.
    """
    lines: dict[Location, str] = {}
    for problem in error.errors(include_url=False):
        loc = _in_the_file(problem['loc'], data)
        place = _place(loc[:-1], data)
        field = str(loc[-1]) if loc else ''
        kind = problem['type']
        if kind == 'extra_forbidden':
            known = _fields_at(record, problem['loc'][:-1])
            text = f'{place}unknown field {field!r}{_nearest(field, known)}'
        elif kind == 'missing':
            text = f'{place}the field {field!r} is missing'
        elif kind == 'value_error':
            text = _place(loc, data) + str(problem['msg']).removeprefix('Value error, ')
        elif kind == 'union_tag_invalid':
            tag = str(problem['ctx']['tag'])
            known = [part.strip(" '") for part in problem['ctx']['expected_tags'].split(',')]
            text = f'{_place(loc, data)}there is no kind {tag!r}{_nearest(tag, known)}'
        elif kind == 'union_tag_not_found':
            text = f"{_place(loc, data)}the field 'kind' is missing"
        else:
            value = str(problem['input'])[:60]
            text = f'{place}{field} = {value!r} will not do: {problem["msg"]}'
        # a field that may have several forms gets one error for each: the first is enough
        lines.setdefault(loc, text.rstrip('.') + '.')
    return ' '.join(lines.values())


def _in_the_file(loc: Location, data: Any) -> Location:
    """Return the part of a location that the file has: pydantic adds names of union members."""
    found: list[int | str] = []
    here = data
    for position, part in enumerate(loc):
        last = position == len(loc) - 1
        if isinstance(here, Mapping) and (part in here or last):
            found.append(part)
            here = here.get(part)
        elif isinstance(here, Sequence) and not isinstance(here, str) and isinstance(part, int):
            found.append(part)
            here = here[part] if part < len(here) else None
    return tuple(found)


def _place(loc: Location, data: Any) -> str:
    """Name the thing that an error is about: `tasks[2] (color_line), goal: `."""
    words: list[str] = []
    here = data
    for part in loc:
        here = here[part] if not isinstance(here, Mapping) else here.get(part)
        if isinstance(part, int) and words:
            name = here.get('name') if isinstance(here, Mapping) else None
            words[-1] += f'[{part}]' + (f' ({name})' if name else '')
        else:
            words.append(str(part))
    return ', '.join(words) + ': ' if words else ''


def _fields_at(record: Any, loc: Location) -> list[str]:
    """Return the fields of the record at a place, following lists, unions and their tags."""
    candidates = list(_records_in(record))
    for part in loc:
        if isinstance(part, int):
            continue
        deeper = [
            found
            for candidate in candidates
            if part in candidate.model_fields
            for found in _records_in(candidate.model_fields[str(part)].annotation)
        ]
        tagged = [one for one in candidates if _tag_of(one) == part]
        candidates = deeper or tagged or candidates
    return list(dict.fromkeys(name for one in candidates for name in one.model_fields))


def _records_in(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        for part in typing.get_args(annotation):
            yield from _records_in(part)


def _tag_of(record: type[BaseModel]) -> str:
    kind = record.model_fields.get('kind')
    tags = typing.get_args(kind.annotation) if kind is not None else ()
    return str(tags[0]) if len(tags) == 1 else ''


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f'; did you mean {close[0]!r}?' if close else '.'
    return f'{hint} Known: {", ".join(known)}'
