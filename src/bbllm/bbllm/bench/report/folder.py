"""The files of a run's folder that the report reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.log.saved_run import read_settings, read_sorted
from bbllm.bench.log.store import EPISODES, SESSIONS, SUMMARY, read_lines
from bbllm.bench.report.summary import RunSummary, read_summary
from bbllm.core.errors import ConfigError
from bbllm.core.events import EventKind, SceneRecorded
from bbllm.core.journal import read_line
from bbllm.core.types import Scene

_MARK = f'"{EventKind.SCENE.value}"'.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it lies on disk."""

    folder: Path
    settings: Mapping[str, Any]
    summary: RunSummary
    results: tuple[EpisodeResult, ...]
    """In the order of their keys."""
    sessions: Sequence[Mapping[str, Any]]

    def journal(self, key: EpisodeKey) -> Path | None:
        """Return where an episode's journal is, None where it is gone."""
        path = self.folder / EPISODES / f'{key.name}.jsonl'
        return path if path.is_file() else None


def read_run(folder: Path) -> Run:
    """
    Read all that a report is made of.

    Raises:
        ConfigError: Something is missing, or is not what it should be.
    """
    settings = read_settings(folder)
    if not (folder / SUMMARY).is_file():
        raise ConfigError(
            f'{folder} has no {SUMMARY} yet; `bbllm bench report {folder}` makes one.'
        )
    return Run(
        folder=folder,
        settings=settings,
        summary=read_summary(folder / SUMMARY),
        results=read_sorted(folder),
        sessions=read_lines(folder / SESSIONS),
    )


@dataclass(frozen=True, slots=True)
class Scenes:
    """What a journal shows of the table; None where it does not."""

    before: Scene | None = None
    after: Scene | None = None


def read_scenes(path: Path | None) -> Scenes:
    """
    Read the scenes of a journal.

    Pictures only gain by them, so a journal that is gone or damaged gives none and no error.
    """
    if path is None:
        return Scenes()
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return Scenes()
    found: dict[str, Scene] = {}
    for line in lines:
        # The kind stands at the beginning of a line; most lines are something else.
        if _MARK in line[:80]:
            _take(line, found)
    return Scenes(found.get('before'), found.get('after'))


def _take(line: bytes, found: dict[str, Scene]) -> None:
    try:
        recorded = read_line(line.decode()).data
        if isinstance(recorded, SceneRecorded):
            found[recorded.moment] = recorded.scene
    except ValueError:
        return  # cut off by a crash, or of another version: the picture is drawn without it
