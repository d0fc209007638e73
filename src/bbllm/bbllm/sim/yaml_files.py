"""YAML files named by name or path: scenes, suites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bbllm.core.errors import ConfigError, UnknownNameError
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

    Args:
        kind: What one of them is: `scene`. They lie in the folder `<kind>s` of the configuration.
        fields: What one may hold, for errors.
        error: What to raise where one cannot be used.
        loader: How its YAML is to be read; a safe one.
    """

    def __init__(
        self,
        kind: str,
        *,
        fields: str,
        error: type[ConfigError],
        loader: type[yaml.SafeLoader] = yaml.SafeLoader,
    ):
        self._kind = kind
        self._fields = fields
        self._error = error
        self._loader = loader

    def names(self) -> tuple[str, ...]:
        """
        Return the names of those that come with the project.

        Raises:
            ConfigError: This installation has no configuration.
        """
        return tuple(sorted(path.stem for path in self._folder().glob('*.yaml')))

    def read(self, name_or_path: str | Path) -> tuple[str, Path]:
        """
        Return a file's text, and where it is.

        Raises:
            UnknownNameError: There is none of that name.
            ConfigError: It cannot be read; of the class that was given.
        """
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

    def parse(self, content: str, where: str) -> dict[str, Any]:
        """
        Return the fields of a file.

        Args:
            content: Its text.
            where: What errors call it.

        Raises:
            ConfigError: It is not YAML, or has no fields; of the class that was given.
        """
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
