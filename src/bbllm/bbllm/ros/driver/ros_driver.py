"""The arm behind the ROS interfaces of franka_ros2, or of `mujoco_sim`, which serves the same."""

import threading
import time
from collections.abc import Callable
from typing import Any

from control_msgs.action import FollowJointTrajectory
from franka_msgs.action import Grasp, Homing, Move
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.arm.driver import (
    ContactLimits,
    FollowResult,
    GoalStatus,
    GraspGoal,
    GripperResult,
    JointState,
    JointTrajectory,
    RobotCondition,
    Tolerances,
    may_be_cut,
)
from bbllm.core.cancel import CancelToken
from bbllm.ros.convert.arm import follow_error, trajectory_to_goal
from bbllm.ros.driver.activity_feed import JOINT_BROADCASTER, STATE_BROADCASTER
from bbllm.ros.driver.force_feed import PullFeed
from bbllm.ros.driver.joint_feed import JointFeed
from bbllm.ros.driver.robot_client import RobotClient
from bbllm.ros.rclpy_support.calls import ActionCall, not_begun, nothing
from bbllm.ros.rclpy_support.fast_subscription import Poller

MARGIN_S = 3.0
"""How much longer than it may take a trajectory is waited for, on the world's clock [s]."""
GRIPPER_S = 20.0
"""Wall time that a goal of the hand may take [s]."""
NEWS_S = 0.06
"""How long to wait for the next joint states before a goal is sent [s]."""
NEVER_S = 3600.0
"""Wall time after which even a slow simulation is given up [s]."""


class RosDriver:
    """ArmDriver over ROS actions; its node must be spun by other threads."""

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
        self._robot = RobotClient(node, poller, group, self.feed, controller)
        self._pull = PullFeed(poller)

        def action(kind: Any, name: str, server: str) -> ActionCall:
            return ActionCall(node, kind, name, server, group)

        self._follow = action(
            FollowJointTrajectory, f'{controller}/follow_joint_trajectory', controller
        )
        self._move = action(Move, f'{gripper}/move', gripper)
        self._grasp = action(Grasp, f'{gripper}/grasp', gripper)
        self._home = action(Homing, f'{gripper}/homing', gripper)
        self._stopped = threading.Event()
        self.may_send: Callable[[], None] = nothing
        """Called before each goal; raises where none may be sent."""
        self.acted_s = 0.0
        """The world's clock when the last motion or wait had ended: what was seen earlier may not
        show what it did [s]."""

    def now_s(self) -> float:
        """Return the stamp of the newest joint state [s]; it stands while the robot is stopped."""
        return self.feed.newest_stamp_s if self.feed.stopped else self.joint_state().stamp_s

    def joint_state(self) -> JointState:
        return self.feed.newest()

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        limit_s = trajectory.duration_s + tolerances.goal_time_s + MARGIN_S
        goal = trajectory_to_goal(trajectory, tolerances)
        try:
            with self._pull.meter.heard_by(lambda: self._ended_where(stop_condition)):
                status, result = self._run(self._follow, goal, limit_s, self.now_s)
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
        return self.feed.activity.stops + self.feed.beginnings + self._robot.user_stops

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        return self._robot.condition(patience_s)

    def clear_errors(self) -> None:
        self.may_send()
        self._robot.clear_errors()

    def activate_hardware(self) -> None:
        self.may_send()
        self._robot.activate_hardware()

    def activate_broadcasters(self) -> None:
        self.may_send()
        self._robot.activate(JOINT_BROADCASTER, STATE_BROADCASTER)

    def wait_fresh(self, timeout_s: float) -> None:
        self._robot.wait_fresh(timeout_s)
        self.acted_s = self.feed.newest_stamp_s

    def activate_controller(self) -> None:
        self.may_send()
        self._robot.activate(self._controller)

    @property
    def contact_limits(self) -> ContactLimits | None:
        return self._robot.contact_limits

    def limit_contacts(self, limits: ContactLimits) -> None:
        self.may_send()
        self._robot.limit_contacts(limits)

    def wait(self, duration_s: float) -> None:
        self.feed.wait_until(self.now_s() + duration_s, self._stopped)
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
        sent_m = self.feed.newest().width_m

        def may_cut() -> bool:
            return may_be_cut(sent_m, self.feed.newest().width_m, grips=action is self._grasp)

        status, result = self._run(action, goal, GRIPPER_S, time.monotonic, may_cut)
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
    ) -> tuple[GoalStatus, Any]:
        """
        Send a goal and wait for its end; it is cancelled after *limit_s* of *clock* [s].

        It is not sent where a stop was first (cancelled), nor where the robot has stopped
        (rejected).
        """
        self.may_send()
        if not self._is_able_for(action):
            return GoalStatus.REJECTED, None
        watch = GoalWatch(self.feed, action, limit_s, clock, may_cut=may_cut)
        try:
            status, result = action.run(
                goal, NEVER_S, cancel=CancelToken(watch), should_abort=self._stopped.is_set
            )
        except TimeoutError:
            return GoalStatus.ENDLESS, None
        finally:
            self._stopped.clear()
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
        Return whether the robot takes goals, by a state that came after this was called.

        The newest state before may be as old as it takes to count as silent; a goal that is sent
        on its word may come to a robot that a person has stopped since.
        """
        self.feed.wait_for_news(NEWS_S)
        return self._robot.condition().able


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
