"""
The folder of one run: what is in it survives the death of the process that fills it.

    settings.json         all that decides what the results mean
    results.jsonl         one EpisodeResult a line, each key once
    episodes/<key>.jsonl  journals, each written before its result; see `EpisodeRecord.journals`
    sessions.jsonl        one line for each time that the program worked on it
    summary.json, report.html
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from bbllm.bench.log.episodes import EpisodeRecord
from bbllm.bench.log.results import EpisodeKey, EpisodeResult, read_results
from bbllm.bench.log.run_settings import RunSettings, read_settings
from bbllm.core.errors import ConfigError
from bbllm.core.records import from_json, to_json

SETTINGS = 'settings.json'
RESULTS = 'results.jsonl'
SESSIONS = 'sessions.jsonl'
SUMMARY = 'summary.json'
EPISODES = 'episodes'
LOCK = '.lock'


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One time that the program worked on a run."""

    started_s: float
    """Since the epoch [s]."""
    ended_s: float | None
    """None where it was killed before its first episode ended."""
    episodes: int
    jobs: int = 1

    @property
    def wall_s(self) -> float:
        """How long it took; 0 where it has no end [s]."""
        return 0.0 if self.ended_s is None else max(0.0, self.ended_s - self.started_s)


def episodes_per_minute(sessions: Sequence[Session]) -> float | None:
    """Return how fast a run was, over all its sessions; None where none has ended."""
    wall_s = math.fsum(session.wall_s for session in sessions)
    episodes = sum(session.episodes for session in sessions if session.ended_s is not None)
    return round(60 * episodes / wall_s, 2) if wall_s else None


class RunFolder:
    """
    A run on disk, locked as long as it is open.

    Args:
        path: The folder; it is made.

    Raises:
        ConfigError: It cannot be made, another run works in it, or it has other content.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._refuse_other_things()
            with ExitStack() as stack:
                stack.enter_context(locked(path / LOCK))
                (path / EPISODES).mkdir(exist_ok=True)
                cut_torn_line(path / RESULTS)
                self._results = read_results(path / RESULTS)
                self._lock = stack.pop_all()
        except OSError as error:
            raise cannot_write(path, error) from error

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def settings(self) -> RunSettings | None:
        """What it was made with; None where it is new."""
        path = self.path / SETTINGS
        return read_settings(read_json(path), str(path)) if path.exists() else None

    @property
    def results(self) -> Mapping[EpisodeKey, EpisodeResult]:
        """All episodes that ended, in the order in which they did."""
        return self._results

    @property
    def sessions(self) -> tuple[Session, ...]:
        return read_sessions(self.path / SESSIONS)

    def journal(self, key: EpisodeKey) -> Path:
        return self.path / EPISODES / f'{key.name}.jsonl'

    def write_settings(self, settings: RunSettings) -> None:
        text = json.dumps(settings.model_dump(mode='json'), ensure_ascii=False, indent=2)
        write_atomically(self.path / SETTINGS, f'{text}\n')

    def write_sessions(self, sessions: Sequence[Session]) -> None:
        """Keep the sessions; raises ConfigError where the disk takes no more."""
        # Written after every episode, and worth no wait for the disk.
        write_atomically(self.path / SESSIONS, _lines(map(to_json, sessions)), durable=False)

    def add(self, played: EpisodeRecord) -> None:
        """
        Keep an episode: it is on disk when this returns, and not at all where this raises.

        Raises:
            ConfigError: The disk takes no more; what is there stays whole.
            ValueError: The episode is there already.
        """
        key = played.result.key
        if key in self._results:
            raise ValueError(f'{key.name} is in {self.path} already.')
        for name, text in played.journals.items():
            write_atomically(self.path / EPISODES / name, text)
        # Of an episode that was lost with its process there may be some of an earlier try.
        for path in self.path.glob(f'{EPISODES}/{key.name}[.-]*'):
            if path.name not in played.journals:
                path.unlink(missing_ok=True)
        append_line(self.path / RESULTS, _lines([to_json(played.result)]))
        self._results[key] = played.result

    def drop(self, keys: Iterable[EpisodeKey]) -> None:
        gone = set(keys)
        kept = {key: result for key, result in self._results.items() if key not in gone}
        write_atomically(self.path / RESULTS, _lines(to_json(item) for item in kept.values()))
        self._results = kept

    def _refuse_other_things(self) -> None:
        names = sorted(item.name for item in self.path.iterdir() if item.name[:5] != '.tmp-')
        others = [name for name in names if name not in (LOCK, EPISODES)]
        if others and SETTINGS not in names:
            raise ConfigError(
                f'{self.path} is no folder of a run: it holds something else, {others[0]!r}, and '
                f'no {SETTINGS}. Name a new folder: --out.'
            )


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run's folder as a reader finds it: nothing is locked, made or mended."""

    path: Path
    settings: RunSettings
    results: tuple[EpisodeResult, ...]
    """In the order of their keys; also of a run that is under way."""
    sessions: tuple[Session, ...] = ()

    def journal(self, key: EpisodeKey) -> Path | None:
        """Return where an episode's journal is, None where it is gone."""
        path = self.path / EPISODES / f'{key.name}.jsonl'
        return path if path.is_file() else None


