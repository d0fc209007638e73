"""The robot beside its controllers, over ROS: error recovery and thresholds."""

from collections.abc import Callable
from typing import Any

import numpy as np
from franka_msgs.action import ErrorRecovery
from franka_msgs.srv import SetForceTorqueCollisionBehavior, SetFullCollisionBehavior
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle

from bbllm_ros.rclpy_support.entities import serve_action, serve_services
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_ros.sim.loop import SimLoop

KINDS = {
    SetForceTorqueCollisionBehavior: ('lower nominal', 'upper nominal', 'upper nominal'),
    SetFullCollisionBehavior: ('lower nominal', 'upper nominal', 'upper acceleration'),
}
"""Side and phase of the fields with each of the three kinds of thresholds."""


class SimBase:
    """Serves error recovery, and the thresholds of contacts and collisions."""

    def __init__(self, node: StackNode, loop: SimLoop):
        self._loop = loop
        self._log = node.get_logger()
        self._server = serve_action(
            node,
            node.group,
            ErrorRecovery,
            'action_server/error_recovery',
            self._recover,
            lambda _: CancelResponse.ACCEPT,
        )
        services = {kind: self._setter(fields) for kind, fields in KINDS.items()}
        serve_services(node, node.group, 'service_server', services)

    def _recover(self, handle: ServerGoalHandle) -> ErrorRecovery.Result:
        """As with the real driver, the reason of a failure is only in the log."""
        reason = self._loop.robot.recover_errors()
        if reason is None:
            handle.succeed()
            self._log.info('Automatic recovery succeeded')
        else:
            self._log.error(f'Exception during automatic error recovery: {reason}')
            handle.abort()
        return ErrorRecovery.Result()

    def _setter(self, fields: tuple[str, ...]) -> Callable[[Any, Any], Any]:
        def serve(request: Any, reply: Any) -> Any:
            thresholds = (_thresholds(request, *field.split()) for field in fields)
            reply.error = self._loop.robot.set_thresholds(*thresholds)
            reply.success = not reply.error
            if reply.error:
                self._log.error(f'Exception during parameter setting: {reply.error}')
            return reply

        return serve


def _thresholds(request: Any, side: str, phase: str) -> Any:
    kinds = (f'{side}_{kind}_thresholds_{phase}' for kind in ('torque', 'force'))
    return np.concatenate([getattr(request, name) for name in kinds])
