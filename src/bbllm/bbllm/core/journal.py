"""
An episode's journal: one JSON object a line, flushed as it happens, read back by `bbllm show`.

Every line is {"kind", "stamp_s", "data"}; `data` has the fields of the record of its kind
(core.events.EventKind), without those that are None.
"""

from __future__ import annotations

import difflib
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pydantic_core

from bbllm.core.errors import ConfigError
from bbllm.core.events import (
    Ending,
    Episode,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    EventKind,
    GoalStated,
    ModelCall,
    RepairBegun,
    StepPassed,
    is_remark,
    steps_left,
)
from bbllm.core.goals import NOT_CHECKED
from bbllm.core.prompt_store import PromptEncoder, prompts_path
from bbllm.core.reading import read_text
from bbllm.core.records import from_json, to_json
from bbllm.core.text import count_of, cut, json_text
from bbllm.core.types import Outcome, Task

UNREADABLE = 'UNREADABLE'
"""Stands in lists for the ending of a file that is no journal."""
UNKNOWN = '(not readable)'
"""Stands for the content of the first line of a damaged journal."""
BREAKS_OFF = 'The journal breaks off: the episode runs, or its process died.'
FAULT_CHARACTERS = 300
"""Length of the description of a damaged line [characters]."""


def line_of(event: Event) -> str:
    """Return the line of an event, with its line break."""
    data = {name: value for name, value in to_json(event.data).items() if value is not None}
    return f'{json_text({"kind": event.kind.value, "stamp_s": event.stamp_s, "data": data})}\n'


@dataclass(frozen=True)
class JournalLine:
    """A line as JSON."""

    kind: EventKind
    stamp_s: float
    data: Mapping[str, Any]


def read_line(line: str) -> Event:
    """Return the event of a line; raises ValueError with what is wrong where it is none."""
    if '\\ud' in line.lower():  # halves of characters could not be printed or written
        text = json.dumps(json.loads(line), ensure_ascii=False)
        line = text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
    read = from_json(JournalLine, pydantic_core.from_json(line, allow_inf_nan=False))
    return Event(read.stamp_s, from_json(read.kind.record, read.data))


