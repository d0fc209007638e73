"""A run's folder, read by those who only look: nothing is locked, made or mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.log.results import read_results
from bbllm.bench.log.store import RESULTS, SETTINGS, read_json
from bbllm.core.errors import ConfigError

OF_CASES = ('suite', 'suite_sha256', 'seed', 'trials', 'tasks')
"""Settings that make cases what they are; where they agree, the cases do."""
OF_METHODS = ('planner', 'brain', 'body', 'mapping', 'world', 'limits', 'llm', 'prompts')
"""Settings that say how they were played."""


@dataclass(frozen=True, slots=True)
class SavedRun:
    """What a folder holds."""

    path: Path
    settings: Mapping[str, Any]
    results: tuple[EpisodeResult, ...]


def read_settings(folder: Path) -> Mapping[str, Any]:
    """
    Read the settings of a run.

    Raises:
        ConfigError: There is no such folder, or it holds no run.
    """
    if not folder.is_dir():
        raise ConfigError(
            f'There is no folder {folder}; `bbllm bench tabletop --out DIR` makes one.'
        )
    path = folder / SETTINGS
    if not path.exists():
        raise ConfigError(
            f'{folder} is no folder of a run: it has no {SETTINGS}. Name what '
            '`bbllm bench tabletop --out DIR` was told.'
        )
    data = read_json(path)
    if not isinstance(data, dict):
        raise ConfigError(f'{path} holds no settings, but {str(data)[:40]!r}.')
    return data


def read_sorted(folder: Path) -> tuple[EpisodeResult, ...]:
    """Read the results of a run in the order of their keys; raises ConfigError."""
    found = read_results(folder / RESULTS)
    return tuple(found[key] for key in sorted(found))


def read_run(path: Path) -> SavedRun:
    """
    Read settings and results of a run, also of one that is under way.

    Raises:
        ConfigError: There is no such folder, it holds no run, or no episode ended yet.
    """
    settings, results = read_settings(path), read_sorted(path)
    if not results:
        raise ConfigError(f'{path} has no results: no episode of that run ended yet.')
    return SavedRun(path, settings, results)


def unlike(a: SavedRun, b: SavedRun, names: tuple[str, ...]) -> dict[str, tuple[object, object]]:
    """Return which of these settings differ, with both values."""
    return {
        name: (a.settings.get(name), b.settings.get(name))
        for name in names
        if a.settings.get(name) != b.settings.get(name)
    }
