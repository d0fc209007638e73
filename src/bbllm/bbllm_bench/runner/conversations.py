"""The recording of a whole run: one file of exchanges, written and read by episode."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bbllm.core.errors import ConfigError, ReplayError
from bbllm.llm.recording.replay import check_place, recording_text
from bbllm_bench.log.files import (
    append_text,
    cut_torn_line,
    read_json,
    whole_lines,
    write_atomically,
)
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.log.store import SETTINGS


class RunRecording:
    """
    The file of `--record`, while a run goes on.

    It has an episode as a whole or not at all. A process that was killed may have left one here
    whose result is not on record (*episodes*): it will be played again, so it is taken out.

    Raises:
        ConfigError: It cannot be written, or is gone although there are results.
    """

    def __init__(self, path: Path, episodes: frozenset[str]):
        self.path = path
        if episodes and not path.exists():
            raise ConfigError(
                f'The recording {path} of this run is gone, so a replay could not repeat it. Put '
                'it back, or begin anew in another folder: --out.'
            )
        cut_torn_line(path)
        lines = list(_lines(whole_lines(path), path))
        kept = [line for name, line in lines if name in episodes]
        if len(kept) < len(lines) or not path.exists():
            write_atomically(path, ''.join(kept))

    def add(self, text: str) -> None:
        """Append the lines of one episode; raises ConfigError where the disk takes no more."""
        if text:
            append_text(self.path, text)


def check_recording(record: Path | None, settings: RunSettings, folder: Path) -> None:
    """
    Keep a run from writing into a file that is not its own.

    Raises:
        ConfigError: The file has content, and the folder does not name it as its own; or it is
            compressed.
    """
    if record is None:
        return
    check_place(record)
    if not record.exists() or not record.stat().st_size:
        return
    path = folder / SETTINGS
    known = read_json(path) if path.exists() else {}
    if not isinstance(known, dict) or Path(known.get('record') or '') != settings.record:
        raise ConfigError(
            f'{record} has other content. Name another file for --record, or delete it.'
        )


def split_recording(path: Path) -> Mapping[str, str]:
    """
    Return the lines of each episode of a recorded run, by the episode's name.

    Raises:
        ReplayError: The file cannot be read, or is no recording of a run.
    """
    parts: dict[str, list[str]] = {}
    # What follows the last line end was torn off by a crash.
    for name, line in _lines(recording_text(path).split('\n')[:-1], path):
        if not name:
            raise ReplayError(
                f'{path} is the recording of a single episode; `bbllm run --replay` answers from '
                'it. A run needs a file that `bbllm bench ... --record` made.'
            )
        parts.setdefault(name, []).append(line)
    if not parts:
        raise ReplayError(f'{path} has no recorded run; `bbllm bench ... --record` makes one.')
    return {name: ''.join(lines) for name, lines in parts.items()}


def answers_of(path: Path, keys: Sequence[EpisodeKey]) -> tuple[Mapping[str, str], str]:
    """
    Return the lines of a recording by episode, and a notice where some are missing.

    An episode of K loops is answered by one that had more, where it was not recorded by itself:
    no prompt depends on K, so it is the beginning of that one.

    Raises:
        ConfigError: It has none of the episodes of the run.
        ReplayError: It cannot be read.
    """
    recorded = split_recording(path)
    lines = {key.name: text for key in keys if (text := _answers(recorded, key))}
    missing = [key.name for key in keys if key.name not in lines]
    if not lines:
        raise ConfigError(
            f'{path} has none of these episodes, but for example {next(iter(recorded))}. Use '
            'the --tasks, --trials and --k of the recording.'
        )
    if not missing:
        return lines, ''
    return lines, (
        f'{path} lacks {len(missing)} of {len(keys)} episodes, for example {missing[0]}; they '
        'will be lost.'
    )


def _answers(recorded: Mapping[str, str], key: EpisodeKey) -> str:
    """Return the lines of an episode, of the one with the fewest loops that has enough."""
    episode = key.name.removesuffix(str(key.k))
    loops = (name.removeprefix(episode) for name in recorded if name.startswith(episode))
    enough = [int(text) for text in loops if text.isdecimal() and int(text) >= key.k]
    return recorded[f'{episode}{min(enough)}'] if enough else ''


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _lines(lines: Sequence[str], path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of the episode and the line."""
    for number, line in enumerate(lines, start=1):
        try:
            name = json.loads(line).get('episode', '')
        except (ValueError, AttributeError):
            raise ReplayError(
                f'Line {number} of {path} is no recorded exchange; a recording is made by '
                '--record.'
            ) from None
        yield name, f'{line}\n'
