"""
The folder of a data set: what is in it survives the death of the process that makes it.

    settings.json    what decides which pairs there are
    pairs.jsonl      the pairs, as they come
    episodes.jsonl   one EpisodeNote a line, each written after its pairs
    sessions.jsonl   one line for each time that somebody worked on it
    alpaca.json, chat.jsonl, card.json, card.md: at the end
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import pydantic

from bbllm.bench.log.store import (
    LOCK,
    SESSIONS,
    append_line,
    cannot_write,
    cut_torn_line,
    locked,
    read_lines,
    write_atomically,
)
from bbllm.core.errors import ConfigError
from benchmarks.finetuning.collected import Collected, EpisodeNote
from benchmarks.finetuning.files import ALPACA, CARD, CHAT, PAIRS
from benchmarks.finetuning.pairs import Pair
from benchmarks.finetuning.settings import SETTINGS, Begun, read_begun

EPISODES = 'episodes.jsonl'


_NOTE = pydantic.TypeAdapter(EpisodeNote)
_PAIR = pydantic.TypeAdapter(Pair)
_T = TypeVar('_T')


class DataFolder:
    """
    A data set on disk, locked as long as it is open.

    Args:
        path: The folder; it is made.

    Raises:
        ConfigError: It cannot be made, somebody else works in it, or it holds a data set that
            nobody can go on with.
    """

    def __init__(self, path: Path):
        self.path = path
        there = [name for name in (ALPACA, CHAT, PAIRS, CARD) if (path / name).exists()]
        if there and not (path / SETTINGS).exists():
            raise ConfigError(
                f'{path} holds a data set ({", ".join(there)}) without {SETTINGS}, so that it '
                'cannot be gone on with. Name another --out.'
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = locked(path / LOCK)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._started_s = time.time()
        self._clock_s = time.monotonic()
        self._played = 0
        self._earlier: list[dict[str, float]] = read_lines(path / SESSIONS)

    def __enter__(self) -> DataFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.close()

    @property
    def begun(self) -> Begun | None:
        """How it was begun; None where it is new."""
        return read_begun(self.path)

    @property
    def wall_s(self) -> float:
        """How long was worked on it, this time included."""
        earlier_s = sum(item['ended_s'] - item['started_s'] for item in self._earlier)
        return earlier_s + time.monotonic() - self._clock_s

    def begin(self, begun: Begun) -> None:
        """Keep how it is begun; raises ConfigError where the disk takes no more."""
        text = json.dumps(asdict(begun), ensure_ascii=False, indent=2) + '\n'
        write_atomically(self.path / SETTINGS, text)

    def load(self) -> Collected:
        """
        Return what is there, and take away what an end left half done.

        Raises:
            ConfigError: A file is not what was written.
        """
        notes = _read(self.path / EPISODES, _NOTE)
        pairs = _read(self.path / PAIRS, _PAIR)
        wanted = sum(note.pairs for note in notes)
        if wanted > len(pairs):
            raise ConfigError(
                f'{self.path / PAIRS} has {len(pairs)} pairs, but {EPISODES} tells of {wanted}. '
                'Put the file back as it was, or name another --out.'
            )
        if wanted < len(pairs):
            # Their episode was not told any more, so it is played again.
            write_atomically(self.path / PAIRS, _lines(pairs[:wanted]))
        found, start = Collected(), 0
        for note in notes:
            found.add(note, pairs[start : start + note.pairs])
            start += note.pairs
        return found

    def add(self, note: EpisodeNote, pairs: Sequence[Pair]) -> None:
        """
        Keep an episode: it is on disk when this returns.

        Raises:
            ConfigError: The disk takes no more; what is there stays whole.
        """
        if pairs:
            append_line(self.path / PAIRS, _lines(pairs))
        append_line(self.path / EPISODES, _lines([note]))
        self._played += 1
        # After every episode, so that a session that is killed has an end too.
        session = {
            'started_s': self._started_s,
            'ended_s': self._started_s + time.monotonic() - self._clock_s,
            'episodes': self._played,
        }
        lines = (json.dumps(item) + '\n' for item in (*self._earlier, session))
        # Written often, and worth no wait for the disk.
        write_atomically(self.path / SESSIONS, ''.join(lines), durable=False)


def _read(path: Path, adapter: pydantic.TypeAdapter[_T]) -> list[_T]:
    if not path.exists():
        return []
    cut_torn_line(path)
    found = []
    for number, line in enumerate(path.read_text(encoding='utf-8').split('\n')[:-1], start=1):
        try:
            found.append(adapter.validate_json(line))
        except pydantic.ValidationError as error:
            raise ConfigError(
                f'{path}, line {number} is not what was written ({error.errors()[0]["msg"]}). '
                'Put the file back as it was, or name another --out.'
            ) from None
    return found


def _lines(items: Sequence[EpisodeNote | Pair]) -> str:
    return ''.join(json.dumps(asdict(item), ensure_ascii=False) + '\n' for item in items)
