"""Keeps the open state of a world over its episodes, in a thread of its own."""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable

from bbllm.core.errors import BbllmError
from bbllm.core.events import Event, EventKind
from bbllm.core.lost import lost_names
from bbllm.core.observed import Observed
from bbllm.core.records import from_json
from bbllm.core.types import Outcome, Scene
from bbllm.planners.estimating_world import estimate_handled
from bbllm.planners.experience import Experience
from bbllm.planners.open_facts import with_open_facts
from bbllm.planners.open_state import OpenState, StateEstimator

HEARD = frozenset({EventKind.OUTCOME, EventKind.SENSED})
"""Kinds of events that tell something of things."""
EVERYTHING = None
"""In place of what was lost: all is to be forgotten."""


class StateKeeper:
    """
    Hears what became of calls, and adds what an estimator makes of it to scenes.

    An estimator may take its time: whoever hears or asks meanwhile waits for nothing, and is told
    what was believed last. What was done to a thing is forgotten when that is lost.
    """

    def __init__(
        self,
        estimator: StateEstimator,
        experience: Experience,
        *,
        on_trouble: Callable[[str], None],
        on_fault: Callable[[str], None],
    ):
        """
        Make a keeper; it does nothing before `start`.

        Args:
            estimator: Asked in the keeper's thread.
            experience: Touched by the keeper's thread alone; an estimator may look into it.
            on_trouble: Told why what was believed stays as it was.
            on_fault: Told of a fault of the program, after which nothing is estimated any more.
        """
        self._estimator = estimator
        self._experience = experience
        self._on_trouble = on_trouble
        self._on_fault = on_fault
        self._news: queue.SimpleQueue[Event | frozenset[str] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._state = OpenState()
        self._forgotten = 0
        self._lost: frozenset[str] = frozenset()
        self._scene: Scene | None = None
        self._seen = threading.Event()

    def start(self) -> None:
        """Begin to estimate."""
        threading.Thread(target=self._run, name='open state', daemon=True).start()

    def hear(self, event: Event) -> None:
        """Take in an event of an episode."""
        if event.kind in HEARD:
            self._news.put(event)

    def believing(self, scene: Scene) -> Scene:
        """Return a scene with what is believed now."""
        lost = frozenset(lost_names(scene))
        with self._lock:
            gone, self._lost = lost - self._lost, lost
            self._scene = scene
            state = self._state
        if gone:
            self._news.put(gone)
        self._seen.set()
        return with_open_facts(scene, state)

    def forget(self) -> None:
        """Forget everything: for example because the table was laid anew."""
        with self._lock:
            self._state = OpenState()
            self._forgotten += 1
        self._news.put(EVERYTHING)

    def _run(self) -> None:
        try:
            while True:
                self._take(self._news.get())
                while not self._news.empty():
                    self._take(self._news.get())
                self._seen.wait()
                self._estimate()
        except Exception:  # whoever tells what is believed must not seem to do it still
            self._on_fault(f'fault in estimating the open state:\n{traceback.format_exc()}')

    def _take(self, news: Event | frozenset[str] | None) -> None:
        if news is EVERYTHING:
            self._experience.clear()
        elif isinstance(news, frozenset):
            self._experience.forget(news)
            with self._lock:
                kept = {n: w for n, w in self._state.attributes.items() if n not in news}
                self._state = OpenState(kept, self._state.summary)
        else:
            try:
                if news.kind is EventKind.OUTCOME:
                    self._experience.add(from_json(Outcome, news.data))
                else:
                    self._experience.sense(from_json(Observed, news.data))
            except ValueError as error:
                self._on_trouble(f'An event {news.kind.value} is left out: {error}')

    def _estimate(self) -> None:
        with self._lock:
            scene, state, forgotten = self._scene, self._state, self._forgotten
        assert scene is not None  # somebody has seen one
        try:
            new = estimate_handled(self._estimator, state, self._experience, scene)
        except BbllmError as error:
            self._on_trouble(f'What is believed stays as it was: {error}')
            return
        with self._lock:
            if forgotten == self._forgotten:
                self._state = new
