"""Puts the shards of a run into one folder, as if one machine had played all its cases."""

import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.text import count_of
from bbllm_bench.log.files import JsonLines, cannot_write
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings, differences, show
from bbllm_bench.log.shards import Shard, ShardOrigin
from bbllm_bench.log.store import (
    EPISODES,
    FAULTS,
    RESULTS,
    SESSIONS,
    RunFolder,
    SavedRun,
    Session,
    read_run,
)

OWN = ('shard', 'record')
"""Settings in which the shards of a run differ."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Shards that go together, and what their run is then."""

    runs: tuple[SavedRun, ...]
    """The shards in their order."""
    settings: RunSettings
    """Those of the whole run; its `shards` are where each part comes from."""

    @classmethod
    def of(cls, folders: Sequence[Path], *, allow_missing: bool = False) -> 'Merge':
        """
        Read the shards of a run; nothing is written.

        Args:
            folders: Those of the shards, in any order.
            allow_missing: Whether shards and episodes may be missing.

        Raises:
            ConfigError: A folder is no shard of the run, is given twice or has other settings, or
                something is missing.
        """
        runs = tuple(sorted((read_run(folder) for folder in folders), key=_place))
        settings = _settings_of(runs)
        missing = [*_missing(runs)]
        if missing and not allow_missing:
            listed = '\n  '.join(missing)
            raise ConfigError(
                f'The run is not complete:\n  {listed}\nPlay what is missing by the command of '
                'the run, with its --shard and --out, or merge what is there: --allow-missing.'
            )
        return cls(runs, settings)

    def write(self, out: Path) -> None:
        """
        Write the run into a new folder, without its report; it is then a run like any other.

        What is missing is played there by the command of the run without `--shard`.

        Raises:
            ConfigError: The folder has content, or the disk takes no more.
        """
        check_empty(out)
        runs = self.runs
        with RunFolder(out) as folder:
            for run in runs:
                _copy_files(run, out)
            results = (result for run in runs for result in run.results)
            JsonLines(out / RESULTS, EpisodeResult).write(results)
            sessions = (session for run in runs for session in run.sessions)
            ordered = sorted(sessions, key=lambda session: session.started_s)
            JsonLines(out / SESSIONS, Session).write(ordered)
            # They come last: without them, what an interrupted merge leaves is no run.
            folder.write_settings(self.settings)


def check_empty(out: Path) -> None:
    """Raise ConfigError where the folder to merge into has content."""
    try:
        names = sorted(x.name for x in out.iterdir() if not x.name.startswith('.'))
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(out, error) from error
    if names:
        raise ConfigError(
            f'{out} has content already, for example {names[0]!r}. Name a new folder: --out.'
        )


def _place(run: SavedRun) -> tuple[int, int]:
    """Return a run's place among the shards; raises ConfigError where it is no shard."""
    shard = run.settings.shard
    if shard is None:
        raise ConfigError(
            f'{run.path} is no shard: it was played without --shard, or is merged already. Name '
            'folders of `bbllm bench SUITE --shard I/N --out DIR`.'
        )
    return shard.number, shard.of


def _settings_of(runs: Sequence[SavedRun]) -> RunSettings:
    """Return the settings of shards together; raises ConfigError where these do not fit."""
    first = runs[0]
    for run in runs[1:]:
        if unlike := _unlike(first.settings, run.settings):
            listed = '\n  '.join(
                f'{name}: {show(a)} in {first.path}, {show(b)} in {run.path}'
                for name, (a, b) in unlike.items()
            )
            raise ConfigError(
                f'{first.path} and {run.path} are no shards of one run, as their settings '
                f'differ:\n  {listed}\nPlay all shards by the same command, but for --shard and '
                '--out, with the same version of bbllm.'
            )
    for number, count in Counter(run.settings.shard for run in runs).items():
        if count > 1:
            twice = ', '.join(str(run.path) for run in runs if run.settings.shard == number)
            raise ConfigError(f'The shard {number} is given {count} times: {twice}. Name it once.')
    return first.settings.model_copy(
        update={
            'shard': None,
            'shards': tuple(map(_origin, runs)),
            'record': None,
            'machine': _together([run.settings.machine for run in runs]),
            'command': shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        }
    )


def _unlike(a: RunSettings, b: RunSettings) -> dict[str, tuple[object, object]]:
    """Return by name what differs; of trials, tasks and K neither may have more."""
    found = {name: (x, y) for name, x, y in differences(a, b)}
    found |= {name: (x, y) for name, y, x in differences(b, a)}
    for name in OWN:
        found.pop(name, None)
    if a.shard is not None and b.shard is not None and a.shard.of != b.shard.of:
        found['shard'] = (a.shard, b.shard)
    return found


def _origin(run: SavedRun) -> ShardOrigin:
    settings = run.settings
    assert settings.shard is not None
    return ShardOrigin(
        shard=settings.shard,
        folder=str(run.path),
        episodes=len(run.results),
        machine=settings.machine,
        commit=settings.versions.get('commit', ''),
        record=settings.record,
        command=settings.command,
    )


def _missing(runs: Sequence[SavedRun]) -> Iterator[str]:
    """Yield which shards and how many episodes are missing, a sentence each."""
    shards = {run.settings.shard for run in runs}
    of = max(shard.of for shard in shards if shard)
    if absent := [str(s) for n in range(of) if (s := Shard(n + 1, of)) not in shards]:
        yield f'no folder is of {", ".join(absent)}'
    for run in runs:
        keys = set(run.settings.keys)
        if lacking := sorted(keys - {result.key for result in run.results}):
            yield (
                f'{run.path} ({run.settings.shard}) lacks {len(lacking)} of '
                f'{count_of(len(keys), "episode")}, for example {lacking[0].name}'
            )


def _together(machines: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return what is known of several machines; where they differ, all values."""
    names = dict.fromkeys(name for machine in machines for name in machine)
    return {
        name: '; '.join(dict.fromkeys(m[name] for m in machines if name in m)) for name in names
    }


def _copy_files(run: SavedRun, out: Path) -> None:
    """Copy what a run has of its episodes; their pages are written anew with the report."""
    for name in (EPISODES, FAULTS):
        if not (run.path / name).is_dir():
            continue
        ignored = shutil.ignore_patterns('*.html', '.*')
        try:
            shutil.copytree(run.path / name, out / name, ignore=ignored, dirs_exist_ok=True)
        except shutil.Error as error:
            source, _, reason = error.args[0][0]
            raise ConfigError(f'{source} cannot be copied to {out}: {reason}.') from error
        except OSError as error:
            raise cannot_write(out, error) from error
