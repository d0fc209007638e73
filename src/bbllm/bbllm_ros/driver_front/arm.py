"""The arm's trajectory controller over ROS: `fr3_arm_controller`."""

import threading
from typing import Any

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bbllm.arm.controllers.manager import ARM_CONTROLLER
from bbllm.arm.controllers.pending import TrajectoryPending
from bbllm.arm.driver import Array, FollowError, FollowResult, GoalStatus
from bbllm.robots.fr3 import FR3
from bbllm_ros.convert.arm import duration_to_msg, goal_to_record, trajectory_to_record
from bbllm_ros.convert.records import header, stamp_from_msg
from bbllm_ros.driver_front.backend import Backend
from bbllm_ros.rclpy_support.entities import end_goal, serve_action
from bbllm_ros.rclpy_support.stack_node import StackNode

MONITOR_S = 0.05
"""Wall time between feedbacks: the driver's action_monitor_rate of 20 Hz [s]."""


class TrajectoryServer:
    """Serves the controller's action, topic and `query_state` with the driver's semantics."""

    def __init__(self, node: StackNode, backend: Backend):
        self._backend = backend
        self._log = node.get_logger()
        self._pending: dict[bytes, TrajectoryPending] = {}
        self._lock = threading.Lock()
        self._server = serve_action(
            node,
            node.group,
            FollowJointTrajectory,
            f'{ARM_CONTROLLER}/follow_joint_trajectory',
            self._follow,
            self._cancel,
            goal_callback=self._accept,
            handle_accepted_callback=self._begin,
        )
        node.create_subscription(
            JointTrajectory,
            f'{ARM_CONTROLLER}/joint_trajectory',
            self._receive,
            10,  # reliable: the driver's system default may lose what comes first
            callback_group=node.group,
        )
        node.create_service(
            QueryTrajectoryState,
            f'{ARM_CONTROLLER}/query_state',
            self._query,
            callback_group=node.group,
        )

    def _accept(self, request: FollowJointTrajectory.Goal) -> GoalResponse:
        reason = self._backend.robot.refuse(goal_to_record(request, self._backend.to_robot_s))
        if reason:
            # As with the real driver, the client only learns that it was rejected.
            self._log.warning(f'A trajectory was rejected: {reason}')
        return GoalResponse.REJECT if reason else GoalResponse.ACCEPT

    def _begin(self, handle: ServerGoalHandle) -> None:
        with self._lock:
            goal = goal_to_record(handle.request, self._backend.to_robot_s)
            self._pending[bytes(handle.goal_id.uuid)] = self._backend.robot.follow(goal)
        handle.execute()

    def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        key = bytes(handle.goal_id.uuid)
        with self._lock:
            pending = self._pending[key]
        with self._backend.goal():
            if handle.is_cancel_requested:
                self._backend.robot.cancel_follow()
            while not pending.wait(MONITOR_S):
                handle.publish_feedback(self._feedback())
        with self._lock:
            del self._pending[key]
        result = pending.result or FollowResult(status=GoalStatus.ABORTED)
        status = result.status
        cancelled = status is GoalStatus.CANCELED
        end_goal(handle, succeeded=status is GoalStatus.SUCCEEDED, cancelled=cancelled)
        code = result.error_code
        if result.status is GoalStatus.REJECTED:
            code = FollowError.INVALID_GOAL
        return FollowJointTrajectory.Result(error_code=int(code), error_string=result.error_string)

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        """Cancel the goal, unless a newer one has taken its place already."""
        with self._lock:
            pending = self._pending.get(bytes(handle.goal_id.uuid))
            if pending is not None and not pending.done:
                self._backend.robot.cancel_follow()
        return CancelResponse.ACCEPT

    def _receive(self, msg: JointTrajectory) -> None:
        goal = trajectory_to_record(msg, self._backend.to_robot_s)
        reason = self._backend.robot.replace_trajectory(goal)
        if reason:
            self._log.warning(f'A trajectory on the topic was ignored: {reason}')

    def _query(self, request: Any, reply: Any) -> Any:
        time_s = self._backend.to_robot_s(stamp_from_msg(request.time))
        found = self._backend.robot.query_trajectory(time_s)
        if found is not None:
            reply.success = found.success
            reply.name = list(FR3.joints)
            reply.position = found.state.position_rad.tolist()
            reply.velocity = found.state.velocity_rad_s.tolist()
            reply.acceleration = found.state.acceleration_rad_s2.tolist()
        return reply

    def _feedback(self) -> FollowJointTrajectory.Feedback:
        state = controller_state(self._backend, self._backend.now_s)
        return FollowJointTrajectory.Feedback(
            header=state.header,
            joint_names=state.joint_names,
            desired=state.reference,
            actual=state.feedback,
            error=state.error,
        )


def controller_state(backend: Backend, stamp_s: float) -> JointTrajectoryControllerState:
    robot = backend.robot
    with robot.paused():
        wanted, measured = robot.set_point(), robot.joint_state()
        _, _, effort = backend.measured()
        time_s = robot.trajectory_time_s
    q, dq = measured.position_rad, measured.velocity_rad_s
    return JointTrajectoryControllerState(
        header=header(stamp_s, ''),
        joint_names=list(FR3.joints),
        reference=_point(
            wanted.position_rad, wanted.velocity_rad_s, wanted.acceleration_rad_s2, time_s
        ),
        feedback=_point(q, dq, time_s=time_s),
        error=_point(wanted.position_rad - q, wanted.velocity_rad_s - dq),
        output=JointTrajectoryPoint(effort=effort.tolist()),
        speed_scaling_factor=1.0,
    )


def _point(
    position: Array, velocity: Array, acceleration: Array | None = None, time_s: float = 0.0
) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        positions=position.tolist(),
        velocities=velocity.tolist(),
        accelerations=[] if acceleration is None else acceleration.tolist(),
        time_from_start=duration_to_msg(time_s),
    )
