"""YAML files named by name or path: scenes, suites."""

import contextlib
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.naming import name_fault, quoted
from bbllm.core.paths import config_dir, is_yaml_path


class WordsLoader(yaml.SafeLoader):
    """Takes `on` and `off` for words, as YAML 1.2 does: they name relations and goals here."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # as in the base class
        first: [entry for entry in entries if first in 'tTfF' or not entry[0].endswith(':bool')]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class YamlFiles:
    """
    The files of one kind: those that come with the project, by name, and a user's, by path.

    *kind* is for example `scene`; the files are in the folder `<kind>s` of the configuration.
    *fields* are those of a file, for errors of the class *error*.
    """

    def __init__(
        self,
        kind: str,
        *,
        fields: str,
        error: type[ConfigError],
        loader: type[yaml.SafeLoader] = yaml.SafeLoader,
    ):
        self._kind, self._fields, self._error, self._loader = kind, fields, error, loader

    def names(self) -> tuple[str, ...]:
        """Return the names of those that come with the project."""
        return tuple(sorted(path.stem for path in self._folder().glob('*.yaml')))

    def read(self, name_or_path: str | Path) -> tuple[str, Path]:
        """Return text and path of a file; raises UnknownNameError, or the class that was given."""
        text = str(name_or_path)
        if isinstance(name_or_path, Path) or is_yaml_path(text):
            path = Path(name_or_path).expanduser()
        elif text in self.names():
            path = self._folder() / f'{text}.yaml'
        else:
            raise UnknownNameError(self._kind, text, self.names())
        try:
            return path.read_text('utf-8'), path
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, 'strerror', None) or 'it is not UTF-8 text'
            kind = self._kind.capitalize()
            raise self._error(f'{kind} file {path} cannot be read: {reason}.') from error

    def parse(self, content: str, where: str) -> dict[str, object]:
        """Return the fields of a file, which errors of the class that was given call *where*."""
        try:
            data: Any = yaml.load(content, self._loader)  # a safe one, says the type
        except yaml.YAMLError as error:
            mark = getattr(error, 'problem_mark', None)
            line = f' in line {mark.line + 1}' if mark is not None else ''
            problem = getattr(error, 'problem', None) or 'it cannot be parsed'
            raise self._error(f'{where} is not valid YAML{line}: {problem}.') from error
        if not isinstance(data, dict):
            raise self._error(
                f'{where} holds no {self._kind}: expected the fields {self._fields}.'
            )
        return data

    def _folder(self) -> Path:
        return config_dir() / f'{self._kind}s'


Location = tuple[int | str, ...]
"""Where in the file an error is, as pydantic gives it: ('objects', 2, 'size')."""


def explain(
    error: ValidationError, data: Mapping[str, object], records: Mapping[str, type[BaseModel]]
) -> str:
    """
    Turn pydantic's errors into sentences.

    *records* has the record of each list of the file by its name; the file's own as ''.
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


def _place(loc: Location, data: Any) -> str:
    """Name the object an error is about: `objects[2] (red_cube): `."""
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
