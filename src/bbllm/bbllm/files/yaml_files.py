"""
YAML files named by name or path, as for scenes and suites, and what is wrong in them.

`parse_yaml` reads all of them. A file of a few lines can stand for more values than fit into any
memory, by aliases of aliases, and deep nesting or a number of thousands of digits ends a parser
with an error of its own. So there are limits, and one sentence where they are passed.
"""

import difflib
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # not exported by its stub
from yaml.resolver import Resolver

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.naming import MAX_NAME, name_fault, quoted
from bbllm.core.paths import config_files, is_yaml_path
from bbllm.core.reading import read_text
from bbllm.core.text import cut, escape_line

MOST_BYTES = 10_000_000
"""Of a file that people write [bytes]."""
MOST_VALUES = 100_000
"""Values of a file, those that aliases repeat counted each time; ours have up to 17,000."""
DEEPEST = 60
MOST_DIGITS = 100
"""Characters of a number."""
MOST_FAULTS = 20
"""How many faults of a file one error names."""
_NUMBERS = ('tag:yaml.org,2002:int', 'tag:yaml.org,2002:float')


class YamlError(ValueError):
    """A text that is no YAML, or none that is read; the sentence part names the line."""


class StrictLoader(Composer, CParser, SafeConstructor, Resolver):
    """
    Reads plain values only: no tags, no aliases, and none too many, too long or too deep.

    libyaml finds the events, and the composer of Python makes nodes of them.
    """

    takes_aliases = False

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        for base in (Composer, SafeConstructor, Resolver):
            base.__init__(self)
        self._values = self._depth = 0
        self._sizes: dict[yaml.Node, int] = {}
        """Values of each node, by which an alias of it counts."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()
        before = self._values
        mark = event.start_mark
        is_alias = isinstance(event, yaml.AliasEvent)
        if is_alias and not self.takes_aliases:
            raise _fault(mark, f'the alias *{event.anchor} repeats a value; write it out')
        if getattr(event, 'tag', None) not in (None, '!'):
            raise _fault(mark, f'the tag {event.tag} is not read; write a plain value')
        self._depth += 1
        if self._depth > DEEPEST:
            raise _fault(mark, f'values are nested more than {DEEPEST} deep')
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        if node is None:
            return None
        if is_alias and node not in self._sizes:
            raise _fault(mark, f'the alias *{event.anchor} is within what it repeats')
        self._values += self._sizes[node] if is_alias else 1
        if self._values > MOST_VALUES:
            raise _fault(mark, f'there are more than {MOST_VALUES:,} values up to here')
        self._sizes.setdefault(node, self._values - before)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag in _NUMBERS and len(node.value) > MOST_DIGITS:
            raise _fault(node.start_mark, f'a number of {len(node.value):,} characters')
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # of a date that is none
            raise _fault(node.start_mark, str(error)) from None


class WordsLoader(StrictLoader):
    """
    Takes `on` and `off` for words, as YAML 1.2 does: they name relations and goals here.

    Tasks of a suite share goals and houses, so aliases are read.
    """

    takes_aliases = True
    yaml_implicit_resolvers = {  # noqa: RUF012  # as in the base class
        first: [entry for entry in entries if first in 'tTfF' or not entry[0].endswith(':bool')]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class UniqueKeysLoader(StrictLoader):
    """Refuses a key that is there twice, of which YAML takes the last one without a word."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[object, object]:
        seen: set[object] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _fault(key.start_mark, f'{quoted(key.value)} stands there twice')
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        return super().construct_mapping(node, deep)


def _fault(mark: yaml.Mark, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def parse_yaml(text: str, loader: type[StrictLoader] = StrictLoader) -> object:
    """Return the value of a text; raises YamlError."""
    try:
        data: object = loader(text).get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        # libyaml names the line after the last one for what ends too early.
        last = text.count('\n')
        line = f' in line {min(mark.line, last) + 1}' if mark is not None else ''
        problem = getattr(error, 'problem', None) or 'it has characters that YAML does not allow'
        raise YamlError(f'is not valid YAML{line}: {cut(escape_line(problem), 200)}') from error
    return data


class _Plain(yaml.SafeDumper):
    """Writes a value that occurs twice out twice, since scenes are read without aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def yaml_text(data: object) -> str:
    """Return plain dictionaries and lists as YAML that `parse_yaml` reads, keys in their order."""
    return yaml.dump(data, Dumper=_Plain, sort_keys=False, allow_unicode=True)


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
        loader: type[StrictLoader] = StrictLoader,
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
        elif (beside := Path(f'{text}.yaml').expanduser()).is_file():
            raise self._error(
                f'There is no {self._kind} named {text[:80]!r}, but a file {beside}: name it with '
                f'its ending, {beside}.'
            )
        else:
            raise UnknownNameError(self._kind, text, shipped)
        try:
            return read_text(path, MOST_BYTES), path
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, 'strerror', None) or 'it is not UTF-8 text'
            kind = self._kind.capitalize()
            raise self._error(f'{kind} file {path} cannot be read: {reason}.') from error

    def parse(self, content: str, where: str) -> dict[str, object]:
        """Return the fields of a file, which errors of the class that was given call *where*."""
        try:
            data = parse_yaml(content, self._loader)
        except YamlError as error:
            raise self._error(f'{where} {error}.') from error
        if not isinstance(data, dict):
            raise self._error(f'{where} is no {self._kind}: expected the fields {self._fields}.')
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
                close = difflib.get_close_matches(shown(name)[:MAX_NAME], known, n=1)
                hint = f'; did you mean {close[0]!r}?' if close else '.'
                field = quoted(name) if isinstance(name, str) else shown(name)
                raise ValueError(f'unknown field {field}{hint} Known: {", ".join(known)}')
        return data


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 2 * MAX_NAME
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = MAX_NAME // 4
_SHORT.maxlevel = 3


def shown(value: object) -> str:
    """Return a value as text for an error, which is short however large the value is."""
    return value if isinstance(value, str) else _SHORT.repr(value)


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
            value = quoted(shown(problem['input']))
            place, text = place[:-1], f'{place[-1]} = {value} will not do: {text}'
        where = f'{", ".join(place)}: ' if place else ''
        lines.setdefault(key, f'{where}{text}'.rstrip('.') + '.')
    named = [*lines.values()]
    if len(named) > MOST_FAULTS:
        named[MOST_FAULTS:] = [f'({len(named) - MOST_FAULTS} more.)']
    return ' '.join(named)


def _place(loc: Sequence[int | str], data: Any) -> tuple[str, ...]:
    """Name what an error is about, as in `tasks[2] (red_line)`, `goal`, `margin_m`."""
    words: list[str] = []
    for part in loc:
        if isinstance(data, Mapping) and part in data:
            words.append(str(part))
        elif isinstance(data, list) and isinstance(part, int) and part < len(data) and words:
            name = data[part].get('name') if isinstance(data[part], Mapping) else None
            text = shown(name)
            words[-1] += f'[{part}]'
            if name:
                words[-1] += f' ({quoted(text) if name_fault(text) else text})'
        else:  # pydantic's word for one form of a union, or what is missing
            continue
        data = data[part]
    return tuple(words)
