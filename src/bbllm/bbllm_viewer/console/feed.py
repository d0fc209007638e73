"""What the page shows: the state of a robot and the events of one episode, for all browsers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.core.events import EpisodeEnded, EpisodeStarted, Event
from bbllm.core.paths import episodes_dir
from bbllm.core.plan_change import marked_lines
from bbllm.core.records import to_json
from bbllm.core.text import json_text
from bbllm.core.types import Scene
from bbllm_viewer.replay.shown_episode import ShownEpisode, scene_value, visible

EVENTS_AT_ONCE = 400
"""How many events one message has at most, so that a long episode appears piece by piece."""
MOST_TURNS = 50
"""How many episodes before the newest are shown."""
MOST_ROWS = 200
"""How many steps of each of them."""


@dataclass(slots=True)
class Cursor:
    """What one browser has received."""

    version: int = 0
    episode: int = -1
    events: int = 0
    turn: int = 0
    """Number of the newest episode before."""


class Feed:
    """
    Keeps what is shown now, and gives each browser what it has not received; for all threads.

    Values replace each other by name; the events and the steps are those of the newest episode.
    Of those before, the conversation and the steps are kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = 0
        self._values: dict[str, tuple[int, str]] = {}
        self._shown = ShownEpisode()
        self._rows: list[tuple[int, str]] = []
        self._events: list[str] = []
        self._turns: list[tuple[int, str]] = []
        self._asked = self._plan = ApprovalRequest(kind=RequestKind.NOTHING, title='')
        self._lines: list[tuple[str, str]] = []
        self._episode = 0
        self._episode_id = ''
        self._is_running = False
        self._n_browsers = 0
        self.closed = False
        self.names: tuple[str, ...] = ()  # of the objects of the newest scene

    @property
    def episode_id(self) -> str:
        """Id of the newest episode; '' before the first."""
        return self._episode_id

    @property
    def running(self) -> bool:
        """Whether the newest episode has not ended."""
        return self._is_running

    @property
    def journal(self) -> Path:
        """Where the journal of the newest episode is, if it is on this machine."""
        return episodes_dir() / f'{self._episode_id}.jsonl'

    @property
    def n_browsers(self) -> int:
        """How many browsers are connected."""
        return self._n_browsers

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
        with self._lock:
            self._put(name, visible(value))

    def close(self, text: str) -> None:
        """Show why the page ends, and end all streams."""
        self.set('end', text)
        self.closed = True

    def take(self, event: Event) -> None:
        """Show an event; the first of an episode replaces the episode before."""
        with self._lock:
            if isinstance(event.data, EpisodeStarted):
                self._keep_turn()
                self._shown, self._events, self._rows = ShownEpisode(), [], []
                self._episode += 1
                self._episode_id, self._is_running = event.data.episode_id, True
            elif isinstance(event.data, EpisodeEnded):
                self._is_running = False
            change = self._shown.take(event)
            version = self._next()
            for name, value in change.values.items():
                self._put(name, value)
            del self._rows[change.n_rows :]
            for place, row in change.rows.items():
                self._rows[place : place + 1] = [(version, json_text(row))]
            if change.line is not None:
                self._events.append(json_text(change.line))

    def _keep_turn(self) -> None:
        """Keep the newest episode as one of those before."""
        if self._episode_id:
            values = [
                f'{json_text(name)}:{self._values[name][1]}'
                for name in ('episode', 'talk', 'goal', 'counts')
                if name in self._values
            ]
            rows = ','.join(text for _, text in self._rows[:MOST_ROWS])
            text = f'{{{",".join(values)},"rows":[{rows}]}}'
            self._turns = [*self._turns, (self._episode, text)][-MOST_TURNS:]

    def show_scene(self, scene: Scene) -> None:
        """Show objects and facts."""
        self.names = tuple(item.name for item in scene.objects)
        self.set('scene', scene_value(scene))

    def show_request(self, request: ApprovalRequest | None, doubt: str = '') -> None:
        """
        Show what waits for a person's answer, or that nothing does.

        A plan is shown as a difference to the one that was asked for before in its episode.
        *doubt* is why it may come from another program than the executor, if there is a reason.
        """
        if request is None:
            self.set('request', None)
            return
        if request.hash != self._asked.hash:
            self._lines = [*marked_lines(request, self._plan, self._shown.done_steps)]
            self._asked = request
            self._plan = request if request.steps else self._plan
        shown = {'hash': request.hash, 'lines': self._lines, 'doubt': doubt}
        self.set('request', {**to_json(request), **shown})

    @property
    def done_steps(self) -> frozenset[int]:
        """Indices of the steps of the plan in force that are done."""
        return self._shown.done_steps

    def news(self, cursor: Cursor) -> str:
        """Return what a browser has not received as JSON, and note it; '' for nothing."""
        with self._lock:
            is_new = cursor.episode != self._episode
            is_known = cursor.version == self._version and cursor.events == len(self._events)
            if is_known and not is_new:
                return ''
            since = cursor.version
            parts = ['"reset":true'] if is_new else []
            if is_new:
                cursor.events = 0
            values = [
                f'{json_text(name)}:{text}'
                for name, (version, text) in self._values.items()
                if version > since
            ]
            parts += [f'"values":{{{",".join(values)}}}']
            rows = [
                f'[{place},{text}]'
                for place, (version, text) in enumerate(self._rows)
                if version > since or is_new
            ]
            parts += [f'"rows":[{",".join(rows)}]', f'"n_rows":{len(self._rows)}']
            end = cursor.events + EVENTS_AT_ONCE
            parts += [f'"events":[{",".join(self._events[cursor.events : end])}]']
            turns = [text for number, text in self._turns if number > cursor.turn]
            parts += [f'"turns":[{",".join(turns)}]']
            cursor.turn = self._turns[-1][0] if self._turns else 0
            cursor.version, cursor.episode = self._version, self._episode
            cursor.events = min(end, len(self._events))
            return f'{{{",".join(parts)}}}'

    def _next(self) -> int:
        self._version += 1
        return self._version

    def _put(self, name: str, value: object) -> None:
        text = json_text(value)
        old = self._values.get(name)
        if old is None or old[1] != text:
            self._values[name] = (self._next(), text)
