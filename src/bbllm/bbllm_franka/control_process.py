"""
The process that owns the 1 kHz loop: libfranka, and nothing else that could take its time.

pylibfranka keeps Python's lock while it waits for the robot, and the lock of a process that plans
is taken for milliseconds at a time. So the loop has a process, and with it a lock, of its own. It
is started by `arm_link.ArmLink`, which has the other ends of its two descriptors: a channel for
requests and replies, and the memory of a `StateBoard`. It ends with the program that started it; a
motion that runs then brakes first.
"""

import ctypes
import gc
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pylibfranka

from bbllm.arm.driver import (
    FREE_RAD,
    FollowError,
    FollowResult,
    GoalStatus,
    JointTrajectory,
    Tolerances,
)
from bbllm.arm.robot_settings import Load
from bbllm.arm.robot_state import Mounted
from bbllm.robots.registry import load_robot
from bbllm.robots.robot_model import RobotModel
from bbllm_franka.board import StateBoard, error_bits
from bbllm_franka.messages import ENFORCE, LinkQuality, Word
from bbllm_franka.motion import TICK_S, TimedMotion

IDLE_MS = 10
"""How long requests are waited for between two readings of an arm at rest [ms]."""
MEAN_S = 0.02
"""Over how long the force is averaged [s]."""
STEP_RAD = 1e-6
"""A step in the rows that needs no smoothing: 1 rad/s^2 and 3,000 rad/s^3 at most [rad]."""
REMEMBERED = 20
"""How many rows are compared with the robot's set point; it stops after 20 that it did not get."""
STOPPED_RAD_S = 0.01
"""A joint slower than this has arrived [rad/s]."""
PRIORITY = 80
"""Of the loop under SCHED_FIFO; the kernel's own threads have 50 and 99."""
REST_TICKS = 100
"""How many states are read at most until one shows the end of a motion."""
MEASURED_TICKS = 500
"""Over how many of the robot's milliseconds the connection is measured."""
LOCK_ALL = 3
"""MCL_CURRENT | MCL_FUTURE of mlockall(2)."""


