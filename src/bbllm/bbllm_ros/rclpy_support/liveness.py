"""
Which nodes of a stack live: by their beats, and where those stop by their process.

Silence alone proves nothing on a busy machine: a process that is kept waiting sends no beats, and
one that is kept waiting itself receives none. So silence is counted in turns of the listener, not
by the clock, and where the silent one runs on this machine its process is checked. Needs no ROS.
"""

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bbllm.core.errors import DuplicateNodeError, LostNodeError
from bbllm_ros.rclpy_support.peer_process import PeerProcess, ProcessState

PERIOD_S = 0.5
"""Time between two beats of a node, and between two turns of a listener [s]."""
QUIET_S = 1.5
"""Silence after which the process is checked: three turns [s]."""
FAR_S = 5.0
"""Silence after which a node has gone whose process cannot be seen from here: ten turns [s]."""
HANGS_S = 8.0
"""Silence after which a node hangs whose process is there: sixteen turns [s]."""
LATELY_S = 10.0
AGAIN = 'Start the stack again.'
END_ASKED = 'it was asked to end'
"""The reason of a last beat that names no other cause."""
LEAVES = '!'
"""Begins the last beat of a node, in place of its process; the reason follows."""


@dataclass(slots=True)
class _Life:
    """One start of a node: its beats, counted in turns of the listener."""

    process: PeerProcess | None
    first_turn: int
    last_turn: int


