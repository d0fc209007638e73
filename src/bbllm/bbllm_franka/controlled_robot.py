"""
A robot with the controllers of franka_ros2, over libfranka.

franka_ros2 leads the arm by torques, so it plays whatever a goal contains, steps as well. This one
leads it by positions, whose differences the robot judges: derivatives that a goal leaves out are
filled in, one beyond the robot's limits is rejected, and a goal that preempts another is blended
into what moves (`motion.joined`). The robot keeps an arm at rest by itself, so the mode is MOVE
while the controller is active, as with franka_ros2, whether or not positions are sent.
"""

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from bbllm.arm.controllers.manager import ControllerManager, LifeCycle, Switched
from bbllm.arm.controllers.pending import ABORTED_TEXT, GripperPending, TrajectoryPending
from bbllm.arm.controllers.ptp import (
    BUSY_TEXT,
    REFLEX_TEXT,
    USER_STOP_TEXT,
    PtpGoal,
    PtpMotion,
    PtpPending,
    fault_of,
)
from bbllm.arm.controllers.trajectory import (
    Query,
    Setpoint,
    TrajectoryController,
)
from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal, driver_constraints, goal_spline
from bbllm.arm.driver import (
    N_JOINTS,
    Array,
    FollowError,
    FollowResult,
    GoalStatus,
    GraspGoal,
    GripperResult,
    JointState,
    RobotMode,
    Tolerances,
)
from bbllm.arm.motion.trajectory import excess
from bbllm.arm.robot_settings import ARGUMENT_TEXT, MODE_NAMES, MODE_TEXT, Order
from bbllm.arm.robot_state import Mounted, RobotState
from bbllm.core.errors import WorldError
from bbllm.robots.fr3 import FR3
from bbllm_franka.arm_link import ArmLink
from bbllm_franka.board import RobotReading
from bbllm_franka.hand import HandLink
from bbllm_franka.messages import Word
from bbllm_franka.motion import motion_of

UNJUDGED = Tolerances(path_rad=math.inf, goal_rad=math.inf, goal_time_s=1.0)
"""What the control process is given: the controller in this process judges the goal."""
STOP_S = 2.0
"""How long a motion may take to brake [s]."""
POLL_S = 0.002
STOPS = (RobotMode.REFLEX, RobotMode.USER_STOPPED)
LEGAL = 1.0 + 1e-6
"""The largest factor of `excess` that counts as legal: knots are rounded to nanoseconds."""

LOG = logging.getLogger('bbllm')


