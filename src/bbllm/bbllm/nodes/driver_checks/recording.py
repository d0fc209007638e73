"""Everything that a client sent and received, one JSON object a line, with times."""

from __future__ import annotations

import json
import threading
import time
from array import array
from pathlib import Path
from types import TracebackType
from typing import Any

from bbllm.core.errors import ConfigError

MAX_TEXT = 2000
"""Longer texts, such as a robot description, are cut to this length."""


class Recording:
    """A file of what went over the wire; None instead of a path keeps nothing."""

    def __init__(self, path: Path | None = None):
        """
        Open the file.

        Raises:
            ConfigError: It cannot be written.
        """
        self._lock = threading.Lock()
        self._begun_s = time.monotonic()
        self._file = None
        if path is not None:
            try:
                self._file = path.open('w', encoding='utf-8')
            except OSError as error:
                raise ConfigError(
                    f'The recording {path} cannot be written ({error.strerror}); '
                    'name a file in a folder that can.'
                ) from error
        self.check = ''
        """The check that runs."""

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def note(self, what: str, name: str, message: Any = None) -> None:
        """
        Write one line.

        Args:
            what: sent, received, or what else happened.
            name: Topic, service or action.
            message: What went over the wire, a message or something that JSON can carry.
        """
        if self._file is None:
            return
        line = {
            'time_s': round(time.monotonic() - self._begun_s, 4),
            'check': self.check,
            'what': what,
            'name': name,
            'message': plain(message),
        }
        text = json.dumps(line, ensure_ascii=False)
        with self._lock:
            if self._file is not None:
                self._file.write(text + '\n')


def plain(value: Any) -> Any:
    """Return a message as dictionaries, lists, numbers and texts."""
    if hasattr(value, 'get_fields_and_field_types'):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + ' ...'
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    if isinstance(value, (list, tuple, array)) or hasattr(value, 'tolist'):
        return [plain(item) for item in value]
    return str(value)
