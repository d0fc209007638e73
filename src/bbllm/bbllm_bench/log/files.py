"""Files that survive the death of the process that writes them, and a full disk."""

import errno
import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from bbllm.core.errors import ConfigError
from bbllm.core.records import from_json, to_json

LOCK = '.lock'
T = TypeVar('T')


class JsonLines(Generic[T]):
    """
    A file with one record a line; a crash can tear the last line only, which readers leave out.

    Who goes on writing such a file cuts that line off first (`cut_torn_line`).

    Args:
        path: The file; it need not be there.
        kind: Dataclass of the records.
    """

    def __init__(self, path: Path, kind: type[T]):
        self.path = path
        self._kind = kind

    def read(self) -> list[T]:
        """Return all records; raises ConfigError where a line is none, or it cannot be read."""
        found = []
        for number, line in enumerate(whole_lines(self.path), start=1):
            try:
                found.append(from_json(self._kind, json.loads(line)))
            except ValueError as error:
                raise ConfigError(
                    f'{self.path}, line {number} is no {self._kind.__name__}: {error} Put the '
                    'file back as it was, or name another folder: --out.'
                ) from error
        return found

    def append(self, records: Iterable[T]) -> None:
        """Append records that are on disk when this returns, or none; raises ConfigError."""
        append_text(self.path, _lines(records))

    def write(self, records: Iterable[T], *, durable: bool = True) -> None:
        """Replace all records; raises ConfigError."""
        write_atomically(self.path, _lines(records), durable=durable)


def claim_folder(path: Path, mark: str, what: str) -> None:
    """
    Make a folder, which has other content only where it also has the file *mark*.

    Raises:
        ConfigError: It cannot be made, or is no folder of *what*.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        names = sorted(item.name for item in path.iterdir() if not item.name.startswith('.'))
    except OSError as error:
        raise cannot_write(path, error) from error
    if names and mark not in names:
        raise ConfigError(
            f'{path} is no folder of {what}: it has other content, {names[0]!r}, and no '
            f'{mark}. Name a new folder: --out.'
        )


def locked(path: Path) -> BinaryIO:
    """
    Return a file that stays locked while it is open.

    Raises:
        ConfigError: Another process has it, which is named, or it cannot be written.
    """
    try:
        file = path.open('a+b')
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        who = file.read().decode(errors='replace').strip() or 'unknown'
        file.close()
        raise ConfigError(
            f'Another run works in {path.parent} (process {who}). Wait until it has ended, or '
            'name another folder: --out.'
        ) from None
    file.truncate(0)
    file.write(f'{os.getpid()}\n'.encode())
    file.flush()
    return file


def cannot_write(path: Path, error: OSError) -> ConfigError:
    """Return the error for a file that could not be written, with what helps against it."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return ConfigError(
        f'{path} cannot be written ({error.strerror}). {"Make room" if full else "Mend that"}, '
        'and repeat the same command: what is there is whole, and the run goes on from it. Or '
        'name another place (--out; --record for a recording).'
    )


def write_atomically(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Write a file, with its folder, as a whole or not at all; raises ConfigError."""
    draft = path.with_name(f'.tmp-{path.name}')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open('wb') as file:
            file.write(content.encode(errors='replace') if isinstance(content, str) else content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # on a full disk its room is wanted
            draft.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def append_text(path: Path, text: str) -> None:
    """Append whole lines that are on disk when this returns, or nothing; raises ConfigError."""
    try:
        with path.open('ab', buffering=0) as file:
            size = file.tell()
            try:
                data = memoryview(text.encode(errors='replace'))
                while data:
                    data = data[os.write(file.fileno(), data) :]
                os.fsync(file.fileno())
            except OSError:
                # Taking away needs no room, and what is half there would be in the way.
                os.ftruncate(file.fileno(), size)
                raise
    except OSError as error:
        raise cannot_write(path, error) from error


def cut_torn_line(path: Path) -> None:
    """Take away a last line that a crash left without its end; raises ConfigError."""
    try:
        data = path.read_bytes() if path.exists() else b''
        whole = data.rfind(b'\n') + 1
        if whole < len(data):
            os.truncate(path, whole)
    except OSError as error:
        raise cannot_write(path, error) from error


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a file but for a torn last one; none where there is no file."""
    try:
        data = path.read_bytes() if path.exists() else b''
    except OSError as error:
        raise ConfigError(f'Cannot read {path}: {error.strerror}.') from error
    return data.decode(errors='replace').split('\n')[:-1]


def read_json(path: Path) -> Any:
    """Read a JSON file; raises ConfigError where it is none."""
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise ConfigError(f'Cannot read {path}: {error.strerror}.') from None
    except ValueError as error:
        raise ConfigError(f'{path} is no JSON: {error}.') from error


def _lines(records: Iterable[object]) -> str:
    return ''.join(json.dumps(to_json(item), ensure_ascii=False) + '\n' for item in records)
