"""Stops a stack: all goals of its planner and of its arm, of any client."""

from action_msgs.srv import CancelGoal
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.core.errors import BbllmError, WorldError
from bbllm_ros.rclpy_support.calls import ANSWER_S, ServiceCall

ALL_GOALS = CancelGoal.Request()
"""An id and a stamp of zeros mean all goals, of any client (action_msgs/CancelGoal)."""


class StopClient:
    """Cancels goals; its node must be spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup):
        # A request whose answer is lost comes again, and stops what was begun meanwhile as well.
        self._tasks = ServiceCall(
            node, CancelGoal, 'run_task/_action/cancel_goal', 'brain_planner', group
        )
        self._skills = ServiceCall(
            node, CancelGoal, 'execute_skill/_action/cancel_goal', 'fr3_executor', group
        )

    def stop_arm(self) -> None:
        """Stop the arm alone; raises WorldError where its node does not answer."""
        self._skills.run(ALL_GOALS, ANSWER_S)

    def stop_all(self) -> None:
        """
        Stop the planner, and then the arm once more.

        A planner that receives the arm's stop before its own takes it for a failure, and may have
        given the next skill already. Raises WorldError with what was not stopped.
        """
        faults = []
        for call in (self._tasks, self._skills):
            try:
                call.run(ALL_GOALS, ANSWER_S)
            except BbllmError as error:
                faults.append(str(error))
        if faults:
            raise WorldError(' '.join(faults))
