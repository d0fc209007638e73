"""The vertical force at the hand: its newest readings and their subscribers."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bbllm.core.errors import BbllmError

MEAN_S = 0.02
"""Over how long the force is averaged; why so long: design/lift-off.md [s]."""
KEPT = 64
"""How many readings are kept: they come a hundred times a second, in physics two hundred."""


class SilentForceError(BbllmError):
    """The force was reported before, and is not now; the text names the source."""


class ForceEstimator:
    """The mean of the newest readings of the vertical force on the hand; thread-safe."""

    def __init__(self) -> None:
        self._readings: deque[tuple[float, float]] = deque(maxlen=KEPT)
        self._news = threading.Condition()
        self._listening = threading.Lock()
        self._listener: Callable[[], bool] | None = None

    @property
    def known(self) -> bool:
        return bool(self._readings)

    @contextmanager
    def watched_by(self, listener: Callable[[], bool]) -> Iterator[None]:
        """
        Call a listener after every reading meanwhile, until it returns True.

        The end waits for a call that is under way, in the thread that brings the readings.
        """
        with self._listening:
            self._listener = listener
        try:
            yield
        finally:
            with self._listening:
                self._listener = None

    def add(self, force_z_n: float, stamp_s: float) -> None:
        """
        Take in a reading of the force of the world on the hand along z of the base [N].

        What pulls the hand down, as a weight in it does, is negative. A *stamp_s* that goes back
        begins anew.
        """
        with self._news:
            if self._readings and stamp_s < self._readings[-1][0]:
                self._readings.clear()
            self._readings.append((stamp_s, force_z_n))
            self._news.notify_all()
        with self._listening:
            if self._listener is not None and self._listener():
                self._listener = None

    def mean_n(self, since_s: float = float('-inf')) -> float | None:
        """Return the mean over the last 20 ms, since a time [s]; None without any reading [N]."""
        with self._news:
            if not self._readings:
                return None
            begin_s = self._readings[-1][0] - MEAN_S
            recent = [n for at_s, n in self._readings if at_s > begin_s and at_s >= since_s]
        return sum(recent) / len(recent) if recent else None

    def wait_until(self, stamp_s: float, timeout_s: float) -> bool:
        """Wait for a reading of a time or later, on the wall clock; False where none came [s]."""
        with self._news:
            return self._news.wait_for(
                lambda: bool(self._readings) and self._readings[-1][0] >= stamp_s, timeout_s
            )
