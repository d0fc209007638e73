"""Goals of arm and hand that were sent, whose results come later."""

import threading
from typing import Generic, TypeVar

from bbllm.arm.driver import FollowResult, GripperResult

Result = TypeVar('Result')


class Pending(Generic[Result]):
    """A goal that was sent: its result is None until it has ended."""

    def __init__(self) -> None:
        self.result: Result | None = None
        self._ended = threading.Event()

    @property
    def done(self) -> bool:
        return self.result is not None

    def finish(self, result: Result) -> None:
        """End it, once; a second result is ignored."""
        if self.result is None:
            self.result = result
            self._ended.set()

    def wait(self, timeout_s: float) -> bool:
        """Wait, in a thread that does not advance the robot; True when it has ended."""
        return self._ended.wait(timeout_s)


TrajectoryPending = Pending[FollowResult]
GripperPending = Pending[GripperResult]
ABORTED_TEXT = 'libfranka gripper: Command aborted!'
"""What libfranka reports of a goal of the hand that another one or a stop has ended."""
