"""
Which nodes of a stack live: by their beats, and where those stop by their process.

Silence alone proves nothing on a busy machine: a process that is kept waiting sends no beats, and
one that is kept waiting itself receives none. So silence is counted in turns of the listener, not
by the clock, and where the silent one runs on this machine its process is checked. Needs no ROS.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from bbllm.core.errors import DuplicateNodeError, LostNodeError
from bbllm.ros.rclpy_support.peer_process import PeerProcess, ProcessState

PERIOD_S = 0.5
"""Time between two beats of a node, and between two turns of a listener [s]."""
QUIET_S = 1.5
"""Silence after which the process is checked: three turns [s]."""
FAR_S = 5.0
"""Silence after which a node has gone whose process cannot be seen from here: ten turns [s]."""
HANGS_S = 8.0
"""Silence after which a node hangs whose process is there: sixteen turns [s]."""
AGAIN = 'Start the stack again.'
LEAVES = '!'
"""Begins the last beat of a node, in place of its process; the reason follows."""


@dataclass(slots=True)
class _Life:
    """One start of a node: its beats, counted in turns of the listener."""

    process: PeerProcess | None
    first_turn: int
    last_turn: int


class Liveness:
    """Keeps which nodes beat, and how long ago by its turns; any thread may use it."""

    def __init__(
        self,
        now_s: Callable[[], float] = time.monotonic,
        state_of: Callable[[PeerProcess], ProcessState] = PeerProcess.state,
    ):
        self._now_s = now_s
        self._state_of = state_of
        self._lock = threading.Lock()
        self._silence_s: dict[str, float] = {}
        self._processes: dict[str, PeerProcess | None] = {}
        self._lives: dict[str, dict[str, _Life]] = {}
        self._left: dict[str, str] = {}
        self._turns = 0
        self.take_waiting: Callable[[], object] = lambda: None
        """Takes in the beats that wait at the listener."""
        self._hurried = False
        self._anew_s: dict[str, float] = {}
        self._deaf_s = 0.0
        self._checked_s = float('inf')

    def hear(self, beat: str) -> None:
        """Take in a beat: name of a node, word of its life, its process or why it ends."""
        name, _, rest = beat.partition(' ')
        word, _, process = rest.partition(' ')
        with self._lock:
            lives = self._lives.setdefault(name, {})
            if process.startswith(LEAVES):
                if word in lives and lives[word].last_turn == max(
                    x.last_turn for x in lives.values()
                ):
                    self._left[name] = process.removeprefix(LEAVES)
                return
            peer = PeerProcess.parse(process)
            if word in lives:
                lives[word].last_turn = self._turns
            else:
                if lives:
                    self._anew_s[name] = self._now_s()
                lives[word] = _Life(peer, self._turns, self._turns)
            self._left.pop(name, None)
            self._silence_s[name] = 0.0
            self._processes[name] = peer

    def turn(self) -> None:
        """
        Count one more period in which no beat came, only after all that came were taken.

        A turn that comes late counts as one all the same: in between the listener did not run.
        """
        with self._lock:
            self._deaf_s = 0.0
            self._turns += 1
            for name in self._silence_s:
                self._silence_s[name] += PERIOD_S

    def alive(self, name: str) -> bool:
        with self._lock:
            return self._silence_s.get(name, QUIET_S) < QUIET_S

    def others(self, name: str, own: Collection[str]) -> list[PeerProcess | None]:
        """
        Return the processes that beat under a name in other lives than *own*.

        They beat within `QUIET_S` and have not ended; None for each unknown process.
        """
        with self._lock:
            lives = dict(self._lives.get(name, {}))
            turns = self._turns
        return [
            life.process
            for word, life in lives.items()
            if word not in own
            and (turns - life.last_turn) * PERIOD_S < QUIET_S
            and (life.process is None or self._state_of(life.process) is not ProcessState.GONE)
        ]

    def check_unique(self, names: Iterable[str]) -> None:
        """
        Raise DuplicateNodeError where two processes beat under one of these names.

        Both have to beat for longer than `QUIET_S`: the last beats of a process that was started
        anew are no second one.
        """
        with self._lock:
            turns = self._turns
            known = {name: list(self._lives.get(name, {}).values()) for name in names}
        for name, lives in known.items():
            beating = [
                life
                for life in lives
                if (turns - life.last_turn) * PERIOD_S < QUIET_S
                and (turns - life.first_turn) * PERIOD_S > QUIET_S
            ]
            if len(beating) > 1:
                numbers = ' and '.join(
                    f'process {life.process.number}' if life.process else 'an unknown process'
                    for life in beating
                )
                raise DuplicateNodeError(
                    f'Two nodes are named {name} in this namespace ({numbers}), so nothing moves. '
                    'End one of the two stacks, or start it with another namespace.'
                )

    def check_serving(self, names: Iterable[str]) -> None:
        """
        Raise LostNodeError where the last process that beat serves no more.

        Unlike `check` without silence: a node that is being started again counts as lost until its
        first beat.
        """
        self.check(names)
        with self._lock:
            known = {name: self._processes[name] for name in names if name in self._processes}
            left = dict(self._left)
        for name, process in known.items():
            if name in left:
                raise LostNodeError(f'The node {name} has gone: {left[name]}. {AGAIN}')
            if self._has_ended(process):
                raise LostNodeError(_ended(name, process))

    def has_ended(self, name: str) -> bool:
        with self._lock:
            process = self._processes.get(name)
        return self._has_ended(process)

    def hurry(self) -> None:
        """Check for processes that have ended at once from now on, before `QUIET_S` is over."""
        with self._lock:
            self._hurried = True

    def check(self, names: Iterable[str], since_s: float = float('inf')) -> None:
        """
        Raise LostNodeError for the first node that has gone, or began anew since a time [s].

        Nodes that never beat count as present: whatever needs them reports what is missing.
        """
        if self._hurried:
            self.take_waiting()  # the last beat of a process that has ended
        with self._lock:
            self._notice_deafness()
            known = {
                name: (self._silence_s[name], self._processes[name])
                for name in names
                if name in self._silence_s
            }
            anew = {name for name in known if self._anew_s.get(name, float('-inf')) > since_s}
            left = dict(self._left)
        # The longest silence first: where one node takes others along, it is the one to name.
        silent_first = sorted(known.items(), key=lambda item: -item[1][0])
        for name, (silence_s, process) in silent_first:
            if name in anew:
                raise LostNodeError(
                    f'The node {name} has gone and was started anew: what it was about is lost.'
                )
            if name in left and silence_s >= QUIET_S:
                raise LostNodeError(f'The node {name} has gone: {left[name]}. {AGAIN}')
            if silence_s >= QUIET_S:
                self._judge(name, silence_s, process)
            elif self._hurried and name not in left and self._has_ended(process):
                raise LostNodeError(_ended(name, process))

    def _judge(self, name: str, silence_s: float, process: PeerProcess | None) -> None:
        state = ProcessState.UNKNOWN if process is None else self._state_of(process)
        number = '' if process is None else f'{process.number}'
        silent = f'nothing was heard of it for {silence_s:.1f} s'
        if state is ProcessState.GONE:
            raise LostNodeError(_ended(name, process))
        if state is ProcessState.STOPPED:
            raise LostNodeError(
                f'The node {name} has gone: its process {number} is stopped. Let it go on with '
                f'kill -CONT {number}, or start the stack again.'
            )
        if state is ProcessState.UNKNOWN and silence_s >= FAR_S:
            raise LostNodeError(f'The node {name} has gone: {silent}. {AGAIN}')
        if silence_s >= HANGS_S:
            raise LostNodeError(
                f'The node {name} has gone: its process {number} lives but hangs, as {silent}. '
                f'{AGAIN}'
            )

    def _has_ended(self, process: PeerProcess | None) -> bool:
        return process is not None and self._state_of(process) is ProcessState.GONE

    def _notice_deafness(self) -> None:
        """
        Raise LostNodeError where turns have ended, so that no silence would be noticed.

        Counted by checks no further apart than a period: a process that was kept waiting as a
        whole is not deaf.
        """
        now_s = self._now_s()
        self._deaf_s += min(max(now_s - self._checked_s, 0.0), PERIOD_S)
        self._checked_s = now_s
        if self._deaf_s >= HANGS_S:
            raise LostNodeError(
                'This process hears no other node any more: the thread that listens has ended or '
                'is kept busy. Start it again.'
            )


def _ended(name: str, process: PeerProcess | None) -> str:
    number = '' if process is None else f' {process.number}'
    return (
        f'The node {name} has gone: its process{number} has ended without a last '
        f'message, so it was killed or crashed. {AGAIN}'
    )
