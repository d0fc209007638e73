"""What the report reads: the files of a run's folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.log.saved_run import read_settings, read_sorted
from bbllm.bench.log.store import EPISODES, SESSIONS, SUMMARY, read_json, read_lines
from bbllm.core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it lies on disk."""

    folder: Path
    settings: Mapping[str, Any]
    summary: Mapping[str, Any]
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
    summary = read_json(folder / SUMMARY)
    if not isinstance(summary, dict):
        raise ConfigError(f'{folder / SUMMARY} holds no JSON object.')
    return Run(
        folder=folder,
        settings=settings,
        summary=summary,
        results=read_sorted(folder),
        sessions=read_lines(folder / SESSIONS),
    )
