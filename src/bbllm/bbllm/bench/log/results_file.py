"""Reads the file of a run's results, by whoever: nothing is locked, made or mended."""

from __future__ import annotations

import json
from pathlib import Path

from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.core.errors import ConfigError
from bbllm.core.records import from_json


def read_results(path: Path) -> dict[EpisodeKey, EpisodeResult]:
    """
    Read results in the order in which their episodes ended; none where there is no file.

    What follows the last line break is being written, or was cut by a crash, and is left out.

    Raises:
        ConfigError: The file cannot be read, or a line is no result.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f'Cannot read {path}: {error.strerror}.') from error
    whole = data[: data.rfind(b'\n') + 1].decode(errors='replace')
    found: dict[EpisodeKey, EpisodeResult] = {}
    for number, line in enumerate(whole.split('\n'), start=1):
        if not line.strip():
            continue
        try:
            result = from_json(EpisodeResult, json.loads(line))
        except ValueError as error:
            raise ConfigError(f'{path}, line {number} is no result: {error}') from error
        # The first one counts: whatever was written a second time came later.
        found.setdefault(result.key, result)
    return found
