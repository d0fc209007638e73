"""Episodes on record, as the page lists and replays them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.journal import find_journal, list_entry, list_journals, read_damaged
from bbllm_viewer.replay.recording import recording_of
from bbllm_viewer.replay.shown_episode import visible

MOST_LISTED = 40


def past_episodes(folder: Path) -> list[object]:
    """Return id, ending and task of the newest episodes of a folder, the newest first."""
    entries = map(list_entry, reversed(list_journals(folder)[-MOST_LISTED:]))
    return [visible([x['episode_id'], x['ending'], x['task']]) for x in entries]


def past_record(folder: Path, name: str) -> Mapping[str, object]:
    """
    Return the recording of an episode for a replay; see `recording_of`.

    Raises:
        ConfigError: There is no such episode.
    """
    if not name:
        raise ConfigError('The address names no episode: record?id=ID.')
    journal = find_journal(folder, name)
    return recording_of(read_damaged(journal)[0], journal)
