"""Looks after a goal on its way: that it ends, and that whoever carries it out is there."""

from __future__ import annotations

import time
from collections.abc import Callable

from bbllm.ros.driver.joint_feed import JointFeed
from bbllm.ros.rclpy_support.action_call import ActionCall

CANCEL_S = 3.0
"""How long a goal may take to end after it was cancelled, and one of the arm that ran when the
robot stopped, wall clock [s]."""


class GoalWatch:
    """Cancels a goal that takes too long, and leaves it when that is in vain."""

    def __init__(
        self,
        feed: JointFeed,
        action: ActionCall,
        limit_s: float,
        clock: Callable[[], float],
        *,
        may_cut: Callable[[], bool] | None = None,
    ) -> None:
        """
        Begin to count.

        Args:
            feed: Tells whether the driver lives and the robot is stopped.
            action: Whose goal it is.
            limit_s: When it is cancelled, by *clock* [s].
            clock: What counts its time; stands still while the robot is stopped, for the arm.
            may_cut: For a goal of the hand, which a stop of the robot does not end: tells whether
                it may be cancelled then. None for one of the arm, which ends by itself.
        """
        self.late = False
        """Whether it was cancelled because of its time."""
        self._feed, self._action, self._limit_s, self._clock = feed, action, limit_s, clock
        self._may_cut = may_cut
        self._begun_s = clock()
        self._leave_s = float('inf')

    def __call__(self) -> None:
        """Look once; raises TimeoutError where the goal does not even end when cancelled."""
        self._feed.check()
        now_s = time.monotonic()
        if not self.late and self._clock() - self._begun_s > self._limit_s:
            self.late, self._leave_s = True, now_s + CANCEL_S
            self._action.cancel()
        elif self._feed.stopped and self._leave_s == float('inf'):
            if self._may_cut is None:
                self._leave_s = now_s + CANCEL_S  # it ends, and its clock stands meanwhile
            elif self._may_cut():
                self._leave_s = now_s + CANCEL_S
                self._action.cancel()
        if now_s > self._leave_s:
            raise TimeoutError
