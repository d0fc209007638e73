"""The arm behind the ROS interfaces of franka_ros2, or of `mujoco_sim`, which serves the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from control_msgs.action import FollowJointTrajectory
from controller_manager_msgs.srv import SetHardwareComponentState, SwitchController
from franka_msgs.action import ErrorRecovery, Grasp, Homing, Move
from franka_msgs.msg import FrankaRobotState
from lifecycle_msgs.msg import State
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.arm.driver import (
    FollowResult,
    GoalStatus,
    GripperResult,
    JointState,
    JointTrajectory,
    Recovery,
    StopCause,
    Tolerances,
)
from bbllm.core.errors import WorldError
from bbllm.nodes.action_call import ActionCall
from bbllm.nodes.convert_arm import duration_to_msg, follow_error, trajectory_to_goal
from bbllm.nodes.joint_feed import JointFeed
from bbllm.nodes.polling import Poller
from bbllm.nodes.waiting import wait_for

MARGIN_S = 3.0
"""How much longer than it may take a trajectory is waited for, on the world's clock [s]."""
GRIPPER_S = 20.0
"""Wall time that a goal of the hand may take [s]."""
RECOVERY_S = 10.0
NEVER_S = 3600.0
"""Wall time after which even a slow simulation is given up [s]."""
HARDWARE = 'FrankaHardwareInterface'
MODE_S = 0.3
"""How long after a stop the robot's mode may take to tell why [s]."""
CAUSES = {
    FrankaRobotState.ROBOT_MODE_REFLEX: StopCause.REFLEX,
    FrankaRobotState.ROBOT_MODE_USER_STOPPED: StopCause.USER_STOP,
}
BROADCASTERS = ('joint_state_broadcaster', 'franka_robot_state_broadcaster')


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
        """
        Make the clients; waits for nobody.

        Args:
            node: Whose clients they are.
            poller: Reads the joint states.
            group: Callback group, reentrant.
            controller: Name of the joint trajectory controller.
            gripper: Prefix of the names of the hand.
            state_timeout_s: Silence after which the driver counts as gone [s].
        """
        self._controller = controller
        self.feed = JointFeed(node, poller, gripper, state_timeout_s)

        def action(kind: Any, name: str, server: str) -> ActionCall:
            return ActionCall(node, kind, name, server, group)

        self._follow = action(
            FollowJointTrajectory, f'{controller}/follow_joint_trajectory', controller
        )
        self._move = action(Move, f'{gripper}/move', gripper)
        self._grasp = action(Grasp, f'{gripper}/grasp', gripper)
        self._home = action(Homing, f'{gripper}/homing', gripper)
        self._recovery = action(ErrorRecovery, 'action_server/error_recovery', 'action_server')
        manager = 'controller_manager'
        self._set_hardware = node.create_client(
            SetHardwareComponentState,
            f'{manager}/set_hardware_component_state',
            callback_group=group,
        )
        self._switch = node.create_client(
            SwitchController, f'{manager}/switch_controller', callback_group=group
        )
        self._stopped = threading.Event()
        self._news = threading.Condition()
        self._mode = FrankaRobotState.ROBOT_MODE_OTHER
        poller.subscribe(FrankaRobotState, f'{BROADCASTERS[1]}/robot_state', self._hear_state, 1)
        self.acted_s = 0.0
        """The world's clock when the last motion or wait had ended: what was seen earlier may not
        show what it did [s]."""

    def now_s(self) -> float:
        """Return the stamp of the newest joint state: the driver's clock is the world's [s]."""
        return self.joint_state().stamp_s

    def joint_state(self) -> JointState:
        """Return the newest measured state."""
        return self.feed.newest()

    def follow(self, trajectory: JointTrajectory, tolerances: Tolerances) -> FollowResult:
        """Follow a trajectory to its end; cancelled when the controller never ends."""
        limit_s = trajectory.duration_s + tolerances.goal_time_s + MARGIN_S
        begun_s = self.now_s()

        def look() -> None:
            passed_s = self.now_s() - begun_s
            if passed_s > limit_s:
                raise TimeoutError(f'The controller did not end within {passed_s:.1f} s.')

        goal = trajectory_to_goal(trajectory, tolerances)
        try:
            status, result = self._run(self._follow, goal, NEVER_S, look)
        except TimeoutError as error:
            return FollowResult(status=GoalStatus.ABORTED, error_string=str(error))
        finally:
            self.acted_s = self.feed.newest_stamp_s
        if result is None:
            return FollowResult(
                status=status, error_string=f'{self._controller} rejected the trajectory.'
            )
        return FollowResult(
            status=status,
            error_code=follow_error(result.error_code),
            error_string=result.error_string,
        )

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        """Open or close the fingers to a width, without gripping."""
        return self._gripper(self._move, Move.Goal(width=width_m, speed=speed_m_s))

    def grasp(
        self,
        width_m: float,
        speed_m_s: float,
        force_n: float,
        epsilon_inner_m: float,
        epsilon_outer_m: float,
    ) -> GripperResult:
        """Close with a force; success when the width ends inside the epsilon window."""
        goal = Grasp.Goal(width=width_m, speed=speed_m_s, force=force_n)
        goal.epsilon.inner = epsilon_inner_m
        goal.epsilon.outer = epsilon_outer_m
        return self._gripper(self._grasp, goal)

    def home_gripper(self) -> GripperResult:
        """Close and open once to find the widest opening."""
        return self._gripper(self._home, Homing.Goal())

    def recover(self) -> Recovery:
        """
        Clear the error; bring hardware, broadcasters and controller back, in this order.

        The cause stays unknown where the broadcaster went down before it could tell the mode.
        """
        with self._news:
            self._news.wait_for(lambda: self._mode in CAUSES, MODE_S)
            cause = CAUSES.get(self._mode, StopCause.UNKNOWN)
        return Recovery(recovered=self._bring_back(), cause=cause)

    def _bring_back(self) -> bool:
        status, _ = self._recovery.run(ErrorRecovery.Goal(), RECOVERY_S)
        if status is not GoalStatus.SUCCEEDED:
            return False
        target = State(id=State.PRIMARY_STATE_ACTIVE, label='active')
        request = SetHardwareComponentState.Request(name=HARDWARE, target_state=target)
        if not self._ask(self._set_hardware, request, 'set_hardware_component_state').ok:
            return False
        switch = SwitchController.Request(
            activate_controllers=[*BROADCASTERS, self._controller],
            strictness=SwitchController.Request.BEST_EFFORT,
            timeout=duration_to_msg(RECOVERY_S),
        )
        return bool(self._ask(self._switch, switch, 'switch_controller').ok)

    def wait(self, duration_s: float) -> None:
        """Let time pass on the world's clock; returns early after `stop` [s]."""
        self.feed.wait_until(self.now_s() + duration_s, self._stopped)
        self._stopped.clear()
        self.acted_s = self.feed.newest_stamp_s

    def begin(self) -> None:
        """Forget a stop that came while nothing ran."""
        self._stopped.clear()

    def stop(self) -> None:
        """Cancel whatever runs, from any thread; with nothing running, the next motion."""
        self._stopped.set()
        for action in (self._follow, self._move, self._grasp, self._home):
            action.cancel()

    def _hear_state(self, msg: FrankaRobotState) -> None:
        with self._news:
            self._mode = msg.robot_mode
            self._news.notify_all()

    def _gripper(self, action: ActionCall, goal: Any) -> GripperResult:
        status, result = self._run(action, goal, GRIPPER_S, self.feed.check)
        if result is None:
            return GripperResult(status=status, error='The hand rejected the goal.')
        width_m = self.feed.wait_for_width(0.5)
        self.acted_s = self.feed.newest_stamp_s
        return GripperResult(
            status=status, success=result.success, error=result.error, width_m=width_m
        )

    def _run(
        self, action: ActionCall, goal: Any, timeout_s: float, look: Callable[[], None]
    ) -> tuple[GoalStatus, Any]:
        """Send a goal and wait for its end, which comes at once where a stop was first."""

        def accepted() -> None:
            if self._stopped.is_set():
                action.cancel()

        try:
            return action.run(goal, timeout_s, look=look, on_accepted=accepted)
        finally:
            self._stopped.clear()

    def _ask(self, client: Any, request: Any, name: str) -> Any:
        if not client.service_is_ready():
            raise WorldError(f'Nobody serves controller_manager/{name}, which recovery needs.')
        return wait_for(client.call_async(request), f'controller_manager/{name}', RECOVERY_S)
