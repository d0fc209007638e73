"""
The folder of one run: what is in it survives the death of the process that fills it.

    settings.json         all that decides what the results mean
    results.jsonl         one EpisodeResult a line, each key once
    episodes/<key>.jsonl  journals, each written before its result; see `EpisodeRecord.files`
    episodes/<key>.prompts  what was sent to models, see core.prompt_store
    episodes/<key>.html   their pages, written with the report
    talk/<key>.jsonl      exchanges of an episode under way or lost, with --record
    faults/<key>.txt      traceback of an episode that was lost to a fault of the program
    sessions.jsonl        one line for each time that the program worked on it
    summary.json, report.html
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm_bench.log.episodes import EpisodeRecord
from bbllm_bench.log.files import (
    LOCK,
    JsonLines,
    claim_folder,
    cut_torn_line,
    locked,
    read_json,
    write_atomically,
)
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.log.run_settings import RunSettings, read_settings

SETTINGS = 'settings.json'
RESULTS = 'results.jsonl'
SESSIONS = 'sessions.jsonl'
SUMMARY = 'summary.json'
EPISODES, FAULTS = 'episodes', 'faults'


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
        claim_folder(path, SETTINGS, 'a run')
        self._lock = locked(path / LOCK)
        try:
            cut_torn_line(path / RESULTS)
            self._results = _read_results(path)
        except ConfigError:
            self.close()
            raise

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
        return tuple(JsonLines(self.path / SESSIONS, Session).read())

    def write_settings(self, settings: RunSettings) -> None:
        text = json.dumps(settings.model_dump(mode='json'), ensure_ascii=False, indent=2)
        write_atomically(self.path / SETTINGS, f'{text}\n')

    def write_sessions(self, sessions: Sequence[Session]) -> None:
        """Keep the sessions; raises ConfigError where the disk takes no more."""
        # Written after every episode, and worth no wait for the disk.
        JsonLines(self.path / SESSIONS, Session).write(sessions, durable=False)

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
        for name, text in played.files.items():
            write_atomically(self.path / EPISODES / name, text)
        # Of an episode that was lost with its process there may be some of an earlier try.
        for path in self.path.glob(f'{EPISODES}/{key.name}[.-]*'):
            if path.name not in played.files:
                path.unlink(missing_ok=True)
        JsonLines(self.path / RESULTS, EpisodeResult).append([played.result])
        self._results[key] = played.result

    def drop(self, keys: Iterable[EpisodeKey]) -> None:
        gone = set(keys)
        kept = {key: result for key, result in self._results.items() if key not in gone}
        JsonLines(self.path / RESULTS, EpisodeResult).write(kept.values())
        self._results = kept


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

    def page(self, key: EpisodeKey) -> Path:
        """Return where the page of an episode is, or would be."""
        return self.path / EPISODES / f'{key.name}.html'


def read_run(path: Path) -> SavedRun:
    """Read a run, also one that is under way; raises ConfigError where there is none."""
    file = path / SETTINGS
    if not file.exists():
        raise ConfigError(
            f'{path} is no folder of a run: it has no {SETTINGS}. Name what '
            '`bbllm bench tabletop --out DIR` was given.'
        )
    results = _read_results(path)
    return SavedRun(
        path,
        read_settings(read_json(file), str(file)),
        tuple(results[key] for key in sorted(results)),
        tuple(JsonLines(path / SESSIONS, Session).read()),
    )


def _read_results(path: Path) -> dict[EpisodeKey, EpisodeResult]:
    found: dict[EpisodeKey, EpisodeResult] = {}
    for result in JsonLines(path / RESULTS, EpisodeResult).read():
        # The first one counts: whatever was written a second time came later.
        found.setdefault(result.key, result)
    return found
