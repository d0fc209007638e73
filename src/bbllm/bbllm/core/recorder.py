"""Records the events of one episode and passes each to the sinks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.core.errors import BbllmError
from bbllm.core.events import Event, EventData, PlanMade, RepairBegun, StepFailed
from bbllm.core.protocols import EventSink


class EventRecorder:
    """
    Stamps events, keeps them and passes them to the sinks; usable from any thread.

    It also counts plans and feedback loops, and keeps the failed steps of the plan in force.
    """

    def __init__(self, sinks: Sequence[EventSink], clock: Callable[[], float]):
        self.events: list[Event] = []
        self.failed: dict[int, str] = {}
        """Cause of each step of the plan in force that stays failed, by its index."""
        self.broken: BbllmError | None = None
        """What a sink raised; it receives no more events."""
        self._sinks = list(sinks)
        self._clock = clock
        self._lock = threading.RLock()

    def emit(self, data: EventData) -> None:
        """Add an event to the record and pass it to every sink."""
        with self._lock:
            match data:
                case PlanMade():
                    self.failed = {i: why for i, why in self.failed.items() if i < data.start}
                    data = replace(data, revision=self._count(PlanMade))
                case RepairBegun():
                    data = replace(data, loop=1 + self._count(RepairBegun))
                case StepFailed():
                    self.failed[data.index] = data.cause
            event = Event(self._clock(), data)
            self.events.append(event)
            for sink in tuple(self._sinks):
                try:
                    sink(event)
                except BbllmError as error:
                    # The other sinks still receive the rest; `check` of the episode ends it.
                    self._sinks.remove(sink)
                    self.broken = error

    def _count(self, kind: type[EventData]) -> int:
        return sum(isinstance(event.data, kind) for event in self.events)
