"""
Who of a stack lives: by what is heard of it, and where that stops by its process.

Silence alone proves nothing on a busy machine: a process that is kept waiting says nothing, and
one that is kept waiting itself hears nothing. So silence is counted in turns of the listener, not
by the clock, and where the silent one runs on this machine its process is looked for. Importing
this module needs no ROS.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from bbllm.core.errors import LostNodeError
from bbllm.nodes.peer_process import PeerProcess, ProcessState

PERIOD_S = 0.5
"""Time between two beats of a node, and between two turns of a listener [s]."""
QUIET_S = 1.5
"""Silence after which it is looked whether the process is still there: three turns [s]."""
FAR_S = 5.0
"""Silence after which a node has gone whose process cannot be seen from here: ten turns [s]."""
HANGS_S = 15.0
"""Silence after which a node hangs whose process is there: the listener was let run thirty times,
and the silent one not once [s]."""


class Liveness:
    """Keeps who was heard of, and how long ago by turns of its own; any thread may use it."""

    def __init__(
        self,
        now_s: Callable[[], float] = time.monotonic,
        look: Callable[[PeerProcess], ProcessState] = PeerProcess.state,
    ):
        """
        Begin with nobody.

        Args:
            now_s: The monotonic clock [s].
            look: Tells what has become of a process.
        """
        self._now_s = now_s
        self._look = look
        self._lock = threading.Lock()
        self._silence_s: dict[str, float] = {}
        self._processes: dict[str, PeerProcess | None] = {}
        self._lives: dict[str, set[str]] = {}
        self._anew_s: dict[str, float] = {}
        self._deaf_s = 0.0
        self._checked_s = float('inf')

    def hear(self, beat: str) -> None:
        """Take in what a node says of itself: its name, the word of its life, its process."""
        name, _, rest = beat.partition(' ')
        life, _, process = rest.partition(' ')
        with self._lock:
            lives = self._lives.setdefault(name, set())
            if lives and life not in lives:
                self._anew_s[name] = self._now_s()
            lives.add(life)
            self._silence_s[name] = 0.0
            self._processes[name] = PeerProcess.parse(process)

    def turn(self) -> None:
        """
        Count one more period in which nothing came; called where beats are heard, once in each.

        Only after all that came were heard: a beat that waits is not silence. A turn that comes
        late counts as one all the same: in between nobody listened here.
        """
        with self._lock:
            self._deaf_s = 0.0
            for name in self._silence_s:
                self._silence_s[name] += PERIOD_S

    def alive(self, name: str) -> bool:
        """Tell whether a node was heard of lately."""
        with self._lock:
            return self._silence_s.get(name, QUIET_S) < QUIET_S

    def check(self, names: Iterable[str], since_s: float = float('inf')) -> None:
        """
        Raise LostNodeError with the name of the first of these nodes that has gone.

        So has one that was heard to begin anew since a time on the monotonic clock [s]. Nodes
        that were never heard of are none of those: whoever needs them says what of theirs is
        missing.
        """
        with self._lock:
            self._notice_deafness()
            known = {
                name: (self._silence_s[name], self._processes[name])
                for name in names
                if name in self._silence_s
            }
            anew = {name for name in known if self._anew_s.get(name, float('-inf')) > since_s}
        for name, (silence_s, process) in known.items():
            if name in anew:
                raise LostNodeError(
                    f'The node {name} has gone and was started anew: what it was about is lost.'
                )
            if silence_s >= QUIET_S:
                self._judge(name, silence_s, process)

    def _judge(self, name: str, silence_s: float, process: PeerProcess | None) -> None:
        """Raise LostNodeError where one that is silent does nothing any more."""
        state = ProcessState.UNKNOWN if process is None else self._look(process)
        number = '' if process is None else f'{process.number}'
        silent = f'nothing was heard of it for {silence_s:.1f} s'
        again = 'Start the stack again.'
        if state is ProcessState.GONE:
            raise LostNodeError(
                f'The node {name} has gone: its process {number} has ended, and {silent}. {again}'
            )
        if state is ProcessState.STOPPED:
            raise LostNodeError(
                f'The node {name} has gone: its process {number} is stopped. Let it go on with '
                f'kill -CONT {number}, or start the stack again.'
            )
        if state is ProcessState.UNKNOWN and silence_s >= FAR_S:
            raise LostNodeError(f'The node {name} has gone: {silent}. {again}')
        if silence_s >= HANGS_S:
            raise LostNodeError(
                f'The node {name} has gone: its process {number} lives but hangs, as {silent}. '
                f'{again}'
            )

    def _notice_deafness(self) -> None:
        """
        Raise LostNodeError where turns have ended, so that nobody's silence would be noticed.

        Counted by looks that are no further apart than a period: a process that was kept waiting
        as a whole is not deaf.
        """
        now_s = self._now_s()
        self._deaf_s += min(max(now_s - self._checked_s, 0.0), PERIOD_S)
        self._checked_s = now_s
        if self._deaf_s >= HANGS_S:
            raise LostNodeError(
                'This process hears no other node any more: the thread that listens has ended or '
                'is kept busy. Start it again.'
            )
