"""Which episodes have ended, as the gate before the arm heard it."""

from __future__ import annotations

import threading
from collections import deque

KEPT = 1000
"""So many are remembered at most."""


class EndedEpisodes:
    """Ids of episodes that have ended, told and asked from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: deque[str] = deque(maxlen=KEPT)

    def begin(self, episode_id: str) -> None:
        """Learn that an episode has begun; one that had ended has begun anew."""
        with self._lock:
            if episode_id in self._ids:
                self._ids.remove(episode_id)

    def end(self, episode_id: str) -> None:
        """Learn that an episode has ended."""
        with self._lock:
            if episode_id not in self._ids:
                self._ids.append(episode_id)

    def __contains__(self, episode_id: str) -> bool:
        """Tell whether an episode has ended; one whose beginning was not heard has not."""
        with self._lock:
            return episode_id in self._ids