def read_run(path: Path) -> SavedRun:
    """Read a run, also one that is under way; raises ConfigError where there is none."""
    if not path.is_dir():
        raise ConfigError(
            f'There is no folder {path}; `bbllm bench tabletop --out DIR` makes one.'
        )
    file = path / SETTINGS
    if not file.exists():
        raise ConfigError(
            f'{path} is no folder of a run: it has no {SETTINGS}. Name what '
            '`bbllm bench tabletop --out DIR` was told.'
        )
    found = read_results(path / RESULTS)
    return SavedRun(
        path,
        read_settings(read_json(file), str(file)),
        tuple(found[key] for key in sorted(found)),
        read_sessions(path / SESSIONS),
    )


def read_sessions(path: Path) -> tuple[Session, ...]:
    """Read the sessions of a run, none where the file is missing; raises ConfigError."""
    try:
        return tuple(from_json(Session, line) for line in read_lines(path))
    except ValueError as error:
        raise ConfigError(f'{path} holds no sessions: {error}') from error


def locked(path: Path) -> BinaryIO:
    """
    Return a file that stays locked while it is open.

    Raises:
        ConfigError: Another process has it; names the process.
        OSError: It cannot be written.
    """
    file = path.open('a+b')
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
    place = 'name another place (--out; --record for a recording)'
    again = 'say the same command again: what is there is whole, and the run goes on from it'
    denied = f'You may not write there: {place}, or make it writable and {again}.'
    in_the_way = f'A file is where a folder is needed: {place}.'
    full = f'Make room, and {again}.'
    advice = {
        **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), full),
        **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), in_the_way),
        errno.EISDIR: f'A folder is where a file is needed: {place}.',
        **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), denied),
    }.get(error.errno or 0, f'Mend that and {again}; or {place}.')
    return ConfigError(f'{path} cannot be written ({error.strerror}). {advice}')


def write_atomically(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a file that is there as a whole or not at all; raises ConfigError."""
    draft = path.with_name(f'.tmp-{path.name}')
    try:
        with draft.open('wb') as file:
            file.write(text.encode(errors='replace'))
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # on a full disk its room is wanted
            draft.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def append_line(path: Path, line: str) -> None:
    """Append whole lines that are on disk when this returns, or nothing; raises ConfigError."""
    try:
        with path.open('ab', buffering=0) as file:
            size = file.tell()
            try:
                data = memoryview(line.encode(errors='replace'))
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
    """Take away a last line that a crash left without its end."""
    data = path.read_bytes() if path.exists() else b''
    whole = data.rfind(b'\n') + 1
    if whole < len(data):
        try:
            os.truncate(path, whole)
        except OSError as error:
            raise cannot_write(path, error) from error


def read_json(path: Path) -> Any:
    """Read a JSON file; raises ConfigError where it is none."""
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise ConfigError(f'Cannot read {path}: {error.strerror}.') from None
    except ValueError as error:
        raise ConfigError(f'{path} is no JSON: {error}.') from error


def read_lines(path: Path) -> list[Any]:
    """Read a file of JSON lines, none where it is not there; raises ConfigError."""
    if not path.exists():
        return []
    values = []
    for number, line in enumerate(path.read_text(encoding='utf-8').split('\n'), start=1):
        try:
            if line:
                values.append(json.loads(line))
        except ValueError as error:
            raise ConfigError(f'{path}, line {number} is no JSON: {error}.') from error
    return values


def _lines(items: Iterable[Any]) -> str:
    return ''.join(json.dumps(item, ensure_ascii=False) + '\n' for item in items)
