"""
An episode's journal: one JSON object a line, flushed as it happens, read back by `bbllm show`.

Every line is {"kind", "stamp_s", "data"}. The keys of `data`, by kind:

    started         episode_id, task, planner, brain, body, version, limits
    scene           moment ('before' or 'after'), scene
    plan            steps (texts), start (first new step), revision (how many were before it)
    step            index, text
    call            skill, args
    pass            index, text
    grounded        word (the model's), name (of the thing), policy, among (how many it could be)
    checked         condition (as the plan has it), holds, by ('model' or 'graph')
    sub_goal        index, of (how many there are), text
    estimated       attributes (of each thing, by name), summary
    discarded       text (the line), why, refused (it can be read; else it fits no grammar); code
                    (of its call, where it is an action), rules (that it breaks)
    outcome         an Outcome
    sensed          what core.observed.Observed holds
    repair          index, text, cause, loop; code, as with failed
    failed          index, text, cause; code (of a call that the world never heard of)
    model_text      role, text
    model_call      a ModelCall
    human_feedback  text
    approval        what ('plan', 'call' or 'resume'), hash, title, granted, reason, by, automatic,
                    text
    warning         text
    ended           ending, message, error (type of the error that ended it, '' where none did)
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.events import Ending, Episode, Event, EventKind, ModelCall, passed_steps
from bbllm.core.journal_lines import UnknownKindError, read_line
from bbllm.core.printable import json_text
from bbllm.core.records import from_json, to_json
from bbllm.core.types import Outcome, Task

UNKNOWN = '(not readable)'
"""Stands for what the first line of a damaged journal would say."""
FAULT_CHARACTERS = 300
"""How much is said of what is wrong with a line [characters]."""


class JournalWriter:
    """Writes the events of one episode to `<folder>/<episode_id>.jsonl` as they come."""

    def __init__(self, folder: Path, episode_id: str):
        self.path = folder / f'{episode_id}.jsonl'
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
        """
        Append one event; what was written survives a crash of this process.

        Raises:
            ConfigError: The file can no longer be written, for example because the disk is full.
        """
        try:
            self._file.write(json_text(to_json(event)) + '\n')
            self._file.flush()
        except OSError as error:
            self.broken = f'The journal {self.path} breaks off: {error.strerror}.'
            raise ConfigError(
                f'The journal {self.path} can no longer be written ({error.strerror}), so the '
                'episode was ended. Make room there, or set XDG_STATE_HOME to another folder.'
            ) from error

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # what could not be written has been said already
            self._file.close()


def end_journal(path: Path, ending: Ending, message: str) -> bool:
    """
    Add the end to a journal that breaks off because its writer has died.

    Args:
        path: The journal.
        ending: How the episode ended, as its client saw it.
        message: Why.

    Returns:
        Whether it was added: not where the journal has an end, is not here, or cannot be written.
    """
    with suppress(OSError, ConfigError):
        events = read_events(path)
        if events and events[-1].kind is not EventKind.ENDED:
            data = {'ending': ending, 'message': message, 'error': 'LostNodeError'}
            line = json.dumps(to_json(Event(EventKind.ENDED, time.time(), to_json(data))))
            with path.open('r+b') as file:
                # A last line that was cut by the death of its writer stands for nothing.
                file.truncate(file.read().rfind(b'\n') + 1)
                file.seek(0, os.SEEK_END)
                file.write(f'{line}\n'.encode())
            return True
    return False


def read_events(path: Path) -> tuple[Event, ...]:
    """
    Read a journal; a last line that was cut by a crash is left out.

    Raises:
        ConfigError: The file is no journal; names the line.
    """
    events = []
    for number, event in _parsed(path):
        if isinstance(event, ValueError):
            raise ConfigError(f'{path}, line {number} is no journal line: {event}')
        events.append(event)
    return tuple(events)


def read_episode(path: Path) -> Episode:
    """
    Read a journal as one record; `ending` is None where it breaks off.

    Raises:
        ConfigError: It cannot be read, or a line of it is no event; names the line.
    """
    events = read_events(path)
    if not events or events[0].kind is not EventKind.STARTED:
        raise ConfigError(f'{path} is no journal of an episode: it has no line of kind "started".')
    return episode_of(events)


def read_damaged(path: Path) -> tuple[Episode, tuple[str, ...]]:
    """
    Read what can be read of a journal, and return also what is wrong with it, line by line.

    An event of a kind that a later version may have written becomes a warning that quotes it.

    Raises:
        ConfigError: The file cannot be read, or no line of it is an event.
    """
    events, faults = list[Event](), list[str]()
    for number, event in _parsed(path):
        if isinstance(event, UnknownKindError):
            events.append(event.event)
        elif isinstance(event, ValueError):
            faults.append(f'Line {number} cannot be read: {_cut(str(event))}')
        else:
            events.append(event)
    if not events:
        why = f' {faults[0]}' if faults else ' It is empty.'
        raise ConfigError(f'{path} is no journal of an episode.{why}')
    if events[0].kind is not EventKind.STARTED:
        faults.insert(0, 'The first line is no event of kind "started", so the task is not known.')
        unknown = dict.fromkeys(('task', 'planner', 'brain', 'body'), UNKNOWN)
        start = {'episode_id': path.stem, **unknown}
        events.insert(0, Event(EventKind.STARTED, events[0].stamp_s, start))
    return episode_of(events), tuple(faults)


def _parsed(path: Path) -> Iterator[tuple[int, Event | ValueError]]:
    """Yield each line by its number as an event, or why it is none; leave out a cut last one."""
    try:
        text = path.read_text(encoding='utf-8', errors='replace')
    except OSError as error:
        raise ConfigError(f'{path} cannot be read ({error.strerror}).') from error
    # Not splitlines(): what people and models say may hold U+2028, which it takes for a line end.
    lines = text.removesuffix('\n').split('\n')
    for number, line in enumerate(lines, start=1):
        try:
            yield number, read_line(line)
        except json.JSONDecodeError as error:
            if number < len(lines):
                yield number, error
        except ValueError as error:
            yield number, error


def _cut(text: str) -> str:
    return text if len(text) <= FAULT_CHARACTERS else f'{text[:FAULT_CHARACTERS]} ...'


def episode_of(events: Iterable[Event]) -> Episode:
    """Sum up the events of one episode, of which the first is `started`."""
    events = tuple(events)
    start: Mapping[str, Any] = events[0].data
    outcomes = [from_json(Outcome, e.data) for e in events if e.kind is EventKind.OUTCOME]
    calls = [from_json(ModelCall, e.data) for e in events if e.kind is EventKind.MODEL_CALL]
    last = events[-1]
    end: Mapping[str, Any] = last.data if last.kind is EventKind.ENDED else {}
    return Episode(
        id=start['episode_id'],
        task=Task(start['episode_id'], start['task']),
        planner=start['planner'],
        brain=start['brain'],
        body=start['body'],
        ending=Ending.__members__.get(str(end.get('ending'))),
        message=end.get(
            'message', 'The journal breaks off: the episode runs, or its process died.'
        ),
        events=events,
        feedback_loops=sum(e.kind is EventKind.REPAIR for e in events),
        steps=len(outcomes),
        passed_steps=len(passed_steps(events)),
        model_calls=tuple(calls),
        wall_s=last.stamp_s - events[0].stamp_s,
        robot_s=sum(outcome.duration_s for outcome in outcomes),
    )


def ending_name(episode: Episode) -> str:
    """Return how an episode ended, in a word that a later version may have written."""
    if episode.ending is not None:
        return episode.ending.name
    last = episode.events[-1]
    return str(last.data['ending']) if last.kind is EventKind.ENDED else 'INTERRUPTED'


def summarize(episode: Episode) -> dict[str, Any]:
    """Return what `bbllm show --json` prints: plain values, one object."""
    calls = episode.model_calls
    return {
        'episode_id': episode.id,
        'task': episode.task.instruction,
        'planner': episode.planner,
        'brain': episode.brain,
        'body': episode.body,
        'ending': ending_name(episode),
        'message': episode.message,
        'feedback_loops': episode.feedback_loops,
        'steps': episode.steps,
        'passed_steps': episode.passed_steps,
        'model_calls': len(calls),
        'prompt_tokens': sum(call.prompt_tokens for call in calls),
        'completion_tokens': sum(call.completion_tokens for call in calls),
        'model_s': round(sum(call.duration_s for call in calls), 3),
        'wall_s': round(episode.wall_s, 3),
        'robot_s': round(episode.robot_s, 3),
    }


def list_journals(folder: Path) -> list[Path]:
    """Return all journals of a folder, oldest first."""
    return sorted(folder.glob('*.jsonl'), key=lambda path: path.stat().st_mtime_ns)


def find_journal(folder: Path, name: str | None = None) -> Path:
    """
    Return the journal of an episode: the newest one, or the one whose id begins with *name*.

    Raises:
        ConfigError: No episode was recorded yet, or the beginning fits several.
        UnknownNameError: No episode has that id.
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
    raise UnknownNameError('episode', name, [path.stem for path in journals[-20:]])
