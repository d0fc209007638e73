"""
The Franka Hand over libfranka, by franky: its goals can be stopped while they run.

pylibfranka keeps Python's lock until a goal of the hand has ended, so that nobody could stop it,
and the hand serves one connection. franky's calls release the lock.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from bbllm.arm.driver import GoalStatus, GraspGoal, GripperResult
from bbllm.robots.robot_model import HandModel
from bbllm_franka.address import is_here, resolved_address
from bbllm_franka.errors import ControlTakenError, LostRobotError, NoHandError, UnhomedError
from bbllm_franka.libraries import library
from bbllm_franka.reasons import version_error

CONNECT_S = 10.0
"""How long a connection may take [s]."""
GIVE_UP_S = 20.0
"""How long a goal of the hand may take on the robot's clock; homing takes about 5 s [s]."""
STOP_S = 3.0
"""How long a stopped goal may take to end, on the robot's clock [s]."""
POLL_S = 0.01
SETTLE_S = 0.1
"""How long a state that is newer than a goal's end is waited for [s]."""
SILENT_S = 2.0
"""How old the newest state of the hand may be [s]."""
OFF_M = 0.005
"""How far a widest opening may be from that of the model: Franka Hands report up to 82 mm (issue
202 of libfranka) [m]."""


def unhomed(width_m: float, max_width_m: float, hand: HandModel) -> str:
    """
    Return why a hand has to be homed before it moves, by its own state; '' where it need not be.

    `franka::GripperState::max_width` is what the last homing has measured. A hand that was not
    homed since it was switched on reports 0, and refuses each width (issue 276 of franka_ros).
    After a change of the fingers, or a homing around an object, widths are wrong.

    Args:
        width_m: `GripperState::width`, the distance between the fingers [m].
        max_width_m: `GripperState::max_width` [m].
        hand: What the hand is.
    """
    if max_width_m <= 0.0:
        return 'it was not homed since it was switched on'
    if abs(max_width_m - hand.max_width_m) > OFF_M:
        return (
            f'it was homed to a widest opening of {max_width_m * 1e3:.0f} mm, and that of its '
            f'fingers is {hand.max_width_m * 1e3:.0f} mm'
        )
    if not -OFF_M <= width_m <= max_width_m + OFF_M:
        return (
            f'it reports that its fingers are {width_m * 1e3:.0f} mm apart, which is not within '
            f'0 and {max_width_m * 1e3:.0f} mm'
        )
    return ''


