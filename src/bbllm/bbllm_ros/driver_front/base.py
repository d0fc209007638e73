"""The robot beside its controllers, over ROS: `action_server` and `service_server`."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from franka_msgs import srv as srvs
from franka_msgs.action import ErrorRecovery, PTPMotion
from franka_msgs.msg import TargetStatus as TargetStatusMsg
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle

from bbllm.arm import robot_settings as orders
from bbllm.arm.controllers.ptp import PtpGoal, PtpPending, PtpResult, TargetStatus
from bbllm.arm.robot_settings import Order
from bbllm_ros.driver_front.backend import Backend
from bbllm_ros.rclpy_support.entities import serve_action, serve_services
from bbllm_ros.rclpy_support.stack_node import StackNode

POLL_S = 0.02
"""Wall time between feedbacks of a point-to-point motion; the driver's is 1 ms [s]."""


class RobotServer:
    """Serves error recovery, point-to-point motions and the parameters of the robot."""

    def __init__(self, node: StackNode, backend: Backend):
        self._backend = backend
        self._log = node.get_logger()
        # The driver's action_server does one thing at a time, so that nothing else is served
        # during a motion, not even its own cancelling.
        self._one = threading.Lock()
        self._servers = [
            serve_action(node, node.group, kind, f'action_server/{name}', run, cancel)
            for kind, name, run, cancel in (
                (ErrorRecovery, 'error_recovery', self._recover, lambda _: CancelResponse.ACCEPT),
                (PTPMotion, 'ptp_motion', self._move, self._keep_on),
            )
        ]
        readers: dict[Any, Callable[[Any], Order]] = {
            srvs.SetLoad: _load,
            srvs.SetTCPFrame: lambda ask: orders.tcp_order(ask.transformation),
            srvs.SetStiffnessFrame: lambda ask: orders.stiffness_frame_order(ask.transformation),
            srvs.SetJointStiffness: lambda ask: orders.joint_stiffness_order(ask.joint_stiffness),
            srvs.SetCartesianStiffness: lambda ask: orders.cartesian_stiffness_order(
                ask.cartesian_stiffness
            ),
            srvs.SetForceTorqueCollisionBehavior: _nominal_thresholds,
            srvs.SetFullCollisionBehavior: _all_thresholds,
        }
        serve_services(
            node,
            node.group,
            'service_server',
            {kind: self._ordered(read) for kind, read in readers.items()},
        )

    def _recover(self, handle: ServerGoalHandle) -> ErrorRecovery.Result:
        """As with the real driver, the reason of a failure is only in the log."""
        with self._one:
            reason = self._backend.robot.recover_errors()
        if reason is None:
            handle.succeed()
            self._log.info('Automatic recovery succeeded')
        else:
            self._log.error(f'Exception during automatic error recovery: {reason}')
            handle.abort()
        return ErrorRecovery.Result()

    def _move(self, handle: ServerGoalHandle) -> PTPMotion.Result:
        asked = handle.request
        goal = PtpGoal(
            position_rad=tuple(asked.goal_joint_configuration),
            max_velocity_rad_s=tuple(asked.maximum_joint_velocities),
            tolerance_rad=asked.goal_tolerance,
        )
        with self._one, self._backend.goal():
            begun = self._backend.robot.move_to(goal)
            result = (
                PtpResult(status=TargetStatus.ABORTED, message=begun)
                if isinstance(begun, str)
                else self._wait(begun, handle)
            )
        if result.status is TargetStatus.TARGET_REACHED:
            handle.succeed()
        else:
            self._log.error(f'A point-to-point motion was aborted: {result.message}')
            handle.abort()
        status = TargetStatusMsg(status=int(result.status))
        return PTPMotion.Result(target_status=status, error_message=result.message)

    def _wait(self, pending: PtpPending, handle: ServerGoalHandle) -> PtpResult:
        executing = TargetStatusMsg(status=int(TargetStatus.EXECUTING))
        while not pending.wait(POLL_S):
            handle.publish_feedback(PTPMotion.Feedback(target_status=executing))
        return pending.result or PtpResult(status=TargetStatus.ABORTED)

    def _keep_on(self, _: ServerGoalHandle) -> CancelResponse:
        self._log.warning(
            'The robot cannot cancel its own motion: the driver receives the request too late.'
        )
        return CancelResponse.REJECT

    def _ordered(self, read: Callable[[Any], Order]) -> Callable[[Any, Any], Any]:
        def serve(request: Any, reply: Any) -> Any:
            reply.error = self._backend.robot.order(read(request))
            reply.success = not reply.error
            if reply.error:
                self._log.error(f'Exception during parameter setting: {reply.error}')
            return reply

        return serve


def _load(request: srvs.SetLoad.Request) -> Order:
    return orders.load_order(request.mass, request.center_of_mass, request.load_inertia)


def _nominal_thresholds(request: srvs.SetForceTorqueCollisionBehavior.Request) -> Order:
    upper = _thresholds(request, 'upper', 'nominal')
    return orders.collision_order(_thresholds(request, 'lower', 'nominal'), upper, upper)


def _all_thresholds(request: srvs.SetFullCollisionBehavior.Request) -> Order:
    return orders.collision_order(
        _thresholds(request, 'lower', 'nominal'),
        _thresholds(request, 'upper', 'nominal'),
        _thresholds(request, 'upper', 'acceleration'),
    )


def _thresholds(request: Any, side: str, phase: str) -> Any:
    kinds = (f'{side}_{kind}_thresholds_{phase}' for kind in ('torque', 'force'))
    return np.concatenate([getattr(request, name) for name in kinds])
