"""The arm driver of a Franka Research 3 over libfranka; see design/libfranka.md."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from bbllm.arm.driver import (
    Amendment,
    Array,
    ContactLimits,
    FingerMove,
    FollowError,
    FollowResult,
    GoalStatus,
    GraspGoal,
    GripperResult,
    JointState,
    JointTrajectory,
    RecoveryError,
    RobotCondition,
    RobotMode,
    Tolerances,
    may_be_cut,
)
from bbllm.arm.force_estimator import MEAN_S, SilentForceError
from bbllm.robots.registry import load_robot
from bbllm.robots.robot_model import RobotModel
from bbllm.scene.hand_force import Force
from bbllm_franka.arm_link import ArmLink, check_machine
from bbllm_franka.board import RobotReading
from bbllm_franka.errors import LoadError, LockedError, UnhomedError
from bbllm_franka.hand import HandLink
from bbllm_franka.libraries import need_libraries
from bbllm_franka.messages import ENFORCE, LinkQuality, Word

START_RAD = 0.05
"""A motion that begins further from where the arm is kept than this is refused [rad]."""
POLL_S = 0.004
"""Period of the checks of a motion [s]."""
IDLE_S = 0.01
"""Period of the checks of a wait [s]."""
FRESH_S = 1.0
"""How long a state that is measured after now may take to come [s]."""
GIVE_UP_S = 3.0
"""How much longer than planned, and than its tolerance, a trajectory may take, on the robot's
clock [s]."""
STOP_S = 2.0
"""How long a cancelled motion may take to end, on the robot's clock [s]."""
RATE_S = 0.2
"""From when on a motion has a success rate, which is one of 100 ms [s]."""
GOOD_RATE = 0.9
"""A success rate of commands below this is reported."""
SAME_KG = 0.05

LOG = logging.getLogger('bbllm')


