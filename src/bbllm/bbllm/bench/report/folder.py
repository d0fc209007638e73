"""What the report reads: the files of a run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.bench.results import EpisodeKey, EpisodeResult
from bbllm.bench.store import EPISODES, RESULTS, SESSIONS, SETTINGS, SUMMARY, read_json, read_lines
from bbllm.core.errors import ConfigError
from bbllm.core.records import from_json


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


def read_results(folder: Path) -> tuple[EpisodeResult, ...]:
    """
    Read the results of a run; a last line that a crash cut off is left out.

    Raises:
        ConfigError: A line is no result.
    """
    path = folder / RESULTS
    text = path.read_bytes() if path.exists() else b''
    # Only read here: a run may still be writing to the file.
    whole = text[: text.rfind(b'\n') + 1].decode(errors='replace')
    found: dict[EpisodeKey, EpisodeResult] = {}
    for number, line in enumerate(whole.split('\n'), start=1):
        if not line.strip():
            continue
        try:
            result = from_json(EpisodeResult, json.loads(line))
        except ValueError as error:
            raise ConfigError(f'{path}, line {number} is no result: {error}') from error
        found.setdefault(result.key, result)
    return tuple(found[key] for key in sorted(found))


def read_settings(folder: Path) -> Mapping[str, Any]:
    """
    Read the settings of a run.

    Raises:
        ConfigError: The folder holds no run.
    """
    path = folder / SETTINGS
    if not path.is_file():
        raise ConfigError(
            f'{folder} is no folder of a run: it has no {SETTINGS}. Name the folder that '
            '`bbllm bench tabletop --out DIR` has filled.'
        )
    return _object(path)


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
        summary=_object(folder / SUMMARY),
        results=read_results(folder),
        sessions=read_lines(folder / SESSIONS),
    )


def _object(path: Path) -> Mapping[str, Any]:
    data = read_json(path)
    if not isinstance(data, dict):
        raise ConfigError(f'{path} holds no JSON object.')
    return data
