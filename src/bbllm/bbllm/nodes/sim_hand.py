"""The simulated hand over ROS: `franka_gripper`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from control_msgs.action import GripperCommand
from franka_msgs.action import Grasp, Homing, Move
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from std_srvs.srv import Trigger

from bbllm.arm.driver import GoalStatus, GripperResult
from bbllm.nodes.process import StackNode
from bbllm.nodes.sim_loop import SimLoop
from bbllm.sim.gripper import GripperPending

GRIPPER = 'franka_gripper'
FEEDBACK_S = 1 / 30
"""Wall time between feedbacks [s]."""
SPEED_M_S = 0.1
"""The driver's default_speed, for gripper_action [m/s]."""
EPSILON_M = 0.005
"""The driver's default_grasp_epsilon, for gripper_action [m]."""
SAME_M = 1e-4
"""gripper_action has nothing to do when the width is off by less [m]."""


class SimHand:
    """Serves the hand's actions and `stop`: every goal and every cancel is accepted."""

    def __init__(self, node: StackNode, loop: SimLoop):
        self._loop = loop
        kinds: tuple[tuple[str, Any, Callable[[Any], GripperPending]], ...] = (
            ('homing', Homing, self._home),
            ('move', Move, self._move),
            ('grasp', Grasp, self._grasp),
        )
        self._servers = [
            ActionServer(
                node,
                kind,
                f'{GRIPPER}/{name}',
                lambda handle, kind=kind, begin=begin: self._run(handle, kind, begin),
                cancel_callback=self._cancel,
                callback_group=node.group,
            )
            for name, kind, begin in kinds
        ]
        self._servers.append(
            ActionServer(
                node,
                GripperCommand,
                f'{GRIPPER}/gripper_action',
                self._command,
                cancel_callback=self._cancel,
                callback_group=node.group,
            )
        )
        node.create_service(Trigger, f'{GRIPPER}/stop', self._stop, callback_group=node.group)

    def _home(self, _: Homing.Goal) -> GripperPending:
        return self._loop.robot.home_gripper()

    def _move(self, goal: Move.Goal) -> GripperPending:
        return self._loop.robot.move_gripper(goal.width, goal.speed)

    def _grasp(self, goal: Grasp.Goal) -> GripperPending:
        window = goal.epsilon
        return self._loop.robot.grasp(
            goal.width, goal.speed, goal.force, window.inner, window.outer
        )

    def _run(
        self, handle: ServerGoalHandle, kind: Any, begin: Callable[[Any], GripperPending]
    ) -> Any:
        def tell(width_m: float) -> Any:
            return kind.Feedback(current_width=width_m)

        result = self._wait(handle, begin(handle.request), tell)
        _end(handle, result)
        return kind.Result(success=result.success, error=result.error)

    def _command(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        """MoveIt's way: the position is that of one finger, results carry the full width."""
        robot = self._loop.robot
        width_m = 2 * handle.request.command.position
        now_m = robot.joint_state().width_m
        if not 0 <= width_m <= robot.max_width_m:
            handle.abort()
            return GripperCommand.Result()
        if abs(width_m - now_m) < SAME_M:
            handle.succeed()
            return GripperCommand.Result(position=now_m, reached_goal=True)
        if width_m > now_m:
            pending = robot.move_gripper(width_m, SPEED_M_S)
        else:
            force_n = handle.request.command.max_effort
            pending = robot.grasp(width_m, SPEED_M_S, force_n, EPSILON_M, EPSILON_M)

        def tell(width_m: float) -> Any:
            return GripperCommand.Feedback(position=width_m)

        result = self._wait(handle, pending, tell)
        _end(handle, result)
        return GripperCommand.Result(position=result.width_m, reached_goal=result.success)

    def _wait(
        self, handle: ServerGoalHandle, pending: GripperPending, tell: Callable[[float], Any]
    ) -> GripperResult:
        with self._loop.goal():
            if handle.is_cancel_requested:
                self._loop.robot.cancel_gripper()
            while not pending.wait(FEEDBACK_S):
                handle.publish_feedback(tell(self._loop.robot.joint_state().width_m))
        return pending.result or GripperResult(status=GoalStatus.ABORTED)

    def _cancel(self, _: ServerGoalHandle) -> CancelResponse:
        self._loop.robot.cancel_gripper()
        return CancelResponse.ACCEPT

    def _stop(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        self._loop.robot.stop_gripper()
        reply.success = True
        return reply


def _end(handle: ServerGoalHandle, result: GripperResult) -> None:
    if result.status is GoalStatus.CANCELED and handle.is_cancel_requested:
        handle.canceled()
    elif result.success:
        handle.succeed()
    else:
        handle.abort()