class HandLink:
    """One connection to a hand."""

    def __init__(self, address: str, robot_s: Callable[[], float] = time.monotonic) -> None:
        """
        Connect; raises NoHandError.

        *robot_s* reads the robot's clock, by which goals are given up: a simulation on a busy
        computer lets it pass more slowly [s].
        """
        self._address, self._robot_s = address, robot_s
        self._franky = library('franky')
        self._gripper, self._state = self._connected()
        self._seen_s = time.monotonic()
        self._news = threading.Condition()
        self._closed = False
        self._watcher = threading.Thread(target=self._watch, name='franka_hand', daemon=True)
        self._watcher.start()

    def _connected(self) -> tuple[Any, Any]:
        """Return a connection and the first state; libfranka itself would wait for ever."""
        made: queue.Queue[tuple[Any, Any] | Exception] = queue.Queue()

        def connect() -> None:
            try:
                gripper = self._franky.Gripper(self._address)
                made.put((gripper, gripper.state))
            except Exception as error:  # franky's, which have no base of their own
                made.put(error)

        threading.Thread(target=connect, name='franka_hand_connect', daemon=True).start()
        try:
            answer = made.get(timeout=CONNECT_S)
        except queue.Empty:
            raise ControlTakenError(
                f'The hand at {self._address} gave no answer within {CONNECT_S:g} s.',
                'It serves one program at a time: end the other one.',
            ) from None
        if isinstance(answer, Exception):
            raise version_error(_text(answer), f'The hand at {self._address}') or NoHandError(
                f'No Franka Hand answers at {self._address} ({_text(answer)}).',
                'Mount it and select it as end effector in Desk under Settings, then restart the '
                'robot.',
            ) from answer
        return answer

    @property
    def server_version(self) -> int:
        """Of the hand's protocol, as the hand states it."""
        return int(self._gripper.server_version)

    @property
    def width_m(self) -> float:
        """Distance between the fingers; raises LostRobotError where no state comes now [m]."""
        if self.silent:
            raise LostRobotError(
                f'The hand at {self._address} has sent no state for {SILENT_S:g} s.',
                'Check it in Desk; the next task connects anew.',
            )
        return float(self._state.width)

    @property
    def last_width_m(self) -> float:
        """Distance between the fingers, however old [m]."""
        return float(self._state.width)

    @property
    def max_width_m(self) -> float:
        """Widest opening, as last homed; 0 before that [m]."""
        return float(self._state.max_width)

    @property
    def silent(self) -> bool:
        """Whether it has sent no state for `SILENT_S`."""
        return time.monotonic() - self._seen_s > SILENT_S

    def unhomed(self, hand: HandModel) -> str:
        """Return why it has to be homed before it moves; '' where it need not be."""
        state = self._state
        return unhomed(float(state.width), float(state.max_width), hand)

    def need_homed(self, hand: HandModel) -> None:
        """Raise UnhomedError where it has to be homed before it moves."""
        if why := self.unhomed(hand):
            simulated = ' --simulated-robot' if is_here(resolved_address(self._address)) else ''
            raise UnhomedError(
                f'The hand at {self._address} cannot be used: {why}.',
                'Take what is between the fingers away, and home it: `bbllm home --ip '
                f'{self._address}{simulated}` asks you, and then closes and opens the hand once.',
            )

    def move(self, width_m: float, speed_m_s: float, is_cut: Callable[[], bool]) -> GripperResult:
        return self._run(self._gripper.move_async(width_m, speed_m_s), is_cut)

    def grasp(self, goal: GraspGoal, is_cut: Callable[[], bool]) -> GripperResult:
        asked = (goal.width_m, goal.speed_m_s, goal.force_n, goal.inner_m, goal.outer_m)
        return self._run(self._gripper.grasp_async(*asked), is_cut)

    def home(self, is_cut: Callable[[], bool]) -> GripperResult:
        return self._run(self._gripper.homing_async(), is_cut)

    def close(self) -> None:
        """End the connection, which lasts as long as its object."""
        self._closed = True
        self._watcher.join(SILENT_S)
        self._gripper = None

    def _run(self, future: Any, is_cut: Callable[[], bool]) -> GripperResult:
        """Wait for a goal's end, and stop it where *is_cut* is first."""
        end_s, cut = self._robot_s() + GIVE_UP_S, False
        while not future.wait(POLL_S):
            late = self._robot_s() > end_s
            if late or (not cut and is_cut()):
                if cut:
                    return self._result(GoalStatus.ENDLESS, error=f'No end within {GIVE_UP_S} s.')
                cut, end_s = True, self._robot_s() + STOP_S
                self._gripper.stop_async()
        try:
            success, error = bool(future.get()), ''
        except (self._franky.CommandException, self._franky.NetworkException) as failure:
            success, error = False, _text(failure)
        self._wait_for_news()
        if cut:
            return self._result(GoalStatus.CANCELED, error=error)
        status = GoalStatus.SUCCEEDED if success else GoalStatus.ABORTED
        return self._result(status, success=success, error=error)

    def _result(
        self, status: GoalStatus, *, success: bool = False, error: str = ''
    ) -> GripperResult:
        width_m = float(self._state.width)
        return GripperResult(status=status, success=success, error=error, width_m=width_m)

    def _wait_for_news(self) -> None:
        # The first one may have been under way before the goal had ended.
        for _ in range(2):
            before = self._seen_s
            with self._news:
                self._news.wait_for(lambda: self._seen_s > before, SETTLE_S)  # noqa: B023

    def _watch(self) -> None:
        while not self._closed:
            try:
                state = self._gripper.state
            except Exception:  # whatever franky raises where the connection is gone
                return  # `width_m` reports the silence
            with self._news:
                self._state, self._seen_s = state, time.monotonic()
                self._news.notify_all()


def _text(error: Exception) -> str:
    return str(error).strip()
