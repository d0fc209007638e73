"""Every message that the client sent and received, one JSON object per line, with times."""

import json
import time
from array import array
from pathlib import Path
from typing import Any

MAX_TEXT = 2000


class Recording:
    """A file of the messages of a run; without a path nothing is kept."""

    def __init__(self, path: Path | None = None):
        self.check = ''
        """The check that runs."""
        self._begun_s = time.monotonic()
        self._file = None if path is None else path.open('w', encoding='utf-8')

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def note(self, what: str, name: str, message: Any = None) -> None:
        """Write one line: sent, received or another event of a topic, service or action."""
        if self._file is None:
            return
        line = {
            'time_s': round(time.monotonic() - self._begun_s, 4),
            'check': self.check,
            'what': what,
            'name': name,
            'message': plain(message),
        }
        self._file.write(json.dumps(line, ensure_ascii=False) + '\n')


def plain(value: Any) -> Any:
    if hasattr(value, 'get_fields_and_field_types'):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + ' ...'
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    if isinstance(value, (list, tuple, set, array)) or hasattr(value, 'tolist'):
        return [plain(item) for item in value]
    return str(value)