class JournalWriter:
    """
    Writes the events of one episode to `<folder>/<episode_id>.jsonl` as they come.

    What was sent to models goes into the file beside it that core.prompt_store describes.
    """

    def __init__(self, folder: Path, episode_id: str):
        self.path = folder / f'{episode_id}.jsonl'
        self._encoder = PromptEncoder()
        self._prompts: TextIO | None = None
        self.broken = ''
        """Why not every event was written, in one sentence; empty where all were."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # 'x': a journal is never overwritten, whatever id a client chose.
            self._file: TextIO = self.path.open('x', encoding='utf-8', errors='replace')
        except FileExistsError as error:
            raise ConfigError(
                f'There is an episode {episode_id!r} already; choose another id or leave it empty.'
            ) from error
        except OSError as error:
            raise ConfigError(
                f'The journal {self.path} cannot be written ({error.strerror}); '
                'set XDG_STATE_HOME to a folder that can.'
            ) from error

    def __call__(self, event: Event) -> None:
        """Append one event, which survives a crash; raises ConfigError where the disk is full."""
        try:
            # First the texts: what a line of the journal refers to is there.
            if isinstance(event.data, ModelCall):
                self._keep(self._encoder.add(event.data.prompt))
            self._file.write(line_of(event))
            self._file.flush()
        except OSError as error:
            self.broken = f'The journal {self.path} breaks off: {error.strerror}.'
            raise ConfigError(
                f'The journal {self.path} can no longer be written ({error.strerror}), so the '
                'episode was ended. Make room there, or set XDG_STATE_HOME to another folder.'
            ) from error

    def add(self, data: EventData) -> None:
        """Append what happens now, by the wall clock; raises ConfigError as a call does."""
        self(Event(time.time(), data))

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._file, self._prompts):
            with suppress(OSError):  # what could not be written has been said already
                if file is not None:
                    file.close()

    def _keep(self, lines: str) -> None:
        if lines and self._prompts is None:
            self._prompts = prompts_path(self.path).open('w', encoding='utf-8', errors='replace')
        if lines and self._prompts is not None:
            self._prompts.write(lines)
            self._prompts.flush()


def prompts_text(journal: Path) -> str:
    """Return the lines of prompts that are kept beside a journal; '' where none are."""
    path = prompts_path(journal)
    return path.read_text('utf-8', errors='replace') if path.exists() else ''


def end_journal(path: Path, ending: Ending, message: str) -> bool:
    """
    Add the end to a journal that breaks off because its writer has died.

    Returns whether it was added: not where it has an end, is not here, or cannot be written.
    """
    with suppress(OSError, ConfigError):
        if read_episode(path).ending is None:
            line = line_of(Event(time.time(), EpisodeEnded(ending, message, 'LostNodeError')))
            with path.open('r+b') as file:
                # A last line that was cut by the death of its writer stands for nothing.
                file.truncate(file.read().rfind(b'\n') + 1)
                file.seek(0, os.SEEK_END)
                file.write(line.encode())
            return True
    return False


def read_episode(path: Path) -> Episode:
    """
    Read a journal as one record; `ending` is None where it breaks off.

    Raises ConfigError where it cannot be read, or a line of it is no event; names the line.
    """
    episode, faults = read_damaged(path)
    if faults:
        raise ConfigError(f'{path} is no journal of an episode. {faults[0]}')
    return episode


def read_damaged(path: Path) -> tuple[Episode, tuple[str, ...]]:
    """
    Read what can be read of a journal, and return also what is wrong with it, line by line.

    Raises ConfigError where no line is an event.
    """
    try:
        text = read_text(path, errors='replace')
    except OSError as error:
        raise ConfigError(f'{path} cannot be read ({error.strerror}).') from error
    events, faults = list[Event](), list[str]()
    # Not splitlines(): what people and models say may hold U+2028, which it takes for a line end.
    # What follows the last line break was cut by a crash.
    for number, line in enumerate(text.split('\n')[:-1], start=1):
        try:
            events.append(read_line(line))
        except (ValueError, RecursionError) as error:
            faults.append(f'Line {number} cannot be read: {cut(str(error), FAULT_CHARACTERS)}')
    if not events:
        why = f' {faults[0]}' if faults else ' It is empty.'
        raise ConfigError(f'{path} is no journal of an episode.{why}')
    if not isinstance(events[0].data, EpisodeStarted):
        faults.insert(0, 'The first line is no event of kind "started", so the task is not known.')
        start = EpisodeStarted(
            episode_id=path.stem, task=UNKNOWN, planner=UNKNOWN, brain=UNKNOWN, body=UNKNOWN
        )
        events.insert(0, Event(events[0].stamp_s, start))
    return episode_of(events), tuple(faults)


def episode_of(events: Iterable[Event]) -> Episode:
    """Sum up the events of one episode; raises ValueError where the first is not the start."""
    events = tuple(events)
    start, last = events[0].data, events[-1]
    if not isinstance(start, EpisodeStarted):
        raise ValueError(
            f'an episode does not begin with an event of kind {events[0].kind.value}.'
        )
    end = last.data if isinstance(last.data, EpisodeEnded) else None
    outcomes = [event.data for event in events if isinstance(event.data, Outcome)]
    goals = [event.data for event in events if isinstance(event.data, GoalStated)]
    return Episode(
        id=start.episode_id,
        task=Task(start.episode_id, start.task),
        planner=start.planner,
        brain=start.brain,
        body=start.body,
        ending=end.ending if end else None,
        message=end.message if end else BREAKS_OFF,
        events=events,
        feedback_loops=sum(
            isinstance(event.data, RepairBegun) and event.data.is_loop for event in events
        ),
        remarks=sum(is_remark(event.data) for event in events),
        steps=len(outcomes),
        passed_steps=len(steps_left(events, StepPassed)),
        goal=end.goal if end else '',
        goal_stated=goals[-1] if goals else GoalStated(),
        summary=end.summary if end else '',
        model_calls=tuple(event.data for event in events if isinstance(event.data, ModelCall)),
        wall_s=last.stamp_s - events[0].stamp_s,
        robot_s=sum(outcome.duration_s for outcome in outcomes),
    )


def summarize(episode: Episode) -> Mapping[str, str | int | float]:
    """Return what `bbllm show --json` prints: plain values, one object."""
    calls = episode.model_calls
    return {
        'episode_id': episode.id,
        'task': episode.task.instruction,
        'planner': episode.planner,
        'brain': episode.brain,
        'body': episode.body,
        'ending': 'INTERRUPTED' if episode.ending is None else episode.ending.name,
        'message': episode.message,
        'goal': episode.goal or NOT_CHECKED,
        'conditions': episode.goal_stated.text,
        'summary': episode.summary,
        'feedback_loops': episode.feedback_loops,
        'remarks': episode.remarks,
        'steps': episode.steps,
        'passed_steps': episode.passed_steps,
        'model_calls': len(calls),
        'prompt_tokens': sum(call.prompt_tokens for call in calls),
        'completion_tokens': sum(call.completion_tokens for call in calls),
        'cached_tokens': sum(call.cached_tokens for call in calls),
        'reasoning_tokens': sum(call.reasoning_tokens for call in calls),
        'image_tokens': sum(call.image_tokens for call in calls),
        'model_s': round(sum(call.duration_s for call in calls), 3),
        'wall_s': round(episode.wall_s, 3),
        'robot_s': round(episode.robot_s, 3),
    }


def list_journals(folder: Path) -> list[Path]:
    """Return all journals of a folder, oldest first."""
    return sorted(folder.glob('*.jsonl'), key=lambda path: path.stat().st_mtime_ns)


def list_entry(path: Path) -> dict[str, str]:
    """
    Return id, ending, task and path of a journal, for lists.

    A file that is no journal has the ending UNREADABLE and the reason in place of the task, so
    that the others can be seen.
    """
    try:
        data = summarize(read_damaged(path)[0])
        ending, task = str(data['ending']), str(data['task'])
    except ConfigError as error:
        ending, task = UNREADABLE, str(error)
    return {'episode_id': path.stem, 'ending': ending, 'task': task, 'journal': str(path)}


def find_journal(folder: Path, name: str | None = None) -> Path:
    """
    Return the journal of an episode: the newest one, or the one whose id begins with *name*.

    Raises:
        ConfigError: No episode was recorded yet, none has that id, or the beginning fits several.
    """
    journals = list_journals(folder)
    if not journals:
        raise ConfigError(f'No episode is recorded in {folder} yet; `bbllm demo` makes one.')
    if name is None:
        return journals[-1]
    fitting = [path for path in journals if path.stem.startswith(name)]
    exact = [path for path in fitting if path.stem == name]
    if exact or len(fitting) == 1:
        return (exact or fitting)[0]
    if fitting:
        several = ', '.join(path.stem for path in fitting[:5])
        raise ConfigError(f'{name!r} is the beginning of several episodes: {several}.')
    close = difflib.get_close_matches(name, [path.stem for path in journals], n=1)
    raise ConfigError(
        f'There is no episode named {name[:80]!r}.'
        + (f' Did you mean {close[0]!r}?' if close else '')
        + f' The newest of {count_of(len(journals), "episode")} is {journals[-1].stem}; `bbllm '
        'show --list` prints all.'
    )