class LibfrankaRobot:
    """Implements `bbllm_ros.driver_front.ControlledRobot`; call `tick` every 10 ms."""

    def __init__(
        self,
        connect: Callable[[], ArmLink],
        connect_hand: Callable[[Callable[[], float]], HandLink | None],
        log: Callable[[str], object] = LOG.error,
    ) -> None:
        """
        Connect arm and hand; *connect* is called again after a connection was lost.

        *connect_hand* is given the robot's clock [s].
        """
        self._connect, self._log = connect, log
        self._lock = threading.RLock()
        self._link = connect()
        try:
            self._hand = connect_hand(lambda: self._link.read().robot_s)
        except BaseException:
            self._link.close()
            raise
        self._settings = self._link.settings()
        self.reading: RobotReading = self._link.read()
        """The newest reading."""
        self._trajectory = TrajectoryController(
            FR3, self.reading.set_point_rad, driver_constraints()
        )
        self._ptp = PtpMotion(FR3.limits)
        self._source: TrajectoryController | PtpMotion = self._trajectory
        self._played = self._trajectory.reference
        """The motion that the control process was sent last."""
        self._waits = self._moves = False
        """Whether a motion was sent that has not begun yet; whether one runs."""
        self.controllers = ControllerManager(self)
        self._hand_lock = threading.Lock()
        self._gripping: tuple[GripperPending, threading.Event] | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        with self._lock:
            yield

    @property
    def hangs(self) -> bool:
        return False

    @property
    def mode(self) -> RobotMode:
        mode = self.reading.mode
        if mode is RobotMode.IDLE and (self._trajectory.active or self._moves or self._waits):
            return RobotMode.MOVE
        return mode

    @property
    def errors(self) -> tuple[str, ...]:
        return self.reading.current_errors

    @property
    def lost(self) -> bool:
        """Whether the connection to the arm is gone."""
        return self._link.lost is not None

    @property
    def busy(self) -> bool:
        """Whether the arm moves."""
        return self._moves or self._waits

    @property
    def trajectory_time_s(self) -> float:
        return self.reading.robot_s - self._trajectory.origin_s

    @property
    def width_m(self) -> float:
        return 0.0 if self._hand is None else self._hand.last_width_m

    @property
    def max_width_m(self) -> float:
        return 0.0 if self._hand is None else self._hand.max_width_m

    def tick(self) -> bool:
        """Do what is due; returns whether there is a reading that was not there before."""
        with self._lock:
            before = self.reading
            self._update()
            source, (now_s, q, dq) = self._source, self._measured()
            if not self._waits and source.busy:
                if isinstance(source, TrajectoryController):
                    source.check(now_s, q, dq)
                else:
                    source.check(now_s)
            self._play()
            if self.reading.mode in STOPS and (self._trajectory.active or self._ptp.busy):
                self._fail()
            return self.reading.host_s > before.host_s or self.lost

    def joint_state(self) -> JointState:
        reading = self.reading
        return JointState(
            position_rad=reading.position_rad,
            velocity_rad_s=reading.velocity_rad_s,
            width_m=self.width_m,
            stamp_s=reading.host_s,
        )

    def set_point(self) -> Setpoint:
        reading = self.reading
        return Setpoint(reading.set_point_rad, reading.set_point_rad_s, reading.set_point_rad_s2)

    def state(self) -> tuple[RobotState, Mounted]:
        """Return what the robot reports, and what is mounted on it."""
        return replace(self.reading, mode=self.mode), self._settings

    def refuse(self, goal: TrajectoryGoal) -> str | None:
        with self._lock:
            reason = self._trajectory.refusal(goal, self.reading.robot_s)
            return reason or self._beyond(goal)

    def follow(self, goal: TrajectoryGoal) -> TrajectoryPending:
        with self._lock:
            now_s, q, dq = self._led()
            pending = self._trajectory.start(self._whole(goal), now_s, q, dq)
            self._play()
            return pending

    def replace_trajectory(self, goal: TrajectoryGoal) -> str | None:
        with self._lock:
            if reason := self.refuse(goal):
                return reason
            reason = self._trajectory.replace(self._whole(goal), *self._led())
            self._play()
            return reason

    def cancel_follow(self) -> None:
        with self._lock:
            self._trajectory.cancel(*self._measured())
            self._play()

    def query_trajectory(self, time_s: float) -> Query | None:
        with self._lock:
            _, q, dq = self._measured()
            return self._trajectory.query(time_s, q, dq)

    def move_to(self, goal: PtpGoal) -> PtpPending | str:
        with self._lock:
            if self._trajectory.active or self.busy:
                return BUSY_TEXT
            if self.reading.mode is not RobotMode.IDLE:
                return MODE_TEXT.format('Move', MODE_NAMES[self.reading.mode])
            if fault := fault_of(goal):
                return fault
            if not FR3.limits.within(np.array(goal.position_rad), 0.0):
                return OUTSIDE_TEXT
            now_s, q, _ = self._led()
            pending = self._ptp.start(goal, now_s, q)
            self._source = self._ptp
            self._play()
            return pending

    def recover_errors(self) -> str | None:
        with self._lock:
            return self._call('automatic_error_recovery') or None

    def order(self, order: Order) -> str:
        with self._lock:
            if self.mode is not RobotMode.IDLE:
                return MODE_TEXT.format(order.name, MODE_NAMES[self.mode])
            if not order.sound:
                return ARGUMENT_TEXT.format(order.name)
            method, *values = order.call
            reason = self._call(method, *values)
            if not reason:
                self._settings = self._link.settings()
            return reason

    def set_hardware(self, target: LifeCycle | None) -> bool:
        with self._lock:
            return self.controllers.set_component(target)

    def switch_controllers(
        self, activate: Sequence[str], deactivate: Sequence[str], *, strict: bool = False
    ) -> Switched:
        with self._lock:
            return self.controllers.switch(activate, deactivate, strict=strict)

    def connect(self) -> bool:
        """Connect anew where the connection was lost; part of `controllers.Hardware`."""
        if self._link.lost is None:
            return True
        try:
            self._link = self._connect()
            self._settings = self._link.settings()
        except WorldError as error:
            self._log(str(error))
            return False
        self._waits = self._moves = False
        self._update()
        return True

    def start_control(self) -> bool:
        self._come_to_rest()
        self._update()
        if self.reading.mode is RobotMode.IDLE:
            self._trajectory.activate(*self._led())
            self._source, self._played = self._trajectory, self._trajectory.reference
        return self._trajectory.active

    def stop_control(self) -> None:
        self._trajectory.deactivate(*self._measured())
        self._come_to_rest()

    def move_gripper(
        self, width_m: float, speed_m_s: float, *, kind: str = 'move'
    ) -> GripperPending:
        return self._grip(lambda hand, cut: hand.move(width_m, speed_m_s, cut))

    def grasp(self, goal: GraspGoal, *, kind: str = 'grasp') -> GripperPending:
        return self._grip(lambda hand, cut: hand.grasp(goal, cut))

    def home_gripper(self) -> GripperPending:
        return self._grip(lambda hand, cut: hand.home(cut))

    def stop_gripper(self) -> None:
        self._cut_grip(GoalStatus.ABORTED)

    def cancel_gripper(self) -> None:
        self._cut_grip(GoalStatus.CANCELED)

    def note_goal(self, kind: str) -> None:
        """Do nothing: only a simulation publishes the goals that arrive."""

    def close(self) -> None:
        """End the connections; an arm that moves brakes first."""
        with self._lock:
            self.stop_control()
            self._link.close()
        if self._hand is not None:
            self._hand.close()

    def _measured(self) -> tuple[float, Array, Array]:
        reading = self.reading
        return reading.robot_s, reading.position_rad, reading.velocity_rad_s

    def _led(self) -> tuple[float, Array, Array]:
        """Return the time and where the robot leads the arm: a new motion begins there."""
        reading = self.reading
        return reading.robot_s, reading.set_point_rad, reading.set_point_rad_s

    def _update(self) -> None:
        """Take the newest reading and what the control process has reported."""
        if self._link.lost is not None:
            if self.controllers.component is LifeCycle.ACTIVE:
                self._log(str(self._link.lost))
                self._waits = self._moves = False
                self._fail()
            return
        try:
            self.reading = self._link.read()
            while True:
                self._take(*self._link.take(0.0))
        except (queue.Empty, WorldError):
            return

    def _take(self, word: Word, *values: object) -> None:
        if word is Word.BEGUN:
            (begun_s,) = values
            assert isinstance(begun_s, float)
            self._waits, self._moves = False, True
            source = self._source
            late_s = begun_s - self._played.start_s
            if source.reference is self._played and source.busy:
                source.delay(late_s)
                self._played = source.reference
        elif word is Word.ENDED:
            (result,) = values
            assert isinstance(result, FollowResult)
            self._end(result)

    def _end(self, result: FollowResult) -> None:
        refused = result.status is GoalStatus.REJECTED
        self._moves = False
        if refused:
            self._waits = False
        stopped = (
            result.status is GoalStatus.ABORTED and result.error_code is FollowError.INVALID_GOAL
        )
        if refused or stopped:
            self._log(f'The robot ended the motion: {result.error_string}')
            self._waits = False
            self._fail()

    def _fail(self) -> None:
        """Take everything down, as franka_hardware does when its control fails."""
        if self._ptp.busy:
            pressed = self.reading.mode is RobotMode.USER_STOPPED
            self._ptp.abort(USER_STOP_TEXT if pressed else REFLEX_TEXT, *self._measured())
        if self._trajectory.active or self._link.lost is not None:
            self.controllers.fail_hardware()

    def _play(self) -> None:
        """Send the motion in force to the control process, where it is another one."""
        source = self._source
        reference = source.reference
        if reference is self._played or self._link.lost is not None:
            return
        self._played = reference
        try:
            if source.busy:
                self._link.send(Word.FOLLOW, motion_of(reference), UNJUDGED)
                self._waits = True
            elif self.busy:
                self._link.send(Word.CANCEL)
        except WorldError as error:
            self._log(str(error))

    def _come_to_rest(self) -> None:
        """Brake, and wait until the arm has come to rest."""
        self._play()
        end_s = time.monotonic() + STOP_S
        while self.busy and self._link.lost is None and time.monotonic() < end_s:
            time.sleep(POLL_S)
            self._update()

    def _call(self, method: str, *values: object) -> str:
        """Call the robot while it rests; returns why it refuses, or ''."""
        self._come_to_rest()
        if self.busy:
            return BUSY_TEXT
        try:
            return self._link.call(method, *values)
        except WorldError as error:
            return str(error)

    def _whole(self, goal: TrajectoryGoal) -> TrajectoryGoal:
        return whole_goal(goal, self.reading.set_point_rad)

    def _beyond(self, goal: TrajectoryGoal) -> str | None:
        """Return why the robot could not follow a goal that its controller would take."""
        now_s, q, dq = self._led()
        reference = goal_spline(FR3.joints, self._whole(goal), now_s, q, dq)
        if not reference.duration_s:
            return AT_ONCE_TEXT
        move = motion_of(reference)
        if not FR3.limits.within(move.position_rad, 0.0).all():
            return 'The trajectory leaves the position limits of the joints.'
        if (factor := excess(FR3, move)) > LEGAL:
            return (
                f"The trajectory is faster than the robot's limits of velocity, acceleration or "
                f'jerk allow; one that lasts {factor:.2f} times as long would be taken.'
            )
        far_rad = float(np.abs(move.position_rad[0] - q).max())
        return None if far_rad < STEP_RAD or self.busy else STEP_TEXT.format(far_rad)

    def _grip(
        self, run: Callable[[HandLink, Callable[[], bool]], GripperResult]
    ) -> GripperPending:
        """Begin a goal of the hand, which aborts the one that runs."""
        pending, cut, hand = GripperPending(), threading.Event(), self._hand
        if hand is None:
            pending.finish(GripperResult(status=GoalStatus.ABORTED, error=NO_HAND_TEXT))
            return pending
        self._cut_grip(GoalStatus.ABORTED)
        self._gripping = (pending, cut)

        def work() -> None:
            with self._hand_lock:  # the goal before has come to its end then
                try:
                    result = run(hand, cut.is_set)
                except WorldError as error:
                    result = GripperResult(status=GoalStatus.ABORTED, error=str(error))
            pending.finish(result)

        threading.Thread(target=work, name='hand', daemon=True).start()
        return pending

    def _cut_grip(self, status: GoalStatus) -> None:
        gripping, self._gripping = self._gripping, None
        if gripping is None or gripping[0].done:
            return
        pending, cut = gripping
        cut.set()
        pending.finish(GripperResult(status=status, error=ABORTED_TEXT, width_m=self.width_m))


