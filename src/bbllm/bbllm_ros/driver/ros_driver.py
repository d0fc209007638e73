"""
The arm behind the ROS interfaces of franka_ros2, or of `mujoco_sim`, which serves the same.

`RosDriver` sends goals, observes the robot, and has the steps of its recovery.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.srv import (
    ListControllers,
    SetHardwareComponentState,
    SwitchController,
)
from franka_msgs.action import ErrorRecovery, Grasp, Homing, Move
from franka_msgs.msg import Errors, FrankaRobotState
from franka_msgs.srv import SetForceTorqueCollisionBehavior
from lifecycle_msgs.msg import State
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.arm.driver import (
    Amendment,
    Array,
    ContactLimits,
    FingerMove,
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
from bbllm.arm.stop_causes import hardware_is_up
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import SAME_S
from bbllm.core.errors import LostNodeError, WorldError
from bbllm.robots.fr3 import FR3
from bbllm_ros.convert.arm import duration_to_msg, follow_error, trajectory_to_goal
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.convert.serialized import StampedMessage
from bbllm_ros.driver.activity_feed import JOINT_BROADCASTER, MANAGER, STATE_BROADCASTER
from bbllm_ros.driver.force_feed import PullFeed
from bbllm_ros.driver.joint_feed import MANAGER_S, JointFeed
from bbllm_ros.rclpy_support.calls import (
    ANSWER_S,
    ActionCall,
    ServiceCall,
    need_server,
    never,
    not_begun,
    nothing,
    wait_for,
)
from bbllm_ros.rclpy_support.fast_subscription import LatestMessage, Poller

MARGIN_S = 3.0
"""How much longer than it may take a trajectory is waited for, on the world's clock [s]."""
GRIPPER_S = 20.0
"""Wall time that a goal of the hand may take [s]."""
NEWS_S = 0.06
"""How long to wait for the next joint states before a goal is sent [s]."""
RECENT_S = 0.015
"""
Age up to which joint states show how the robot is now, wall clock: that of the newest where the
driver sends a hundred a second, and no more than what a goal takes to arrive [s].
"""
NEVER_S = 3600.0
"""Wall time after which even a slow simulation is given up [s]."""

SET_POINT_S = 1.0
"""How long the set point of an arm at rest is waited for, wall clock [s]."""
RECOVERY_S = 10.0
STATE_S = 1.0
"""How long the first state of the robot after a recovery may take, wall clock [s]."""
PARAMETERS = 'service_server'
SET_LIMITS = f'{PARAMETERS}/set_force_torque_collision_behavior'
SET_HARDWARE = f'{MANAGER}/set_hardware_component_state'
SWITCH = f'{MANAGER}/switch_controller'
ERRORS = tuple(Errors.get_fields_and_field_types())


