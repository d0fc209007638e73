"""What the page shows: the state of a robot and the events of one episode, for all browsers."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bbllm.core.approval import ApprovalRequest
from bbllm.core.events import (
    EpisodeEnded,
    EpisodeStarted,
    Event,
    SceneRecorded,
    describe,
)
from bbllm.core.observation import Observed
from bbllm.core.progress import Progress, StepRow, StepState
from bbllm.core.records import to_json
from bbllm.core.text import escape_hidden, escape_texts, json_text
from bbllm.core.types import Scene

EVENTS_AT_ONCE = 400
"""How many events one message has at most, so that a long episode appears piece by piece."""


@dataclass(slots=True)
class Cursor:
    """What one browser has received."""

    version: int = 0
    episode: int = -1
    events: int = 0
    n_rows: int = 0


class Feed:
    """
    Keeps what is shown now, and gives each browser what it has not received; for all threads.

    Values replace each other by name; the events and the steps are those of the newest episode.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = 0
        self._values: dict[str, tuple[int, str]] = {}
        self._progress = Progress()
        self._row_keys: list[tuple[object, ...]] = []
        self._rows: list[tuple[int, str]] = []
        self._is_row_due = False
        self._events: list[str] = []
        self._episode = 0
        self._episode_id = ''
        self._is_running = False
        self._n_browsers = 0
        self.closed = False

    @property
    def episode_id(self) -> str:
        """Id of the newest episode; '' before the first."""
        return self._episode_id

    @property
    def running(self) -> bool:
        """Whether the newest episode has not ended."""
        return self._is_running

    @property
    def watched(self) -> bool:
        """Whether any browser is connected."""
        return self._n_browsers > 0

    @contextmanager
    def browser(self) -> Iterator[Cursor]:
        """Count a browser, and yield where it begins."""
        with self._lock:
            self._n_browsers += 1
        try:
            yield Cursor()
        finally:
            with self._lock:
                self._n_browsers -= 1

    def set(self, name: str, value: object) -> None:
        """Show a JSON value, with what is not visible in its texts escaped."""
        text = json_text(_visible(value))
        with self._lock:
            old = self._values.get(name)
            if old is None or old[1] != text:
                self._values[name] = (self._next(), text)

    def close(self, text: str) -> None:
        """Show why the page ends, and end all streams."""
        self.set('end', text)
        self.closed = True

    def take(self, event: Event) -> None:
        """Show an event; the first of an episode replaces the episode before."""
        with self._lock:
            if isinstance(event.data, EpisodeStarted):
                self._progress, self._events = Progress(), []
                self._row_keys, self._rows = [], []
                self._episode += 1
                self._episode_id, self._is_running = event.data.episode_id, True
            elif isinstance(event.data, EpisodeEnded):
                self._is_running = False
            self._progress.take(event)
            self._is_row_due = True
            if not isinstance(event.data, Observed):  # the scene shows what was sensed
                self._events.append(self._text_of(event))
            self._next()
        if isinstance(event.data, SceneRecorded):
            self.show_scene(event.data.scene)

    def show_scene(self, scene: Scene) -> None:
        """Show objects and facts."""
        self.set(
            'scene',
            {
                'objects': [
                    {
                        'name': item.name,
                        'kind': item.kind.value,
                        'color': item.color,
                        'position_m': [round(float(x), 3) for x in item.pose.position_m],
                    }
                    for item in scene.objects
                ],
                'facts': [[fact.subject, fact.predicate, fact.object] for fact in scene.facts],
                'held': scene.held,
            },
        )

    def show_request(self, request: ApprovalRequest | None) -> None:
        """Show what waits for a person's answer, or that nothing does."""
        self.set('request', None if request is None else to_json(request))

    def news(self, cursor: Cursor) -> str:
        """Return what a browser has not received as JSON, and note it; '' for nothing."""
        with self._lock:
            is_new = cursor.episode != self._episode
            is_known = cursor.version == self._version and cursor.events == len(self._events)
            if is_known and not is_new:
                return ''
            self._update_rows()
            since = cursor.version
            parts = ['"reset":true'] if is_new else []
            if is_new:
                cursor.events, cursor.n_rows = 0, 0
            values = [
                f'{json_text(name)}:{text}'
                for name, (version, text) in self._values.items()
                if version > since
            ]
            values += [f'"activity":{json_text(self._progress.activity)}']
            values += [f'"running":{"true" if self._is_running else "false"}']
            parts += [f'"values":{{{",".join(values)}}}']
            rows = [
                f'[{place},{text}]'
                for place, (version, text) in enumerate(self._rows)
                if version > since or is_new
            ]
            parts += [f'"rows":[{",".join(rows)}]', f'"n_rows":{len(self._rows)}']
            end = cursor.events + EVENTS_AT_ONCE
            parts += [f'"events":[{",".join(self._events[cursor.events : end])}]']
            cursor.version, cursor.episode = self._version, self._episode
            cursor.events = min(end, len(self._events))
            cursor.n_rows = len(self._rows)
            return f'{{{",".join(parts)}}}'

    def _next(self) -> int:
        self._version += 1
        return self._version

    def _update_rows(self) -> None:
        """Write the rows that have changed anew."""
        if not self._is_row_due:
            return
        self._is_row_due = False
        rows = self._progress.rows
        del self._rows[len(rows) :], self._row_keys[len(rows) :]
        for place, row in enumerate(rows):
            key = (row.index, row.text, row.state, row.call, row.note, row.robot_s)
            if place == len(self._rows):
                self._rows.append((self._version, _row_text(row)))
                self._row_keys.append(key)
            elif self._row_keys[place] != key:
                self._rows[place] = (self._version, _row_text(row))
                self._row_keys[place] = key

    def _text_of(self, event: Event) -> str:
        """Return an event as the page receives it: that of the journal, and the same in words."""
        rows = enumerate(self._progress.rows)
        row = next((place for place, row in rows if row.state is StepState.RUNNING), -1)
        data = {} if isinstance(event.data, SceneRecorded) else to_json(event.data)
        return json_text(
            {
                'kind': event.kind.value,
                'stamp_s': event.stamp_s,
                'row': row,
                'lines': describe(escape_texts(event.data)),
                'data': _visible(data),
            }
        )


def _row_text(row: StepRow) -> str:
    return json_text(
        {
            'index': row.index,
            'text': row.text,
            'state': row.state.value,
            'call': row.call,
            'note': row.note,
            'robot_s': round(row.robot_s, 2),
        }
    )


def _visible(value: Any) -> Any:
    """Return JSON values with what is not visible in their texts escaped; line breaks stay."""
    if isinstance(value, str):
        return escape_hidden(value)
    if isinstance(value, Mapping):
        return {escape_hidden(str(key)): _visible(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(item) for item in value]
    return value