STEP_RAD = 0.05
"""How far from the set point a motion may begin; the control process leads the arm there [rad]."""
STEP_TEXT = (
    'The trajectory begins {:.3f} rad from where the arm is; one that begins there, or whose '
    'first point has a time_from_start, would be taken.'
)
AT_ONCE_TEXT = (
    'The trajectory has one point with a time_from_start of 0, which no arm can be at at once; a '
    'later one would be taken.'
)
NO_HAND_TEXT = 'The robot was stated to have no hand.'
OUTSIDE_TEXT = (
    'libfranka: Move command aborted: motion aborted by reflex! '
    '["joint_motion_generator_position_limits_violation"]'
)


def whole_goal(goal: TrajectoryGoal, position_rad: Array) -> TrajectoryGoal:
    """
    Return a goal with all derivatives, from the arm's position, shape (7,) [rad].

    Where velocities are missing, a point is passed with the mean of the slopes before and after
    it, and the last is come to rest at. Where accelerations are missing, they are zero.
    """
    order = [goal.joint_names.index(name) for name in FR3.joints]
    n = len(goal.time_s)
    position = np.asarray(goal.position_rad)[:, order]
    times = np.asarray(goal.time_s)
    velocity = _column(goal.velocity_rad_s, n, order)
    first = times[0] > 0
    knots = np.vstack([position_rad, position]) if first else position
    at = np.concatenate([[0.0], times]) if first else times
    slopes = np.zeros_like(knots)
    if len(at) > 2:
        steps = np.diff(knots, axis=0) / np.diff(at)[:, None]
        slopes[1:-1] = (steps[:-1] + steps[1:]) / 2
    velocity = np.where(np.isnan(velocity), slopes[-n:], velocity)
    acceleration = _column(goal.acceleration_rad_s2, n, order)
    acceleration = np.where(np.isnan(acceleration), 0.0, acceleration)

    def rows(values: Array) -> tuple[tuple[float, ...], ...]:
        return tuple(map(tuple, values.tolist()))

    return replace(
        goal,
        joint_names=FR3.joints,
        position_rad=rows(position),
        velocity_rad_s=rows(velocity),
        acceleration_rad_s2=rows(acceleration),
        effort_nm=(),
    )


def _column(rows: Sequence[Sequence[float]], n: int, order: list[int]) -> Array:
    absent = (math.nan,) * N_JOINTS
    return np.asarray([row or absent for row in rows] or [absent] * n)[:, order]
