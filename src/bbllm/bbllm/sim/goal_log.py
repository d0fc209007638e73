"""The log of goals: every goal of arm and hand that arrived, also the refused ones."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bbllm.arm.driver import RobotMode

KEPT = 10_000
"""How many goals are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSeen:
    """One goal that arrived."""

    kind: str
    """The driver's name of the action or topic, for example follow_joint_trajectory or grasp."""
    stamp_s: float
    """When, on the robot's clock [s]."""
    mode: RobotMode
    """The robot's mode at that moment."""
    accepted: bool
    """Whether it was taken; what became of it then is another question."""
    reason: str = ''
    """Why it was refused."""
    joints: tuple[str, ...] = ()
    """Those that it moves, as it names them."""
    start_s: float | None = None
    """When a trajectory asks to begin, on the robot's clock; None for at once [s]."""
    lasts_s: float = 0.0
    """From the start of a trajectory to its last point; 0 for other goals [s]."""


class GoalLog:
    """The newest goals, oldest first; may be read while goals arrive."""

    def __init__(self, on_goal: Callable[[GoalSeen], None] | None = None) -> None:
        """Start empty; on_goal is told of every goal, by whoever sends it."""
        self._goals: deque[GoalSeen] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._on_goal = on_goal

    def add(self, goal: GoalSeen) -> None:
        """Keep a goal, and tell of it."""
        with self._lock:
            self._goals.append(goal)
        if self._on_goal is not None:
            self._on_goal(goal)

    def __iter__(self) -> Iterator[GoalSeen]:
        with self._lock:
            return iter(tuple(self._goals))

    def __len__(self) -> int:
        return len(self._goals)