class ControlLoop:
    """Serves the requests of one driver."""

    def __init__(
        self,
        robot: Any,
        model: RobotModel,
        channel: Connection,
        board: StateBoard,
        *,
        prioritized: bool,
    ) -> None:
        self._robot, self._model, self._channel, self._board = robot, model, channel, board
        self._prioritized = prioritized
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN | select.POLLHUP)
        self._newer = select.poll()
        self._newer.register(_datagram_socket(), select.POLLIN)
        self._forces: deque[tuple[float, float]] = deque()
        self._ended = False

    def measure(self) -> LinkQuality:
        """Read states for half a second and count those that did not come in their turn."""
        first = self._observe(self._robot.read_once())
        before, n, widest = first, 0, 0.0
        while before - first < MEASURED_TICKS * TICK_S:
            now = self._observe(self._robot.read_once())
            widest, before, n = max(widest, now - before), now, n + 1
        share = min(1.0, n * TICK_S / (before - first))
        return LinkQuality(share=share, widest_s=widest, prioritized=self._prioritized)

    def serve(self) -> None:
        """Serve until the driver closes its end, or the robot is lost."""
        while not self._ended:
            if self._poll.poll(IDLE_MS):
                self._answer()
            else:
                self._observe(self._robot.read_once())

    def _answer(self) -> None:
        try:
            kind, *values = self._channel.recv()
        except EOFError:
            kind, values = Word.END, []
        if kind is Word.END:
            self._ended = True
        elif kind is Word.FOLLOW:
            result = self._follow(*values)
            self._come_to_rest()
            self._channel.send((Word.ENDED, result))
        elif kind is Word.SETTINGS:
            self._channel.send((Word.SETTINGS, _settings_of(self._robot.read_once())))
        elif kind is Word.CALL:  # CANCEL and AMEND came after the end of their motion
            self._call(*values)

    def _come_to_rest(self) -> None:
        """Observe until the robot reports the end of the motion, so that the driver sees it."""
        for _ in range(REST_TICKS):
            state = self._robot.read_once()
            self._observe(state)
            if state.robot_mode != pylibfranka.RobotMode.Move:
                return

    def _call(self, name: str, *values: Any) -> None:
        try:
            getattr(self._robot, name)(*values)
        except (pylibfranka.CommandException, pylibfranka.ControlException) as error:
            self._channel.send((Word.REFUSED, str(error)))
        else:
            self._observe(self._robot.read_once())
            self._channel.send((Word.DONE,))

    def _observe(self, state: Any) -> float:
        """Put a state on the board; returns the robot's time [s]."""
        host_s, robot_s = time.monotonic(), state.time.to_sec()
        forces, wrench = self._forces, state.O_F_ext_hat_K
        forces.append((host_s, -wrench[2]))
        while forces[0][0] < host_s - MEAN_S:
            forces.popleft()
        mean_n = sum(force for _, force in forces) / len(forces)
        head = (
            host_s,
            robot_s,
            int(state.robot_mode),
            state.control_command_success_rate,
            error_bits(state.current_errors) if state.current_errors else 0,
            error_bits(state.last_motion_errors) if state.last_motion_errors else 0,
            mean_n,
            forces[0][0],
            state.m_load,
        )
        self._board.write(
            head,
            state.q,
            state.dq,
            state.q_d,
            state.dq_d,
            state.ddq_d,
            state.tau_J,
            state.tau_J_d,
            state.tau_ext_hat_filtered,
            wrench,
            state.K_F_ext_hat_K,
            state.joint_contact,
            state.cartesian_contact,
            state.joint_collision,
            state.cartesian_collision,
        )
        return float(robot_s)

    def _follow(self, trajectory: JointTrajectory, tolerances: Tolerances) -> FollowResult:
        set_point = np.array(self._robot.read_once().q_d)
        motion = TimedMotion(self._model, set_point, trajectory)
        try:
            control = self._robot.start_joint_position_control(
                pylibfranka.ControllerMode.JointImpedance
            )
        except (pylibfranka.CommandException, pylibfranka.ControlException) as error:
            return FollowResult(status=GoalStatus.REJECTED, error_string=str(error))
        gc.disable()
        try:
            return self._play(control, motion, tolerances)
        except pylibfranka.ControlException as error:
            return FollowResult(
                status=GoalStatus.ABORTED,
                error_code=FollowError.INVALID_GOAL,
                error_string=str(error),
            )
        finally:
            gc.enable()

    def _play(self, control: Any, motion: TimedMotion, tolerances: Tolerances) -> FollowResult:
        """Send a motion row by row; a row for each millisecond of the robot's clock."""
        rows, row, begun = motion.rows, 0, False
        result: FollowResult | None = None
        late_rows = round(tolerances.goal_time_s / TICK_S)
        path_rad, goal_rad = tolerances.path_rad, tolerances.goal_rad
        gave_way = False
        while True:
            state, period = control.readOnce()
            row += round(period.to_sec() / TICK_S)
            lost = begun and state.control_command_success_rate < 1.0
            before = rows[max(row - REMEMBERED, 0) : row] or rows[-1:]
            if lost and _is_elsewhere(state.q_d, before):
                q, dq, ddq = map(np.array, (state.q_d, state.dq_d, state.ddq_d))
                motion.rejoin_after(row - 1, (q, dq, ddq))
            position = state.q
            off_rad = max(map(_distance, position, rows[min(max(row - 1, 0), motion.last)]))
            now = rows[min(row, motion.last)]
            command = pylibfranka.JointPositions(now)
            over = row - motion.last
            if over > 0:
                arrived = off_rad <= goal_rad and max(map(abs, state.dq)) < STOPPED_RAD_S
                if result is None and arrived:
                    result, command.motion_finished = _SUCCEEDED, True
                elif result is not None and (off_rad < FREE_RAD or gave_way):
                    command.motion_finished = True
            if begun and self._newer.poll(0):
                # The next state has come already: a robot drops an answer to this one.
                self._observe(state)
                continue
            control.writeOnce(command)
            if not begun:
                begun = True
                self._channel.send((Word.BEGUN, state.time.to_sec() + motion.ahead_s))
            if result is not None and command.motion_finished:
                return result
            self._observe(state)
            if result is None:
                if off_rad > path_rad:
                    result = _PATH_VIOLATED
                    motion.stop_after(row)
                elif over > late_rows:
                    result = _GOAL_VIOLATED
                else:
                    result = self._asked(motion, row, state.time.to_sec())
            elif over > 0 and not gave_way and off_rad >= FREE_RAD:
                motion.give_way_after(row, np.array(position))
                gave_way = True

    def _asked(self, motion: TimedMotion, row: int, robot_s: float) -> FollowResult | None:
        """
        Look for a request during a motion; returns how it ends where it was cancelled.

        *row* is sent at *robot_s* of the robot's clock [s].
        """
        if not self._poll.poll(0):
            return None
        try:
            kind, *values = self._channel.recv()
        except EOFError:
            kind, values, self._ended = Word.END, [], True
        if kind is Word.AMEND:
            self._channel.send((Word.AMENDED, motion.amend_after(row, *values)))
            return None
        if kind is Word.FOLLOW:
            begin = motion.join_after(row, values[0])
            self._channel.send((Word.BEGUN, robot_s + (begin - row) * TICK_S))
            return None
        motion.stop_after(row)
        return _CANCELED


