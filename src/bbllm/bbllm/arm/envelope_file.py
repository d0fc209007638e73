"""Reads `config/safety.yaml`: the safety envelope of one arm on one table."""

from __future__ import annotations

import difflib
from functools import lru_cache
from pathlib import Path
from typing import get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bbllm.arm.envelope import Box, KeepOut, SafetyEnvelope
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir, is_yaml_path

DEFAULT = 'safety'
"""The file in the configuration that holds where nothing else is said."""


def load_envelope(name_or_path: str | Path = '') -> SafetyEnvelope:
    """
    Read a file.

    Args:
        name_or_path: A file's path, or the name of one in the project's config folder, such as
            `safety`; empty is that one.

    Raises:
        ConfigError: It cannot be read or used; says where and what would be accepted.
    """
    text = str(name_or_path) or DEFAULT
    if isinstance(name_or_path, Path) or is_yaml_path(text):
        path = Path(text).expanduser()
    else:
        path = _shipped(text)
    try:
        return _load(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise ConfigError(f'Cannot read the safety file {path}: {error.strerror}.') from None


def parse_envelope(text: str, source: str) -> SafetyEnvelope:
    """
    Parse the text of a file.

    Args:
        text: YAML.
        source: What errors call it.

    Raises:
        ConfigError: The text cannot be used.
    """
    try:
        data: object = yaml.load(text, _NoTwins)  # a safe one, with a check more
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = '' if mark is None else f', line {mark.line + 1}'
        raise ConfigError(f'{source}{where}: {error.problem or "it is not YAML"}.') from None
    except yaml.YAMLError:
        raise ConfigError(f'{source}: it holds characters that YAML does not allow.') from None
    rules = ', '.join(SafetyEnvelope.model_fields)
    if not isinstance(data, dict):
        # An empty file is more likely a mistake than the wish for every default.
        raise ConfigError(f'{source} holds no safety envelope. It takes the rules {rules}.')
    try:
        return SafetyEnvelope.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        # A misspelt key is also a missing one; the first is what helps.
        unknown = [item for item in errors if item['type'] in _UNKNOWN]
        problem = _explain((unknown or errors)[0])
    raise ConfigError(f'{source}: {problem}')


@lru_cache(maxsize=8)
def _load(path: Path, _: int) -> SafetyEnvelope:
    try:
        text = path.read_text('utf-8')
    except UnicodeDecodeError:
        raise ConfigError(f'Cannot read the safety file {path}: it is not UTF-8 text.') from None
    return parse_envelope(text, str(path))


def _shipped(name: str) -> Path:
    path = config_dir() / f'{name}.yaml'
    if path.exists():
        return path
    known = sorted(item.stem for item in config_dir().glob('safety*.yaml'))
    raise ConfigError(
        f'There is no safety file named {name!r}. Known: {", ".join(known)}; any other one is '
        f'named by its path, ending in .yaml.'
    )


class _NoTwins(yaml.SafeLoader):
    """Of two keys alike YAML takes the last one, without a word."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[object, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem='a list or a mapping stands there as a key; a key is one word',
                    problem_mark=key.start_mark,
                )
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f'`{key.value}` stands there twice', problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_UNKNOWN = ('extra_forbidden', 'invalid_key')
"""Kinds of errors at a key that no section has; the second: it is not even a word."""


def _explain(error: ErrorDetails) -> str:
    path = [str(part) for part in error['loc']]
    place = '.'.join(path)
    if error['type'] in _UNKNOWN:
        *section, name = path
        known = _known_keys(section)
        close = difflib.get_close_matches(name, known, n=1)
        hint = f' Did you mean `{close[0]}`?' if close else ''
        return f'unknown key `{place}`.{hint} Known: {", ".join(known)}.'
    if error['type'] == 'missing':
        return f'`{place}` is missing.'
    if error['type'] == 'model_type':
        wanted = f'should have keys of its own: {", ".join(_known_keys(path))}'
    elif error['type'] == 'tuple_type':
        wanted = 'should be a list'
    else:
        wanted = _plain(error['msg'])
    return f'`{place}` {wanted}{_instead(error["input"])}.'


def _plain(message: str) -> str:
    """Return what pydantic says without its words for how it works."""
    for start in ('Value error, ', 'Input ', 'Tuple '):
        message = message.removeprefix(start)
    message = message.partition(', unable to')[0].replace(' after validation', '')
    return message[0].lower() + message[1:]


def _instead(given: object) -> str:
    if isinstance(given, (dict, list)):
        return ''
    return f', not {"null" if given is None else repr(given)}'


def _known_keys(section: list[str]) -> list[str]:
    """Return what a section of the file may hold; places in lists are numbers."""
    if section[:1] == ['keep_out']:
        return list(KeepOut.model_fields)
    model: type[BaseModel] = SafetyEnvelope
    for name in section:
        kind = model.model_fields[name].annotation
        kinds = [one for one in (kind, *get_args(kind)) if isinstance(one, type)]  # X, or X | None
        model = next((one for one in kinds if issubclass(one, BaseModel)), Box)
    return list(model.model_fields)