@dataclass(slots=True)
class _Record:
    """What was heard of the nodes of one name."""

    lives: dict[str, _Life] = field(default_factory=dict)
    """By word, one entry for each start."""
    newest: str = ''
    """The life that beat last."""
    left: str = ''
    """Why it ends, if it has sent its last beat."""
    anew_s: float = -math.inf
    """When a life began that was not the first [s]."""

    @property
    def process(self) -> PeerProcess | None:
        return self.lives[self.newest].process

    @property
    def explains(self) -> bool:
        """Whether its last beat gives a cause that other nodes may have ended by, too."""
        return self.left not in ('', END_ASKED)

    def silence_s(self, turns: int) -> float:
        return (turns - self.lives[self.newest].last_turn) * PERIOD_S


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
        self._records: dict[str, _Record] = {}
        self._turns = 0
        self._turned_s = math.inf
        self._stood_still = (0.0, -math.inf)
        """How long there was no turn, and when that ended [s]."""
        self.take_waiting: Callable[[], object] = lambda: None
        """Takes in the beats that wait at the listener."""
        self._hurried = False
        self._deaf_s = 0.0
        self._checked_s = math.inf

    def receive(self, beat: str) -> None:
        """Take in a beat: name of a node, word of its life, its process or why it ends."""
        name, _, rest = beat.partition(' ')
        word, _, process = rest.partition(' ')
        with self._lock:
            record = self._records.get(name, _Record())
            life = record.lives.get(word)
            if process.startswith(LEAVES):
                if life and life.last_turn == record.lives[record.newest].last_turn:
                    record.left = process.removeprefix(LEAVES)
                return
            if record.left and word == record.newest:
                return  # a beat that was being sent when the last one was
            if life is None:
                if record.lives:
                    record.anew_s = self._now_s()
                life = _Life(PeerProcess.parse(process), self._turns, self._turns)
            life.last_turn = self._turns
            record.lives[word] = life
            record.newest, record.left = word, ''
            self._records[name] = record

    def turn(self) -> None:
        """
        Count one more period in which no beat came, only after all that came were taken.

        A turn that comes late counts as one all the same: in between the listener did not run.
        """
        with self._lock:
            self._deaf_s = 0.0
            self._turns += 1
            now_s = self._now_s()
            if now_s - self._turned_s >= QUIET_S + PERIOD_S:
                self._stood_still = now_s - self._turned_s, now_s
            self._turned_s = now_s

    def stood_still_s(self) -> float:
        """Return how long this process got no turn, 0 where that was not lately [s]."""
        with self._lock:
            paused_s = self._now_s() - self._turned_s
            if paused_s >= QUIET_S + PERIOD_S:  # it goes on just now
                return paused_s
            paused_s, then_s = self._stood_still
            return paused_s if self._now_s() - then_s < LATELY_S else 0.0

    def alive(self, name: str) -> bool:
        self.take_waiting()
        with self._lock:
            record = self._records.get(name)
            return record is not None and record.silence_s(self._turns) < QUIET_S

    def others(self, name: str, own: Collection[str]) -> list[PeerProcess | None]:
        """
        Return the processes that beat under a name in other lives than *own*.

        They beat within `QUIET_S` and have not ended; None for each unknown process.
        """
        self.take_waiting()
        return [
            life.process
            for word, life in self._beating(name).items()
            if word not in own and not self._has_ended(life.process)
        ]

    def check_unique(self, names: Iterable[str]) -> None:
        """
        Raise DuplicateNodeError where two processes beat under one of these names.

        Both have to beat for longer than `QUIET_S`: the last beats of a process that was started
        anew are no second one.
        """
        for name in names:
            beating = self._beating(name, since_s=QUIET_S).values()
            if len(beating) > 1:
                numbers = ' and '.join(
                    f'process {life.process.number}' if life.process else 'an unknown process'
                    for life in beating
                )
                raise DuplicateNodeError(
                    f'Two nodes are named {name} in this namespace ({numbers}), so nothing moves. '
                    'End one of the two stacks, or start it with another namespace.'
                )

    def _beating(self, name: str, since_s: float = -math.inf) -> dict[str, _Life]:
        """Return the lives of a name that beat within `QUIET_S`, and for longer than a time."""
        with self._lock:
            lives = self._records.get(name, _Record()).lives
            return {
                word: life
                for word, life in lives.items()
                if (self._turns - life.last_turn) * PERIOD_S < QUIET_S
                and (self._turns - life.first_turn) * PERIOD_S > since_s
            }

    def check_serving(self, names: Iterable[str]) -> None:
        """
        Raise LostNodeError where the last process that beat serves no more.

        Unlike `check` without silence: a node that is being started again counts as lost until its
        first beat.
        """
        names = tuple(names)
        self.check(names)
        self._judge_all(names, self._check_serving)

    def has_ended(self, name: str) -> bool:
        return any(self._has_ended(record.process) for _, _, record in self._known([name]))

    def hurry(self) -> None:
        """Check for processes that have ended at once from now on, before `QUIET_S` is over."""
        self._hurried = True

    def check(self, names: Iterable[str], since_s: float = math.inf) -> None:
        """
        Raise LostNodeError for the first node that has gone, or began anew since a time [s].

        Nodes that never beat count as present: whatever needs them reports what is missing.
        """
        self._notice_deafness()
        self._judge_all(tuple(names), partial(self._check, since_s=since_s))

    def _judge_all(self, names: Sequence[str], check: Callable[[Sequence[str]], None]) -> None:
        """
        Check nodes; what a process sent before it ended is taken in before it counts as lost.

        Its last beat may have been received by DDS, and acknowledged, between two turns.
        """
        try:
            check(names)
        except LostNodeError:
            self.take_waiting()
            check(names)

    def _check_serving(self, names: Sequence[str]) -> None:
        for name, _, record in self._known(names):
            if record.left:
                raise LostNodeError(_left(name, record))
            if self._has_ended(record.process):
                raise LostNodeError(_ended(name, record.process))

    def _check(self, names: Sequence[str], since_s: float) -> None:
        known = self._known(names)
        explained = any(record.explains for _, _, record in known)
        # A node that gave the reason first; else the longest silence: where one node takes others
        # along, it is the one to name.
        for name, silence_s, record in sorted(known, key=_by_what_it_explains):
            if record.anew_s > since_s:
                raise LostNodeError(
                    f'The node {name} has gone and was started anew: what it was about is lost.'
                )
            if record.left and silence_s >= QUIET_S:
                raise LostNodeError(_left(name, record))
            if silence_s >= QUIET_S:
                self._judge(name, silence_s, record.process)
            elif (
                self._hurried
                and not (record.left or explained)
                and self._has_ended(record.process)
            ):
                raise LostNodeError(_ended(name, record.process))

    def _known(self, names: Iterable[str]) -> list[tuple[str, float, _Record]]:
        """Return names that ever beat, with their silence [s] and a copy of their record."""
        with self._lock:
            return [
                (name, record.silence_s(self._turns), replace(record, lives=dict(record.lives)))
                for name in names
                if (record := self._records.get(name)) is not None
            ]

    def _judge(self, name: str, silence_s: float, process: PeerProcess | None) -> None:
        state = ProcessState.UNKNOWN if process is None else self._state_of(process)
        number = '' if process is None else f'{process.number}'
        silent = f'it has been silent for {silence_s:.1f} s'
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
        with self._lock:
            now_s = self._now_s()
            self._deaf_s += min(max(now_s - self._checked_s, 0.0), PERIOD_S)
            self._checked_s = now_s
            deaf = self._deaf_s >= HANGS_S
        if deaf:
            raise LostNodeError(
                'This process receives no heartbeat of another node any more: the thread that '
                'listens has ended or is kept busy. Start it again.'
            )


def _by_what_it_explains(item: tuple[str, float, _Record]) -> tuple[bool, float]:
    _, silence_s, record = item
    return not record.explains, -silence_s


def _left(name: str, record: _Record) -> str:
    # The planner gives another node that has gone as its reason: then that is the news.
    of_another = record.left.startswith('The node ')
    return f'{record.left if of_another else f"The node {name} has gone: {record.left}"}. {AGAIN}'


def _ended(name: str, process: PeerProcess | None) -> str:
    number = '' if process is None else f' {process.number}'
    return (
        f'The node {name} has gone: its process{number} has ended without a last '
        f'message, so it was killed or crashed. {AGAIN}'
    )