class RosDriver:
    """ArmDriver over ROS actions; its node must be spun by other threads."""

    robot_model = FR3

    def __init__(
        self,
        node: Node,
        poller: Poller,
        group: CallbackGroup,
        *,
        controller: str = 'fr3_arm_controller',
        gripper: str = 'franka_gripper',
        state_timeout_s: float = 2.0,
    ):
        self._controller = controller
        self.feed = JointFeed(node, poller, gripper, state_timeout_s)

        def action(kind: Any, name: str, server: str) -> ActionCall:
            return ActionCall(node, kind, name, server, group)

        self._recovery = action(ErrorRecovery, 'action_server/error_recovery', 'action_server')
        self._clients = {
            name: node.create_client(kind, name, callback_group=group)
            for name, kind in (
                (SET_HARDWARE, SetHardwareComponentState),
                (SWITCH, SwitchController),
                (SET_LIMITS, SetForceTorqueCollisionBehavior),
            )
        }
        # Made after the clients above. The driver is one process, and hears of the clients of
        # a process in their order: where it answers this one, its answers to the others arrive.
        self._manager = ServiceCall(
            node, ListControllers, f'{MANAGER}/list_controllers', MANAGER, group
        )
        self._limited: tuple[int, ContactLimits] | None = None
        self.user_stops = 0
        """How often the user stop was pressed."""
        self._user_stopped = False
        topic = f'{STATE_BROADCASTER}/robot_state'
        self._state = LatestMessage(node, poller, FrankaRobotState, topic, take=self._take_state)
        self._reference = LatestMessage(
            node,
            poller,
            JointTrajectoryControllerState,
            f'{controller}/controller_state',
            read=partial(StampedMessage, JointTrajectoryControllerState),
        )
        self._pull = PullFeed(poller)
        self._poller = poller
        self._follow = action(
            FollowJointTrajectory, f'{controller}/follow_joint_trajectory', controller
        )
        self._move = action(Move, f'{gripper}/move', gripper)
        self._grasp = action(Grasp, f'{gripper}/grasp', gripper)
        self._home = action(Homing, f'{gripper}/homing', gripper)
        self._stopped = threading.Event()
        self.may_send: Callable[[], None] = nothing
        """Called before each goal; raises where none may be sent."""
        self.on_wait: Callable[[float], None] = lambda _: None
        """Called before each wait with its end on the world's clock [s]."""
        self.on_follow: Callable[[Any], None] = lambda _: None
        """Called with each trajectory that the controller has accepted."""
        self.acted_s = 0.0
        """The world's clock when the last motion or wait had ended: what was seen earlier may not
        show what it did [s]."""

    def watch_others(self, report: Callable[[], None]) -> None:
        """Call *report* for each goal of arm or hand that another client has sent."""
        for action in (self._follow, self._move, self._grasp, self._home):
            action.on_other = report

    def now_s(self) -> float:
        """Return the stamp of the newest joint state [s]; it stands while the robot is stopped."""
        return self.feed.newest_stamp_s if self.feed.stopped else self.joint_state().stamp_s

    def joint_state(self) -> JointState:
        return self.feed.newest()

    def set_point(self) -> Array | None:
        self._poller.take()
        if not self._reference.wait_for(lambda: self._resting() is not None, SET_POINT_S):
            return None
        return self._resting()

    def _resting(self) -> Array | None:
        """Return the newest set point, where it is at rest since the last motion [rad]."""
        newest = self._reference.message
        if newest is None or newest.stamp_s < self.acted_s - SAME_S:
            return None
        state = newest.message
        place = dict(zip(state.joint_names, state.reference.positions))
        if any(state.reference.velocities) or not place.keys() >= set(FR3.joints):
            return None
        return np.array([place[joint] for joint in FR3.joints])

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        hurrying = nullcontext() if stop_condition is None else self._poller.hurrying()
        with hurrying, self._pull.meter.watched_by(lambda: self._ended_where(stop_condition)):
            try:
                return self._follow_to_end(trajectory, tolerances)
            finally:
                self._stopped.clear()

    def follow_amended(
        self, trajectory: JointTrajectory, tolerances: Tolerances, amendment: Amendment
    ) -> tuple[FollowResult, bool]:
        # When a goal without a stamp began is not known here; an amendment that takes another time
        # for it would make the set point jump. So the arm stops where it would be amended.
        return self.follow(trajectory, tolerances), False

    def move_both(
        self, trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        goal = Move.Goal(width=fingers.width_m, speed=fingers.speed_m_s)
        sent: list[Future[GripperResult]] = []
        given_up, due_s, late = threading.Event(), float('inf'), False

        def begin() -> None:
            nonlocal due_s
            due_s = self.feed.newest_stamp_s + fingers.due_s
            sent.append(pool.submit(self._move_fingers, self._move, goal, given_up.is_set))

        def on_poll() -> None:
            nonlocal late
            if not late and self.feed.newest_stamp_s >= due_s and not _arrived(sent[0]):
                late = True
                self._follow.cancel()

        try:
            with ThreadPoolExecutor(1, 'fingers') as pool:  # whose end waits for the fingers
                followed = FollowResult(status=GoalStatus.ABORTED)
                try:
                    followed = self._follow_to_end(trajectory, tolerances, begin, on_poll)
                finally:
                    if followed.status is not GoalStatus.SUCCEEDED:
                        given_up.set()  # before it is sent, or by a cancel
                        self._move.cancel()
        finally:
            self._stopped.clear()
        if not sent:
            return followed, GripperResult(status=GoalStatus.REJECTED, begun=False)
        moved = sent[0].result()
        if late and moved.status is GoalStatus.CANCELED:
            moved = replace(moved, status=GoalStatus.TIMED_OUT)
        return followed, moved

    def _follow_to_end(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        on_accepted: Callable[[], None] = nothing,
        on_poll: Callable[[], None] = nothing,
    ) -> FollowResult:
        limit_s = trajectory.duration_s + tolerances.goal_time_s + MARGIN_S
        goal = trajectory_to_goal(trajectory, tolerances)

        def accepted() -> None:
            on_accepted()
            self.on_follow(goal.trajectory)

        try:
            status, result = self._run(
                self._follow, goal, limit_s, self.now_s, on_accepted=accepted, on_poll=on_poll
            )
        finally:
            self.acted_s = self.feed.newest_stamp_s
        if status in (GoalStatus.TIMED_OUT, GoalStatus.ENDLESS):
            text = f'{self._controller} gave no result within {limit_s:.1f} s.'
            return FollowResult(status=status, error_string=text)
        if result is None:
            text = not_begun(status, 'the trajectory', self._controller)
            return FollowResult(status=status, error_string=text)
        return FollowResult(
            status=status,
            error_code=follow_error(result.error_code),
            error_string=result.error_string,
        )

    def vertical_force_n(self, *, settled: bool = False) -> float | None:
        return self._pull.settled_n(self.acted_s) if settled else self._pull.meter.mean_n()

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        return self._gripper(self._move, Move.Goal(width=width_m, speed=speed_m_s))

    def grasp(self, goal: GraspGoal) -> GripperResult:
        asked = Grasp.Goal(width=goal.width_m, speed=goal.speed_m_s, force=goal.force_n)
        asked.epsilon.inner, asked.epsilon.outer = goal.inner_m, goal.outer_m
        return self._gripper(self._grasp, asked)

    def home_gripper(self) -> GripperResult:
        return self._gripper(self._home, Homing.Goal())

    @property
    def stops(self) -> int:
        """How often the robot was seen to stop, or its driver to begin anew."""
        self._poller.refresh()
        return self.feed.activity.stops + self.feed.beginnings + self.user_stops

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        """
        Return the condition of the robot.

        Joint states that come are as good as an answer of the controller manager, which is asked
        only where they stay away, or where a stop is expected.
        """
        self._poller.refresh()
        activity = self.feed.activity
        if patience_s > 0:
            activity.wait_for_stop(self._controller, patience_s)
        elif self.feed.quiet:
            activity.wait_for_answer(MANAGER_S)
            if not activity.states_are_down:
                self.feed.need_news()
        names = (self._controller, JOINT_BROADCASTER)
        answered = True
        if activity.hardware_active and not all(map(activity.is_active, names)):
            # The answer about the hardware comes by itself, maybe later.
            answered = activity.wait_for_answer(MANAGER_S)
        active = all(map(activity.is_active, names))
        state = self._state.message
        return RobotCondition(
            controllers_active=active,
            hardware_active=hardware_is_up(
                shown=activity.hardware_active, answered=answered, controllers_active=active
            ),
            mode=None if state is None else RobotMode(state.robot_mode),
            current_errors=() if state is None else errors_from_msg(state.current_errors),
            last_errors=() if state is None else errors_from_msg(state.last_motion_errors),
        )

    def clear_errors(self) -> None:
        self.may_send()
        self._step(self._find)
        status, _ = self._step(lambda: self._recovery.run(ErrorRecovery.Goal(), RECOVERY_S))
        if status is not GoalStatus.SUCCEEDED:
            raise RecoveryError("the robot refused it; see the driver's log.")
        self._state.message = None  # what was heard before tells of what was cleared

    def activate_hardware(self) -> None:
        self.may_send()
        request = SetHardwareComponentState.Request(
            name=self.feed.activity.hardware,
            target_state=State(id=State.PRIMARY_STATE_ACTIVE, label='active'),
        )
        reply = self._step(lambda: self._ask(SET_HARDWARE, request))
        if not reply.ok:
            raise RecoveryError(f'{request.name} stayed {reply.state.label or "as it was"}.')

    def activate_broadcasters(self) -> None:
        self.may_send()
        self._activate(JOINT_BROADCASTER, STATE_BROADCASTER)

    def wait_fresh(self, timeout_s: float) -> None:
        self._poller.take()
        self._state.message = None
        # The first one may have been under way before this was called.
        if not self.feed.wait_for_news(timeout_s, n=2):
            raise RecoveryError(f'there were no joint states within {timeout_s:g} s.')
        since_s = self.feed.newest_stamp_s
        # Not every driver has this broadcaster.
        self._state.wait_for(lambda: self._state_is_since(since_s), STATE_S)
        self.acted_s = self.feed.newest_stamp_s

    def _state_is_since(self, stamp_s: float) -> bool:
        state = self._state.message
        return state is not None and stamp_from_msg(state.header.stamp) >= stamp_s - SAME_S

    def activate_controller(self) -> None:
        self.may_send()
        self._activate(self._controller)

    @property
    def contact_limits(self) -> ContactLimits | None:
        """What was set last, where the joint states have gone on without a break since."""
        if self._limited is None or self._limited[0] != self.feed.beginnings:
            return None
        return self._limited[1]

    def limit_contacts(self, limits: ContactLimits) -> None:
        self.may_send()
        try:  # not to find out with the controller down
            need_server(self._clients[SET_LIMITS].service_is_ready, PARAMETERS)
        except LostNodeError as error:
            raise RecoveryError(f'nobody serves {SET_LIMITS}.') from error
        self._need_answer()
        was_active = self.feed.activity.is_active(self._controller)
        if was_active:
            problem = f'{self._controller} did not become inactive'
            self._switch_controllers(problem, down=[self._controller])
        try:
            beginnings = self.feed.beginnings
            self._send_limits(limits)
            self._limited = (beginnings, limits)
        finally:
            if was_active:
                self._activate(self._controller)

    def wait(self, duration_s: float) -> None:
        until_s = self.now_s() + duration_s
        self.on_wait(until_s)
        self.feed.wait_until(until_s, self._stopped)
        self._stopped.clear()
        self.acted_s = self.feed.newest_stamp_s

    def begin(self) -> None:
        self._stopped.clear()

    def stop(self) -> None:
        self._stopped.set()
        for action in (self._follow, self._move, self._grasp, self._home):
            action.cancel()

    def _ended_where(self, stop_condition: Callable[[], bool] | None) -> bool:
        """Cancel the motion where it is to end, in the force's thread; return whether it was."""
        return stop_condition is not None and stop_condition() and self._follow.cancel()

    def _gripper(self, action: ActionCall, goal: Any) -> GripperResult:
        try:
            return self._move_fingers(action, goal)
        finally:
            self._stopped.clear()

    def _move_fingers(
        self, action: ActionCall, goal: Any, should_abort: Callable[[], bool] = never
    ) -> GripperResult:
        sent_m = self.feed.newest().width_m

        def may_cut() -> bool:
            return may_be_cut(sent_m, self.feed.newest().width_m, grips=action is self._grasp)

        status, result = self._run(
            action, goal, GRIPPER_S, time.monotonic, may_cut, should_abort=should_abort
        )
        if status in (GoalStatus.TIMED_OUT, GoalStatus.ENDLESS):
            text = f'The hand gave no result within {GRIPPER_S:.0f} s.'
            return GripperResult(status=status, error=text, width_m=self.feed.newest().width_m)
        if result is None:
            text = not_begun(status, 'the motion of the fingers', 'The hand')
            return GripperResult(status=status, begun=False, error=text)
        width_m = self.feed.wait_for_width(0.5)
        self.acted_s = self.feed.newest_stamp_s
        return GripperResult(
            status=status, success=result.success, error=result.error, width_m=width_m
        )

    def _run(
        self,
        action: ActionCall,
        goal: Any,
        limit_s: float,
        clock: Callable[[], float],
        may_cut: Callable[[], bool] | None = None,
        *,
        should_abort: Callable[[], bool] = never,
        on_accepted: Callable[[], None] = nothing,
        on_poll: Callable[[], None] = nothing,
    ) -> tuple[GoalStatus, Any]:
        """
        Send a goal and wait for its end; it is cancelled after *limit_s* of *clock* [s].

        It is not sent where a stop or *should_abort* was first (cancelled), nor where the robot
        has stopped (rejected). *look* is called every now and then while it runs.
        """
        self.may_send()
        if not self._is_able_for(action):
            return GoalStatus.REJECTED, None
        watch = GoalWatch(self.feed, action, limit_s, clock, may_cut=may_cut)

        def check() -> None:
            on_poll()
            watch()

        try:
            status, result = action.run(
                goal,
                NEVER_S,
                cancel=CancelToken(check),
                should_abort=lambda: self._stopped.is_set() or should_abort(),
                on_accepted=on_accepted,
            )
        except TimeoutError:
            return GoalStatus.ENDLESS, None
        self._poller.take()  # what came until its end
        late = watch.late and status is not GoalStatus.SUCCEEDED
        return (GoalStatus.TIMED_OUT if late else status), result

    def _is_able_for(self, action: ActionCall) -> bool:
        """Return whether the robot takes goals when they have a server, or a stop came before."""
        able = self._is_able_now()
        if able and not action.ready:
            action.need_server(self._stopped.is_set)
            able = self._is_able_now()  # that may have taken long
        return able

    def _is_able_now(self) -> bool:
        """
        Return whether the robot takes goals, by a state that came within `RECENT_S`.

        Any older one may be as old as it takes to count as silent; a goal that is sent on its word
        may come to a robot that a person has stopped since.
        """
        self._poller.take()
        if not 0.0 <= time.time() - self.feed.came_s <= RECENT_S:
            self.feed.wait_for_news(NEWS_S)
        return self.condition().able

    def _activate(self, *names: str) -> None:
        """Activate those controllers that are loaded and not active."""
        activity = self.feed.activity
        self._need_answer()
        loaded = [name for name in names if activity.knows(name)]
        asleep = [name for name in loaded if not activity.is_active(name)]
        if not loaded:
            raise RecoveryError(f'{names[0]} is not loaded.')
        if asleep:
            self._switch_controllers(f'{", ".join(asleep)} did not become active', up=asleep)

    def _send_limits(self, limits: ContactLimits) -> None:
        request = SetForceTorqueCollisionBehavior.Request(
            lower_torque_thresholds_nominal=limits.contact_joint_nm,
            upper_torque_thresholds_nominal=limits.collision_joint_nm,
            lower_force_thresholds_nominal=limits.contact_wrench,
            upper_force_thresholds_nominal=limits.collision_wrench,
        )
        reply = self._step(lambda: self._ask(SET_LIMITS, request))
        if not reply.success:
            raise RecoveryError(reply.error or 'it refused them and gave no reason.')

    def _switch_controllers(
        self, problem: str, *, up: Sequence[str] = (), down: Sequence[str] = ()
    ) -> None:
        request = SwitchController.Request(
            activate_controllers=up,
            deactivate_controllers=down,
            strictness=SwitchController.Request.STRICT,
            timeout=duration_to_msg(RECOVERY_S),
        )
        reply = self._step(lambda: self._ask(SWITCH, request))
        if not reply.ok:
            reason = getattr(reply, 'message', '') or 'no reason was given.'
            raise RecoveryError(f'{problem}: {reason}')
        self._need_answer()

    def _need_answer(self) -> None:
        if not self.feed.activity.wait_for_answer(MANAGER_S):
            raise RecoveryError(f'{MANAGER} did not answer within {MANAGER_S:g} s.')

    @staticmethod
    def _step(step: Callable[[], Any]) -> Any:
        """Turn a time-out into a RecoveryError; that a node has gone is no failure of a step."""
        try:
            return step()
        except LostNodeError:
            raise
        except WorldError as error:
            raise RecoveryError(str(error)) from error

    def _find(self) -> None:
        """Wait until no answer of the driver is lost any more; see `ServiceCall`."""
        self._manager.run(ListControllers.Request(), ANSWER_S)

    def _ask(self, name: str, request: Any) -> Any:
        server, _, service = name.partition('/')
        need_server(self._clients[name].service_is_ready, f'{server} ({service})')
        self._find()
        return wait_for(self._clients[name].call_async(request), name, RECOVERY_S)

    def _take_state(self, msg: FrankaRobotState) -> bool:
        was = self._user_stopped
        self._user_stopped = msg.robot_mode == FrankaRobotState.ROBOT_MODE_USER_STOPPED
        self.user_stops += self._user_stopped and not was
        return True


def _arrived(fingers: Future[GripperResult]) -> bool:
    return fingers.done() and fingers.exception() is None and fingers.result().success


def errors_from_msg(msg: Errors) -> tuple[str, ...]:
    return tuple(name for name in ERRORS if getattr(msg, name))


CANCEL_S = 3.0
"""How long a cancelled goal may take to end, and one of the arm when the robot stopped [s]."""


class GoalWatch:
    """
    Cancels a goal that takes longer than *limit_s* of *clock*, and leaves it when that is in vain.

    *clock* stands still while the robot is stopped, for the arm. *may_cut* is for a goal of the
    hand, which a stop of the robot does not end: whether it may be cancelled then.
    """

    def __init__(
        self,
        feed: JointFeed,
        action: ActionCall,
        limit_s: float,
        clock: Callable[[], float],
        *,
        may_cut: Callable[[], bool] | None = None,
    ) -> None:
        self.late = False
        """Whether it was cancelled because of its time."""
        self._feed, self._action, self._limit_s, self._clock = feed, action, limit_s, clock
        self._may_cut = may_cut
        self._begun_s = clock()
        self._leave_s = float('inf')

    def __call__(self) -> None:
        """Check once; raises TimeoutError where the goal does not even end when cancelled."""
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
