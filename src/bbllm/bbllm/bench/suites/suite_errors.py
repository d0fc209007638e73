"""What is wrong with a suite file, in sentences that name the task and the field."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

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
        record: The record that the content was checked against.
    """
    found: dict[Location, list[str]] = {}
    for problem in error.errors(include_url=False):
        loc = _in_the_file(problem['loc'], data, absent=problem['type'] == 'missing')
        text = _sentence(problem, loc, data, record)
        texts = found.setdefault(loc, [])
        # a field that may have several forms gets one error for each
        if text not in texts:
            texts.append(text)
    deepest = [
        loc
        for loc in found
        if not any(loc == other[: len(loc)] for other in found if other != loc)
    ]
    return ' '.join(_joined(found[loc]).rstrip('.') + '.' for loc in deepest)


def _joined(texts: Sequence[str]) -> str:
    """Join the errors of one field; all of them begin with the same place."""
    first, *more = texts
    tails = [text.partition(' will not do: ')[2] for text in more]
    return ', or: '.join([first, *(tail for tail in tails if tail)])


def _sentence(
    problem: ErrorDetails, loc: Location, data: Mapping[str, Any], record: type[BaseModel]
) -> str:
    place, field, kind = _place(loc[:-1], data), str(loc[-1]) if loc else '', problem['type']
    here = _place(loc, data)
    if kind == 'extra_forbidden':
        known = _fields_at(record, problem['loc'][:-1])
        return f'{place}unknown field {field!r}{_nearest(field, known)}'
    if kind == 'missing' and loc and isinstance(loc[-1], int):
        return f'{place}the list is too short: it needs {loc[-1] + 1} items or more'
    if kind == 'missing':
        return f'{place}the field {field!r} is missing'
    if kind == 'value_error':
        return here + str(problem['msg']).removeprefix('Value error, ')
    if kind == 'union_tag_invalid':
        tag = str(problem['ctx']['tag'])
        known = [part.strip(" '") for part in problem['ctx']['expected_tags'].split(',')]
        return f'{here}there is no kind {tag!r}{_nearest(tag, known)}'
    if kind == 'union_tag_not_found':
        return f"{here}the field 'kind' is missing"
    reason = problem['msg']
    if kind in ('model_type', 'model_attributes_type', 'dict_type'):
        reason = (
            f'expected the fields {", ".join(_fields_at(record, problem["loc"], all_of=True))}'
        )
    elif kind == 'tuple_type':
        reason = 'expected a list'
    value = str(problem['input'])[:60]
    return f'{place}{field} = {value!r} will not do: {reason}'


def _in_the_file(loc: Location, data: Any, *, absent: bool) -> Location:
    """
    Return the part of a location that the file has: pydantic adds names of union members.

    Args:
        loc: As pydantic gives it.
        data: The file's content.
        absent: Whether its last part names what the file lacks.
    """
    found: list[int | str] = []
    here = data
    for position, part in enumerate(loc):
        last = absent and position == len(loc) - 1
        if isinstance(here, Mapping):
            fits = part in here or last
        else:
            fits = isinstance(here, list) and isinstance(part, int)
        if fits:
            found.append(part)
            here = _part_of(here, part)
    return tuple(found)


def _place(loc: Location, data: Any) -> str:
    """Name the object that an error is about: `tasks[2] (color_line), goal: `."""
    words: list[str] = []
    here = data
    for part in loc:
        here = _part_of(here, part)
        if isinstance(part, int) and words:
            name = here.get('name') if isinstance(here, Mapping) else None
            words[-1] += f'[{part}]' + (f' ({name})' if name else '')
        else:
            words.append(str(part))
    return ', '.join(words) + ': ' if words else ''


def _part_of(data: Any, part: int | str) -> Any:
    """Return what lies there, None where nothing does."""
    if isinstance(data, Mapping):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _fields_at(record: Any, loc: Location, *, all_of: bool = False) -> list[str]:
    """
    Return the fields of the record at a place, following lists, unions and their tags.

    Where there may be several records: the fields of any of them, or those that all have.
    """
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
    names = dict.fromkeys(name for one in candidates for name in one.model_fields)
    return [
        name for name in names if not all_of or all(name in one.model_fields for one in candidates)
    ]


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
