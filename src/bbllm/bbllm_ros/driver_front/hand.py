"""The hand over ROS: `franka_gripper`."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from control_msgs.action import GripperCommand
from franka_msgs.action import Grasp, Homing, Move
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from std_srvs.srv import Trigger

from bbllm.arm.controllers.pending import GripperPending
from bbllm.arm.driver import GoalStatus, GraspGoal, GripperResult
from bbllm_ros.driver_front.backend import Backend
from bbllm_ros.rclpy_support.entities import end_goal, serve_action
from bbllm_ros.rclpy_support.stack_node import StackNode

GRIPPER = 'franka_gripper'
COMMAND = 'gripper_action'
FEEDBACK_S = 1 / 30
"""Wall time between feedbacks [s]."""
SPEED_M_S = 0.1
"""The driver's default_speed and default_grasp_epsilon, for gripper_action [m/s, m]."""
EPSILON_M = 0.005
SAME_M = 1e-4


class HandServer:
    """Serves the hand's actions and `stop`: every goal and every cancel is accepted."""

    def __init__(self, node: StackNode, backend: Backend):
        self._backend = backend
        self._log = node.get_logger()
        self._pending: dict[bytes, GripperPending] = {}
        self._lock = threading.Lock()
        begins: dict[Any, Callable[[Any], GripperPending]] = {
            Homing: lambda _: backend.robot.home_gripper(),
            Move: lambda goal: backend.robot.move_gripper(goal.width, goal.speed),
            Grasp: self._grasp,
        }
        runs: dict[str, tuple[Any, Callable[[Any], Any]]] = {
            kind.__name__.lower(): (kind, partial(self._run, kind, begin))
            for kind, begin in begins.items()
        }
        runs[COMMAND] = (GripperCommand, self._command)
        self._servers = [
            serve_action(node, node.group, kind, f'{GRIPPER}/{name}', run, self._cancel)
            for name, (kind, run) in runs.items()
        ]
        node.create_service(Trigger, f'{GRIPPER}/stop', self._stop, callback_group=node.group)

    def _grasp(self, goal: Grasp.Goal) -> GripperPending:
        window = goal.epsilon
        return self._backend.robot.grasp(
            GraspGoal(goal.width, goal.speed, goal.force, window.inner, window.outer)
        )

    def _run(
        self, kind: Any, begin: Callable[[Any], GripperPending], handle: ServerGoalHandle
    ) -> Any:
        def feedback_of(width_m: float) -> Any:
            return kind.Feedback(current_width=width_m)

        result = self._wait(handle, lambda: begin(handle.request), feedback_of)
        end_goal(handle, succeeded=result.success, cancelled=result.status is GoalStatus.CANCELED)
        if result.error:
            # The driver logs it as an exception; the client has it in its result.
            self._log.error(result.error)
        return kind.Result(success=result.success, error=result.error)

    def _command(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        """MoveIt's way: the position is that of one finger, results carry the full width."""
        robot = self._backend.robot
        width_m = 2 * handle.request.command.position
        now_m = robot.width_m
        if not 0 <= width_m <= robot.max_width_m:
            robot.note_goal(COMMAND)
            self._log.error(f'{width_m:g} m is out of range: at most {robot.max_width_m:g} m.')
            handle.abort()
            return GripperCommand.Result()
        if abs(width_m - now_m) < SAME_M:
            robot.note_goal(COMMAND)
            handle.succeed()
            return GripperCommand.Result(position=now_m, reached_goal=True)
        force_n = handle.request.command.max_effort

        def begin() -> GripperPending:
            if width_m >= now_m:
                return robot.move_gripper(width_m, SPEED_M_S, kind=COMMAND)
            goal = GraspGoal(width_m, SPEED_M_S, force_n, EPSILON_M, EPSILON_M)
            return robot.grasp(goal, kind=COMMAND)

        def feedback_of(width_m: float) -> Any:
            return GripperCommand.Feedback(position=width_m)

        result = self._wait(handle, begin, feedback_of)
        end_goal(handle, succeeded=result.success, cancelled=result.status is GoalStatus.CANCELED)
        if result.status is GoalStatus.CANCELED:
            return GripperCommand.Result()
        return GripperCommand.Result(position=result.width_m, reached_goal=result.success)

    def _wait(
        self,
        handle: ServerGoalHandle,
        begin: Callable[[], GripperPending],
        feedback_of: Callable[[float], Any],
    ) -> GripperResult:
        key = bytes(handle.goal_id.uuid)
        with self._backend.goal():
            with self._lock:
                pending = self._pending[key] = begin()
            if handle.is_cancel_requested:
                self._give_up(pending)
            while not pending.wait(FEEDBACK_S):
                handle.publish_feedback(feedback_of(self._backend.robot.width_m))
        with self._lock:
            del self._pending[key]
        return pending.result or GripperResult(status=GoalStatus.ABORTED)

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        with self._lock:
            pending = self._pending.get(bytes(handle.goal_id.uuid))
        if pending is not None:
            self._give_up(pending)
        return CancelResponse.ACCEPT

    def _give_up(self, pending: GripperPending) -> None:
        """Stop the hand for a goal, unless a newer one has taken its place already."""
        if not pending.done:
            self._backend.robot.cancel_gripper()

    def _stop(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        self._backend.robot.stop_gripper()
        reply.success = True
        return reply