class FrankaDriver:
    """
    Implements arm.driver.ArmDriver, which describes the methods, on a robot's network interface.

    The robot leads its joints along our set points by its own joint impedance, once a
    millisecond. Times are those of this computer's monotonic clock.
    """

    def __init__(
        self,
        address: str,
        *,
        realtime: str = ENFORCE,
        robot: str = 'fr3',
        hand: bool = True,
        load_kg: float | None = None,
    ) -> None:
        """
        Connect to a robot; nothing moves.

        Args:
            address: Of the robot's control.
            realtime: `enforce`: refuse a computer without real time, or one that does not keep up;
                `ignore`: report it.
            robot: Name of the robot's model.
            hand: Whether there is a Franka Hand.
            load_kg: Mass that is meant to be set as load in the robot; not checked where None.

        Raises:
            ConfigError: The extra `franka` is not installed.
            WorldError: One of `bbllm_franka.errors`, with what has to be done.
        """
        need_libraries()
        self._address, self._realtime, self._robot = address, realtime, load_robot(robot)
        self._has_hand, self._load_kg = hand, load_kg
        self._stopped = threading.Event()
        self._acted_s = 0.0
        self.lowest_rate = 1.0
        """Lowest success rate of commands so far, after the first 100 ms of a motion."""
        self._connect()

    def _connect(self) -> None:
        self._limited: ContactLimits | None = None
        self._down = False
        """Whether a motion was ended by the robot and it was not recovered since."""
        self._link = ArmLink(self._address, realtime=self._realtime, robot=self._robot.name)
        try:
            check_machine(self._link.quality, self._realtime)
            self._check_joints()
            if self._load_kg is not None:
                check_load(self._link.read().load_kg, self._load_kg)
            self._hand = HandLink(self._address, self._robot_s) if self._has_hand else None
        except BaseException:
            self._link.close()
            raise

    def reconnect(self) -> None:
        """Connect anew where the connection is gone; raises as the constructor."""
        if self._link.lost is not None or (self._hand is not None and self._hand.silent):
            self.close()
            self._connect()

    @property
    def robot_model(self) -> RobotModel:
        return self._robot

    @property
    def quality(self) -> LinkQuality:
        """How well this computer kept up with the robot when it connected."""
        return self._link.quality

    @property
    def tracking_error_rad(self) -> float:
        """Largest distance of a joint from its set point, in the newest state [rad]."""
        reading = self._link.read()
        return float(abs(reading.position_rad - reading.set_point_rad).max())

    @property
    def control_pid(self) -> int:
        """The process that owns the 1 kHz loop."""
        return self._link.pid

    def now_s(self) -> float:
        if not self.condition().able:
            return self._link.read().host_s
        return time.monotonic()

    def joint_state(self) -> JointState:
        reading = self._link.read()
        return JointState(
            position_rad=reading.position_rad,
            velocity_rad_s=reading.velocity_rad_s,
            width_m=0.0 if self._hand is None else self._hand.width_m,
            stamp_s=reading.host_s,
        )

    def set_point(self) -> Array | None:
        return self._fresh().set_point_rad

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        try:
            return self._follow(trajectory, tolerances, is_cut=stop_condition or _never)
        finally:
            self._stopped.clear()

    def follow_amended(
        self, trajectory: JointTrajectory, tolerances: Tolerances, amendment: Amendment
    ) -> tuple[FollowResult, bool]:
        asked, due_s, lasts_s = False, float('inf'), amendment.lasts_s

        def on_begun(begun_s: float) -> None:
            nonlocal due_s
            due_s = begun_s + amendment.at_s

        def amend() -> bool:
            nonlocal asked
            if not asked and self._robot_s() >= due_s:
                asked = True
                if (whole := amendment.make()) is not None:
                    self._link.send(Word.AMEND, whole, amendment.until_s)
            return False

        amended: list[bool] = []
        try:
            result = self._follow(
                trajectory, tolerances, amend, on_begun, amended.append, lasts_s=lasts_s
            )
        finally:
            self._stopped.clear()
        return result, any(amended)

    def move_both(
        self, trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        if (refused := self._unusable_hand()) is not None:
            text = refused.error
            return _refused(text), refused
        sent: list[Future[GripperResult]] = []
        given_up, late, due_s = threading.Event(), False, float('inf')

        def on_begun(begun_s: float) -> None:
            nonlocal due_s
            due_s = begun_s + fingers.due_s
            sent.append(pool.submit(self._open, fingers, given_up))

        def is_late() -> bool:
            nonlocal late
            arrived = bool(sent) and sent[0].done() and sent[0].result().success
            late = late or (self._robot_s() >= due_s and not arrived)
            return late

        try:
            with ThreadPoolExecutor(1, 'fingers') as pool:  # whose end waits for the fingers
                followed = FollowResult(status=GoalStatus.ABORTED)
                try:
                    followed = self._follow(trajectory, tolerances, is_late, on_begun)
                finally:
                    if followed.status is not GoalStatus.SUCCEEDED:
                        given_up.set()
        finally:
            self._stopped.clear()
        if not sent:
            return followed, GripperResult(status=GoalStatus.REJECTED, begun=False)
        moved = sent[0].result()
        if late and moved.status is GoalStatus.CANCELED:
            moved = replace(moved, status=GoalStatus.TIMED_OUT)
        return followed, moved

    def force_n(self) -> Force:
        """Return what the world does to the hand, in axes of the base [N]."""
        x, y, z = self._link.read().wrench[:3].tolist()
        return (-x, -y, -z)

    def vertical_force_n(self, *, settled: bool = False) -> float | None:
        if not settled:
            return self._link.read().mean_force_z_n
        end_s = time.monotonic() + FRESH_S
        while (reading := self._link.read()).host_s < self._acted_s + MEAN_S:
            if time.monotonic() > end_s:
                raise SilentForceError(f'The robot has sent no force for {FRESH_S:g} s.')
            time.sleep(POLL_S)
        return reading.mean_force_z_n

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        return self._with_hand(lambda hand, cut: hand.move(width_m, speed_m_s, cut))

    def grasp(self, goal: GraspGoal) -> GripperResult:
        return self._with_hand(lambda hand, cut: hand.grasp(goal, cut), grips=True)

    def home_gripper(self) -> GripperResult:
        return self._with_hand(lambda hand, cut: hand.home(cut), homes=True)

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        end_s = time.monotonic() + patience_s
        while True:
            reading = self._link.read()
            condition = RobotCondition(
                controllers_active=not self._down,
                hardware_active=not self._down,
                mode=reading.mode,
                current_errors=reading.current_errors,
                last_errors=reading.last_errors,
            )
            if not condition.able or time.monotonic() >= end_s:
                return condition
            time.sleep(POLL_S)

    def clear_errors(self) -> None:
        self._need('automatic_error_recovery')

    def activate_hardware(self) -> None:
        """Do nothing: the connection is the hardware component, and up."""

    def activate_broadcasters(self) -> None:
        """Do nothing: states come as long as the connection is up."""

    def wait_fresh(self, timeout_s: float) -> None:
        if self._newer(timeout_s) is None:
            raise RecoveryError(f'the robot sent no state within {timeout_s:g} s.')

    def activate_controller(self) -> None:
        mode = self._fresh().mode
        if mode is not RobotMode.IDLE:
            raise RecoveryError(f'{MODES[mode]}, and a robot that is idle would do.')
        self._down = False

    @property
    def contact_limits(self) -> ContactLimits | None:
        return self._limited

    def limit_contacts(self, limits: ContactLimits) -> None:
        self._need(
            'set_collision_behavior',
            list(limits.contact_joint_nm),
            list(limits.collision_joint_nm),
            list(limits.contact_wrench),
            list(limits.collision_wrench),
        )
        self._limited = limits

    def wait(self, duration_s: float) -> None:
        end_s, was_able = time.monotonic() + duration_s, self.condition().able
        while not self._stopped.is_set():
            left_s = end_s - time.monotonic()
            if left_s <= 0 or (was_able and not self.condition().able):
                return
            time.sleep(min(IDLE_S, left_s))
        self._stopped.clear()

    def begin(self) -> None:
        self._stopped.clear()
        self.reconnect()

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        """End the connection; an arm that moves brakes first."""
        if self._hand is not None:
            self._hand.close()
        self._link.close()

    def _follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        is_cut: Callable[[], bool],
        on_begun: Callable[[float], None] = lambda begun_s: None,
        on_amended: Callable[[bool], None] = lambda amended: None,
        *,
        lasts_s: float = 0.0,
    ) -> FollowResult:
        """Follow a trajectory to its end; a stop, *is_cut* or its time cancels it."""
        if (refusal := self._refusal(trajectory)) is not None:
            return refusal
        self._link.send(Word.FOLLOW, trajectory, tolerances)
        limit_s = max(trajectory.duration_s, lasts_s) + tolerances.goal_time_s + GIVE_UP_S
        # On the robot's clock, which a simulation on a busy computer lets pass more slowly.
        begun_s, cancelled, late = None, False, False
        end_s = self._robot_s() + limit_s
        while True:
            try:
                word, *values = self._link.take(POLL_S)
            except queue.Empty:
                pass
            else:
                if word is Word.BEGUN:
                    begun_s = float(values[0])
                    end_s = begun_s + limit_s
                    on_begun(begun_s)
                elif word is Word.AMENDED:
                    on_amended(values[0])
                elif word is Word.ENDED:
                    break
            now_s = self._robot_s()
            if begun_s is not None and now_s > begun_s + RATE_S:
                self._watch_rate()
            if now_s > end_s:
                if cancelled:
                    text = f'The robot gave no result within {limit_s:.1f} s.'
                    return FollowResult(status=GoalStatus.ENDLESS, error_string=text)
                late = True
            cut = late or self._stopped.is_set() or is_cut()
            if begun_s is not None and cut and not cancelled:
                self._link.send(Word.CANCEL)
                cancelled, end_s = True, now_s + STOP_S
        self._acted_s = time.monotonic()
        result: FollowResult = values[0]
        if result.status is GoalStatus.ABORTED and result.error_code is FollowError.INVALID_GOAL:
            self._down = True
        if late and result.status is GoalStatus.CANCELED:
            return replace(result, status=GoalStatus.TIMED_OUT)
        return result

    def _robot_s(self) -> float:
        """Return the robot's own clock [s]."""
        return self._link.read().robot_s

    def _refusal(self, trajectory: JointTrajectory) -> FollowResult | None:
        """Return why a trajectory is not sent; None where it may be."""
        if self._stopped.is_set():
            return FollowResult(status=GoalStatus.CANCELED)
        reading = self._fresh()
        if self._down or reading.mode is not RobotMode.IDLE:
            return _refused(f'{MODES[reading.mode]}.')
        off_rad = np.abs(trajectory.position_rad[0] - reading.set_point_rad)
        if off_rad.max() > START_RAD:
            joint = int(off_rad.argmax())
            return _refused(
                f'The motion begins {np.degrees(off_rad[joint]):.1f} degrees from where joint '
                f'{joint + 1} is; one that begins where the arm is would be taken.'
            )
        return None

    def _open(self, fingers: FingerMove, given_up: threading.Event) -> GripperResult:
        assert self._hand is not None

        def is_cut() -> bool:
            return given_up.is_set() or self._stopped.is_set() or not self.condition().able

        return self._hand.move(fingers.width_m, fingers.speed_m_s, is_cut)

    def _with_hand(
        self,
        run: Callable[[HandLink, Callable[[], bool]], GripperResult],
        *,
        grips: bool = False,
        homes: bool = False,
    ) -> GripperResult:
        if (refused := self._unusable_hand(homes=homes)) is not None:
            return refused
        hand = self._hand
        assert hand is not None  # it is usable
        if not self.condition().able:
            return GripperResult(status=GoalStatus.REJECTED, begun=False)
        sent_m = hand.width_m

        def is_cut() -> bool:
            if self._stopped.is_set():
                return True
            return not self.condition().able and may_be_cut(sent_m, hand.width_m, grips=grips)

        try:
            if self._stopped.is_set():
                return GripperResult(status=GoalStatus.CANCELED, begun=False)
            return run(hand, is_cut)
        finally:
            self._acted_s = time.monotonic()
            self._stopped.clear()

    def need_hand(self) -> None:
        """Raise UnhomedError where there is a hand that has to be homed before it moves."""
        if self._hand is not None:
            self._hand.need_homed(self._robot.hand)

    def _unusable_hand(self, *, homes: bool = False) -> GripperResult | None:
        """Return why the hand is not moved; None where it may be, or where that *homes* it."""
        if self._hand is None:
            text = 'The robot was stated to have no hand.'
        elif homes:
            return None
        else:
            try:
                self.need_hand()
            except UnhomedError as error:
                text = str(error)
            else:
                return None
        return GripperResult(status=GoalStatus.REJECTED, begun=False, error=text)

    def _fresh(self) -> RobotReading:
        """Return a state that was measured after now, or the newest where none comes."""
        return self._newer(FRESH_S) or self._link.read()

    def _newer(self, timeout_s: float) -> RobotReading | None:
        since_s = time.monotonic()
        while (reading := self._link.read()).host_s <= since_s:
            if time.monotonic() > since_s + timeout_s:
                return None
            time.sleep(POLL_S / 4)
        return reading

    def _need(self, name: str, *values: object) -> None:
        """Call the robot; raises RecoveryError where it refuses."""
        if refused := self._link.call(name, *values):
            raise RecoveryError(refused)

    def _watch_rate(self) -> None:
        reading = self._link.read()
        rate = reading.success_rate
        if reading.mode is not RobotMode.MOVE:
            return
        if rate < GOOD_RATE <= self.lowest_rate:  # once
            LOG.warning(
                f'The robot got {rate:.0%} of the commands in time: this computer or its network '
                'is too busy. Below about 80 % it stops the motion.'
            )
        self.lowest_rate = min(self.lowest_rate, rate)

    def _check_joints(self) -> None:
        if self._link.read().mode is RobotMode.OTHER:
            raise LockedError(
                f'{MODES[RobotMode.OTHER]} (https://{self._address}), and activate FCI there.'
            )


def check_load(set_kg: float, stated_kg: float) -> None:
    """Raise LoadError where the load that is set in a robot is not the one that was stated."""
    if abs(set_kg - stated_kg) > SAME_KG:
        raise LoadError(
            f'The robot has a load of {set_kg:g} kg set, and {stated_kg:g} kg was stated.',
            'Set it in Desk, or state with --load what is mounted.',
        )


MODES = {
    RobotMode.OTHER: 'The robot is not ready: unlock the joints in Desk',
    RobotMode.IDLE: 'The robot stopped and was not recovered yet',
    RobotMode.MOVE: 'Another motion is under way',
    RobotMode.GUIDING: 'The robot is guided by hand: release the button at its hand',
    RobotMode.REFLEX: 'A reflex has stopped the robot',
    RobotMode.USER_STOPPED: 'The user stop is pressed',
    RobotMode.AUTOMATIC_ERROR_RECOVERY: 'The robot recovers from an error',
}
"""Why a robot takes no motion, by its mode."""


def _refused(text: str) -> FollowResult:
    return FollowResult(
        status=GoalStatus.REJECTED, error_code=FollowError.INVALID_GOAL, error_string=text
    )


def _never() -> bool:
    return False
