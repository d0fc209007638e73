"""YAML files named by name or path, as for scenes and suites, and what is wrong in them."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.naming import name_fault, quoted
from bbllm.core.paths import config_files, is_yaml_path


class WordsLoader(yaml.SafeLoader):
    """Takes `on` and `off` for words, as YAML 1.2 does: they name relations and goals here."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # as in the base class
        first: [entry for entry in entries if first in 'tTfF' or not entry[0].endswith(':bool')]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class UniqueKeysLoader(yaml.SafeLoader):
    """Refuses a key that is there twice, of which YAML takes the last one without a word."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[object, object]:
        seen: set[object] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f'{key.value!r} stands there twice', problem_mark=key.start_mark
                )
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        return super().construct_mapping(node, deep)


class YamlFiles:
    """
    The files of one kind: those that come with the project, by name, and a user's, by path.

    *kind* is for example `scene`; the files match *pattern* in the configuration, by default all
    in the folder `<kind>s`. *fields* are those of a file, for errors of the class *error*.
    """

    def __init__(
        self,
        kind: str,
        *,
        fields: str,
        error: type[ConfigError],
        loader: type[yaml.SafeLoader] = yaml.SafeLoader,
        pattern: str = '',
    ):
        self._kind, self._fields, self._error, self._loader = kind, fields, error, loader
        self._pattern = pattern or f'{kind}s/*.yaml'

    def names(self) -> tuple[str, ...]:
        """Return the names of those that come with the project."""
        return tuple(sorted(self._paths()))

    def read(self, name_or_path: str | Path) -> tuple[str, Path]:
        """Return text and path of a file; raises UnknownNameError, or the class that was given."""
        text = str(name_or_path)
        if isinstance(name_or_path, Path) or is_yaml_path(text):
            path = Path(name_or_path).expanduser()
        elif text in (shipped := self._paths()):
            path = shipped[text]
        else:
            raise UnknownNameError(self._kind, text, shipped)
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

    def _paths(self) -> dict[str, Path]:
        return config_files(self._pattern)


class FileRecord(BaseModel):
    """What all parts of a file share: no unknown fields, no changes later."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode='before')
    @classmethod
    def _has_known_fields_only(cls, data: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in data if isinstance(data, Mapping) else ():
            if name not in known and name not in cls.model_fields:
                close = difflib.get_close_matches(str(name), known, n=1)
                hint = f'; did you mean {close[0]!r}?' if close else '.'
                raise ValueError(f'unknown field {name!r}{hint} Known: {", ".join(known)}')
        return data


def explain(error: ValidationError, data: Mapping[str, object]) -> str:
    """Turn pydantic's errors about a file's content into sentences that name the place."""
    lines: dict[tuple[str, ...], str] = {}
    problems = error.errors(include_url=False)
    # A field that may have several forms gets one error for each: one is enough, and one of ours.
    for problem in sorted(problems, key=lambda each: each['type'] != 'value_error'):
        loc, text = problem['loc'], problem['msg'].removeprefix('Value error, ')
        text = text.replace('valid tuple', 'list')
        key = place = _place(loc, data)
        if problem['type'] == 'missing':
            what = 'an item' if isinstance(loc[-1], int) else f'the field {loc[-1]!r}'
            key, text = (*place, what), f'{what} is missing'
        elif place and problem['type'] != 'value_error':
            value = quoted(str(problem['input']))
            place, text = place[:-1], f'{place[-1]} = {value} will not do: {text}'
        where = f'{", ".join(place)}: ' if place else ''
        lines.setdefault(key, f'{where}{text}'.rstrip('.') + '.')
    return ' '.join(lines.values())


def _place(loc: Sequence[int | str], data: Any) -> tuple[str, ...]:
    """Name what an error is about, as in `tasks[2] (red_line)`, `goal`, `margin_m`."""
    words: list[str] = []
    for part in loc:
        if isinstance(data, Mapping) and part in data:
            words.append(str(part))
        elif isinstance(data, list) and isinstance(part, int) and part < len(data) and words:
            name = data[part].get('name') if isinstance(data[part], Mapping) else None
            shown = quoted(str(name)) if name_fault(str(name)) else name
            words[-1] += f'[{part}]' + (f' ({shown})' if name else '')
        else:  # pydantic's word for one form of a union, or what is missing
            continue
        data = data[part]
    return tuple(words)
