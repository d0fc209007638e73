"""What is wrong with a suite file, in sentences that name the task and the field."""

import difflib
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bbllm.core.errors import ConfigError

Location = tuple[int | str, ...]


class SuiteFileError(ConfigError):
    """A suite file that cannot be used."""


def readable(error: ValidationError, data: Mapping[str, object], record: type[BaseModel]) -> str:
    """Turn what pydantic raised of a file's content, as a record, into sentences."""
    found: dict[Location, list[str]] = {}
    for problem in error.errors(include_url=False):
        loc = _in_the_file(problem['loc'], data, absent=problem['type'] == 'missing')
        text = _sentence(problem, loc, data, record)
        texts = found.setdefault(loc, [])
        # A field that may have several forms gets one error for each.
        if text not in texts:
            texts.append(text)
    deepest = [
        loc for loc in found if not any(loc == other[: len(loc)] != other for other in found)
    ]
    return ' '.join(_joined(found[loc]).rstrip('.') + '.' for loc in deepest)


def _joined(texts: Sequence[str]) -> str:
    """Join the errors of one field; all of them begin with the same place."""
    tails = (text.partition(' will not do: ')[2] for text in texts[1:])
    return ', or: '.join([texts[0], *filter(None, tails)])


def _sentence(
    problem: ErrorDetails, loc: Location, data: Mapping[str, object], record: type[BaseModel]
) -> str:
    place, here, field = _place(loc[:-1], data), _place(loc, data), str(loc[-1]) if loc else ''
    reason = problem['msg']
    match problem['type']:
        case 'extra_forbidden':
            known = _fields_at(record, problem['loc'][:-1])
            return f'{place}unknown field {field!r}{_nearest(field, known)}'
        case 'missing' if loc and isinstance(loc[-1], int):
            return f'{place}the list is too short: it needs {loc[-1] + 1} items or more'
        case 'missing':
            return f'{place}the field {field!r} is missing'
        case 'value_error':
            return here + reason.removeprefix('Value error, ')
        case 'union_tag_invalid':
            tag = str(problem['ctx']['tag'])
            known = [part.strip(" '") for part in problem['ctx']['expected_tags'].split(',')]
            return f'{here}there is no kind {tag!r}{_nearest(tag, known)}'
        case 'union_tag_not_found':
            return f"{here}the field 'kind' is missing"
        case 'model_type' | 'model_attributes_type' | 'dict_type':
            fields = _fields_at(record, problem['loc'], all_of=True)
            reason = f'expected the fields {", ".join(fields)}'
        case 'tuple_type':
            reason = 'expected a list'
    value = str(problem['input'])[:60]
    return f'{place}{field} = {value!r} will not do: {reason}'


def _in_the_file(loc: Location, data: object, *, absent: bool) -> Location:
    """Leave out the names of union members that pydantic adds; *absent*: the last is missing."""
    found: list[int | str] = []
    for position, part in enumerate(loc):
        last = absent and position == len(loc) - 1
        if isinstance(data, Mapping):
            fits = part in data or last
        else:
            fits = isinstance(data, list) and isinstance(part, int)
        if fits:
            found.append(part)
            data = _part_of(data, part)
    return tuple(found)


def _place(loc: Location, data: object) -> str:
    """Name the object that an error is about: `tasks[2] (color_line), goal: `."""
    words: list[str] = []
    for part in loc:
        data = _part_of(data, part)
        if isinstance(part, int) and words:
            name = data.get('name') if isinstance(data, Mapping) else None
            words[-1] += f'[{part}]' + (f' ({name})' if name else '')
        else:
            words.append(str(part))
    return ', '.join(words) + ': ' if words else ''


def _part_of(data: object, part: int | str) -> object:
    """Return what lies there, None where nothing does."""
    if isinstance(data, Mapping):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _fields_at(record: type[BaseModel], loc: Location, *, all_of: bool = False) -> list[str]:
    """
    Return the fields of the record at a place, following lists, unions and their tags.

    Where there may be several records: the fields of any of them, or those that all have.
    """
    candidates = [record]
    for part in (part for part in loc if not isinstance(part, int)):
        fields = [one.model_fields[part] for one in candidates if part in one.model_fields]
        deeper = [found for field in fields for found in _records_in(field.annotation)]
        tagged = [one for one in candidates if _tag_of(one) == part]
        candidates = deeper or tagged or candidates
    names = dict.fromkeys(name for one in candidates for name in one.model_fields)
    return [
        name for name in names if not all_of or all(name in one.model_fields for one in candidates)
    ]


def _records_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
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