def _datagram_socket() -> int:
    """Return the descriptor of the UDP socket of libfranka, the only one of this process."""
    for path in Path('/proc/self/fd').iterdir():
        with suppress(OSError), socket.socket(fileno=os.dup(int(path.name))) as copy:
            if copy.type == socket.SOCK_DGRAM:
                return int(path.name)
    raise RuntimeError('libfranka has no UDP socket.')


def _settings_of(state: Any) -> Mounted:
    return Mounted(
        tool=_load(state.m_ee, state.F_x_Cee, state.I_ee),
        load=_load(state.m_load, state.F_x_Cload, state.I_load),
        T_flange_ee=np.array(state.F_T_EE).reshape(4, 4).T,
        T_ee_stiffness=np.array(state.EE_T_K).reshape(4, 4).T,
    )


def _load(mass_kg: float, centre_m: Sequence[float], inertia: Sequence[float]) -> Load:
    """Return a load from libfranka's numbers, whose matrices are column-major."""
    return Load(
        mass_kg=mass_kg,
        centre_m=np.array(centre_m),
        inertia_kg_m2=np.array(inertia).reshape(3, 3).T,
    )


def _is_elsewhere(set_point: Sequence[float], rows: Iterable[Sequence[float]]) -> bool:
    """
    Return whether the robot led the arm itself to where none of the last rows is.

    At one of them the motion goes on as planned, whether that row was sent or not. The set point
    of a robot does not go back; that of franka-sim does, for a state, after a late answer.
    """
    return all(max(map(_distance, set_point, row)) > STEP_RAD for row in rows)


def _distance(one: float, other: float) -> float:
    return abs(one - other)


_SUCCEEDED = FollowResult(status=GoalStatus.SUCCEEDED)
_CANCELED = FollowResult(status=GoalStatus.CANCELED)
_PATH_VIOLATED = FollowResult(
    status=GoalStatus.ABORTED,
    error_code=FollowError.PATH_TOLERANCE_VIOLATED,
    error_string='Aborted due to path tolerance violation',
)
_GOAL_VIOLATED = FollowResult(
    status=GoalStatus.ABORTED,
    error_code=FollowError.GOAL_TOLERANCE_VIOLATED,
    error_string='Aborted due to goal_time_tolerance exceeding',
)


def prioritize() -> bool:
    """Run this process before others with its memory locked; returns whether it may."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except (OSError, AttributeError):
        return False
    return bool(ctypes.CDLL(None).mlockall(LOCK_ALL) == 0)


def main() -> None:
    """Serve a robot: `python -m bbllm_franka.control_process ADDRESS REALTIME ROBOT FD FD`."""
    address, realtime, name, channel_file, board_file = sys.argv[1:]
    channel, board = Connection(int(channel_file)), StateBoard(int(board_file))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which cancels
    try:
        config = pylibfranka.RealtimeConfig
        enforced = config.kEnforce if realtime == ENFORCE else config.kIgnore
        channel.send((Word.CONNECTING,))
        robot = pylibfranka.Robot(address, enforced)
        loop = ControlLoop(robot, load_robot(name), channel, board, prioritized=prioritize())
        channel.send((Word.READY, loop.measure()))
        loop.serve()
    except Exception as error:  # whatever ends it is the driver's to report
        with suppress(OSError):  # unless that has gone, too
            channel.send((Word.LOST, type(error).__name__, str(error)))


if __name__ == '__main__':
    main()
