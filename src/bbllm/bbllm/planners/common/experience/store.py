"""
The file of entries: one JSON object a line, replaced as a whole, under a lock.

A line that cannot be read, of another version or cut by a crash, is reported and left out. It
stays in the file as it is.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir
from bbllm.core.records import from_json, to_json
from bbllm.core.text import cut, json_text
from bbllm.planners.common.experience.entry import VERSION, Entry, fault_of

MOST_ENTRIES = 500
"""Of one file; the oldest leave first."""
FAULT_CHARACTERS = 200


def experience_path() -> Path:
    """Return the file of this user; it may not exist yet."""
    return state_dir() / 'experience.jsonl'


def read_entry(data: object) -> Entry:
    """Return the entry of a JSON value; raises ValueError with what is wrong where it is none."""
    version = data.get('version') if isinstance(data, dict) else None
    if version != VERSION:
        raise ValueError(f'it has the format {version!r:.20}, and this version reads {VERSION}')
    entry = from_json(Entry, data)
    if fault := fault_of(entry):
        raise ValueError(fault)
    return entry


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    entry: Entry | None
    fault: str = ''


@dataclass(frozen=True, slots=True)
class ExperienceFile:
    """Entries on disk; any process may change them."""

    path: Path

    def read(self) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
        """
        Return the entries, oldest first, and what is wrong with each line that is none.

        Raises ConfigError where the file cannot be read.
        """
        lines = [*self._lines()]
        entries = (line.entry for line in lines if line.entry is not None)
        return tuple(entries), tuple(line.fault for line in lines if line.fault)

    def add(self, new: Iterable[Entry]) -> None:
        """Add entries; one of the same id is replaced. Raises ConfigError."""
        if added := {entry.id: entry for entry in new}:
            self._change(lambda old: [*({x.id: x for x in old} | added).values()])

    def forget(self, ids: Iterable[str]) -> None:
        """Remove entries. Raises ConfigError."""
        gone = {*ids}
        self._change(lambda old: [entry for entry in old if entry.id not in gone])

    def _lines(self) -> Iterator[_Line]:
        try:
            data = self.path.read_bytes() if self.path.exists() else b''
        except OSError as error:
            raise ConfigError(f'{self.path} cannot be read ({error.strerror}).') from error
        for number, text in enumerate(data.decode(errors='surrogateescape').split('\n'), start=1):
            if not text.strip():
                continue
            try:
                yield _Line(text, read_entry(json.loads(text)))
            except (ValueError, RecursionError) as error:
                why = cut(json_text(str(error)).strip('"'), FAULT_CHARACTERS)
                yield _Line(text, None, f'{self.path}, line {number} is left out: {why}')

    def _change(self, change: Callable[[list[Entry]], list[Entry]]) -> None:
        try:
            with self._locked():
                lines = [*self._lines()]
                unread = [line.text for line in lines if line.entry is None]
                entries = change([line.entry for line in lines if line.entry is not None])
                kept = [json_text(to_json(entry)) for entry in entries[-MOST_ENTRIES:]]
                text = ''.join(f'{line}\n' for line in (*unread, *kept))
                self._write(text.encode(errors='surrogateescape'))
        except OSError as error:
            raise ConfigError(
                f'{self.path} cannot be written ({error.strerror}); nothing of it has changed. '
                'Make room, or name another file: --experience FILE.'
            ) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_name(f'.{self.path.name}.lock').open('a') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, data: bytes) -> None:
        descriptor, draft = tempfile.mkstemp(prefix='.tmp-', dir=self.path.parent)
        try:
            with os.fdopen(descriptor, 'wb') as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(self.path)
        except OSError:
            with suppress(OSError):
                Path(draft).unlink()
            raise
