"""The simulated arm's trajectory controller over ROS: `fr3_arm_controller`."""

from __future__ import annotations

import threading

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from trajectory_msgs.msg import JointTrajectoryPoint

from bbllm.arm.driver import Array, FollowError, FollowResult, GoalStatus, JointState
from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.convert import header
from bbllm.nodes.convert_arm import BASE_FRAME, goal_to_record
from bbllm.nodes.process import StackNode
from bbllm.nodes.sim_loop import SimLoop
from bbllm.sim.trajectory_controller import Setpoint, TrajectoryPending
from bbllm.sim.trajectory_goal import refusal

CONTROLLER = 'fr3_arm_controller'
MONITOR_S = 0.05
"""Wall time between feedbacks: the driver's action_monitor_rate of 20 Hz [s]."""


class SimArm:
    """Serves `fr3_arm_controller/follow_joint_trajectory` with the driver's semantics."""

    def __init__(self, node: StackNode, loop: SimLoop):
        self._loop = loop
        self._log = node.get_logger()
        self._pending: dict[bytes, TrajectoryPending] = {}
        self._lock = threading.Lock()
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            f'{CONTROLLER}/follow_joint_trajectory',
            self._follow,
            goal_callback=self._accept,
            cancel_callback=self._cancel,
            callback_group=node.group,
        )

    def _accept(self, request: FollowJointTrajectory.Goal) -> GoalResponse:
        goal = goal_to_record(request, self._loop.to_sim_s)
        robot = self._loop.robot
        reason = refusal(goal, robot.time_s)
        if not robot.controllers_active:
            reason = 'the controller is not active.'
        if reason:
            # As with the real driver, the client only learns that it was rejected.
            self._log.warning(f'A trajectory was rejected: {reason}')
        return GoalResponse.REJECT if reason else GoalResponse.ACCEPT

    def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        key = bytes(handle.goal_id.uuid)
        with self._loop.goal():
            with self._lock:
                goal = goal_to_record(handle.request, self._loop.to_sim_s)
                pending = self._pending[key] = self._loop.robot.follow(goal)
            if handle.is_cancel_requested:
                self._loop.robot.cancel_follow()
            while not pending.wait(MONITOR_S):
                handle.publish_feedback(self._feedback())
        with self._lock:
            del self._pending[key]
        result = pending.result or FollowResult(status=GoalStatus.ABORTED)
        if result.status is GoalStatus.SUCCEEDED:
            handle.succeed()
        elif result.status is GoalStatus.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        code = result.error_code
        if result.status is GoalStatus.REJECTED:
            code = FollowError.INVALID_GOAL
        return FollowJointTrajectory.Result(error_code=int(code), error_string=result.error_string)

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        """Cancel the goal, unless a newer one has taken its place already."""
        with self._lock:
            pending = self._pending.get(bytes(handle.goal_id.uuid))
            if pending is not None and not pending.done:
                self._loop.robot.cancel_follow()
        return CancelResponse.ACCEPT

    def _feedback(self) -> FollowJointTrajectory.Feedback:
        robot = self._loop.robot
        state = controller_state(robot.set_point(), robot.joint_state(), self._loop.now_s)
        return FollowJointTrajectory.Feedback(
            header=state.header,
            joint_names=state.joint_names,
            desired=state.reference,
            actual=state.feedback,
            error=state.error,
        )


def controller_state(
    desired: Setpoint, measured: JointState, stamp_s: float
) -> JointTrajectoryControllerState:
    """Write what the controller wants, what it measures, and the difference."""
    return JointTrajectoryControllerState(
        header=header(stamp_s, BASE_FRAME),
        joint_names=list(ARM_JOINTS),
        reference=_point(desired.position_rad, desired.velocity_rad_s),
        feedback=_point(measured.position_rad, measured.velocity_rad_s),
        error=_point(
            desired.position_rad - measured.position_rad,
            desired.velocity_rad_s - measured.velocity_rad_s,
        ),
        speed_scaling_factor=1.0,
    )


def _point(position: Array, velocity: Array) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(positions=position.tolist(), velocities=velocity.tolist())
