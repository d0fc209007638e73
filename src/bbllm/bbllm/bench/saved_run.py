"""A run's folder, read by those who only look: nothing is locked, made or mended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.bench.results import EpisodeKey, EpisodeResult
from bbllm.bench.store import RESULTS, SETTINGS, read_json
from bbllm.core.errors import ConfigError
from bbllm.core.records import from_json

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


def read_run(path: Path) -> SavedRun:
    """
    Read settings and results of a run, also of one that is under way.

    Raises:
        ConfigError: There is no such folder, it holds no run, or no episode ended yet.
    """
    if not path.is_dir():
        raise ConfigError(
            f'There is no folder {path}; `bbllm bench tabletop --out DIR` makes one.'
        )
    settings, results = path / SETTINGS, path / RESULTS
    if not settings.exists():
        raise ConfigError(
            f'{path} is no folder of a run: it has no {SETTINGS}. Name what '
            '`bbllm bench tabletop --out DIR` was told.'
        )
    data = read_json(settings)
    if not isinstance(data, dict):
        raise ConfigError(f'{settings} holds no settings, but {str(data)[:40]!r}.')
    found = _results(results) if results.exists() else {}
    if not found:
        raise ConfigError(f'{path} has no results: no episode of that run ended yet.')
    return SavedRun(path, data, tuple(found[key] for key in sorted(found)))


def unlike(a: SavedRun, b: SavedRun, names: tuple[str, ...]) -> dict[str, tuple[object, object]]:
    """Return which of these settings differ, with both values."""
    return {
        name: (a.settings.get(name), b.settings.get(name))
        for name in names
        if a.settings.get(name) != b.settings.get(name)
    }


def _results(path: Path) -> dict[EpisodeKey, EpisodeResult]:
    found: dict[EpisodeKey, EpisodeResult] = {}
    try:
        text = path.read_text('utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f'Cannot read {path}: {error}.') from error
    # What follows the last line break is being written, or was cut by a crash.
    for number, line in enumerate(text.split('\n')[:-1], start=1):
        try:
            result = from_json(EpisodeResult, json.loads(line))
        except ValueError as error:
            raise ConfigError(f'{path}, line {number} is no result: {error}') from error
        # As the run's own store has it: the first one counts.
        found.setdefault(result.key, result)
    return found
