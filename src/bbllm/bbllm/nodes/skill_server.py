"""The action `execute_skill`: one call of a skill at a time, stopped when nobody wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType

from bbllm.arm.executor import SkillExecutor
from bbllm.arm.gate import Gate
from bbllm.core.errors import LostNodeError, WorldError
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.nodes.convert import call_from_msg, outcome_to_result
from bbllm.nodes.convert_approval import provenance_from_goal
from bbllm.nodes.goal_clients import GoalClients
from bbllm.nodes.process import StackNode

BRAIN = 'brain_planner'
NEVER_GAVE = frozenset({BRAIN, 'bbllm_approve'})
"""Who gave none of the goals that are not of brain_planner's episode."""
ACTION = 'execute_skill'
WATCH_S = 0.1
"""How often it is looked whether the goal under way should go on [s]."""


class SkillServer:
    """
    Serves the skills of an arm; a second call is aborted at once, with the reason.

    Args:
        node: Whose action it is.
        skills: The arm.
        now_s: The world's clock [s].
        gate: Told where each call comes from, and how it has ended.
        episode: Returns the id of the episode that brain_planner runs now, empty without one.
    """

    def __init__(
        self,
        node: StackNode,
        skills: SkillExecutor,
        now_s: Callable[[], float],
        gate: Gate,
        episode: Callable[[], str],
    ) -> None:
        self._node = node
        self._skills = skills
        self._now_s = now_s
        self._gate = gate
        self._episode = episode
        self._busy = threading.Lock()
        self._goal: ServerGoalHandle | None = None
        self._clients: GoalClients | None = None
        skills.set_activity_callback(self.tell)

    def begin(self) -> None:
        """Take goals from now on."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        group = self._node.group
        self._node.create_timer(WATCH_S, self._watch, callback_group=group, clock=steady)
        self._server = ActionServer(
            self._node,
            ExecuteSkill,
            ACTION,
            self._execute,
            cancel_callback=self._cancel,
            callback_group=group,
        )

    def come_to_rest(self) -> None:
        """Stop what runs and wait a little for its end."""
        self._skills.stop()
        if self._busy.acquire(timeout=2.0):
            self._busy.release()

    def tell(self, activity: str) -> None:
        """Tell whoever gave the goal what the arm does now."""
        goal = self._goal
        if goal is not None:
            goal.publish_feedback(ExecuteSkill.Feedback(activity=activity))

    def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        call = call_from_msg(goal.request.call)
        if not self._busy.acquire(blocking=False):
            goal.abort()
            message = f'{call} was not tried: the arm is busy with another call.'
            return outcome_to_result(
                _failure(call, Status.REJECTED, Code.GOAL_REJECTED, message), 0.0
            )
        try:
            self._clients = GoalClients(self._node, ACTION, NEVER_GAVE)
            self._goal = goal
            outcome, stamp_s = self._run(call, goal)
        finally:
            self._goal = None
            self._busy.release()
        if outcome.succeeded:
            goal.succeed()
        elif outcome.code is Code.CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return outcome_to_result(outcome, stamp_s)

    def _run(self, call: SkillCall, goal: ServerGoalHandle) -> tuple[Outcome, float]:
        provenance = provenance_from_goal(goal.request)
        self._gate.begin(provenance)
        try:
            outcome = self._skills.execute(call, provenance)
            stamp_s = self._now_s()
        except WorldError as error:
            code = Code.LOST_NODE if isinstance(error, LostNodeError) else Code.TIMEOUT
            outcome, stamp_s = _failure(call, Status.FAILED, code, str(error)), 0.0
        self._gate.settle(outcome)
        return outcome, stamp_s

    def _cancel(self, goal: object) -> CancelResponse:
        self._skills.stop()
        return CancelResponse.ACCEPT

    def _watch(self) -> None:
        """Stop again for as long as it takes, and when whoever gave the goal has gone."""
        goal = self._goal
        try:
            self._node.heartbeats.check([BRAIN])
        except LostNodeError as error:
            self._gate.revoke(f'{BRAIN} has gone since it was approved')
            if goal is not None:
                self._node.get_logger().error(f'The arm is stopped. {error}')
                self._skills.stop()
        if goal is None:
            return
        if self._left(goal):
            self._node.get_logger().error('The arm is stopped: who gave the goal has gone.')
            self._skills.stop()
        if goal.is_cancel_requested:
            self._skills.stop()

    def _left(self, goal: ServerGoalHandle) -> bool:
        """Tell whether a goal that brain_planner did not give has lost who gave it."""
        if goal.request.plan.steps and goal.request.plan.episode_id == self._episode():
            return False
        clients = self._clients
        return clients is not None and clients.gone


def _failure(call: SkillCall, status: Status, code: Code, message: str) -> Outcome:
    return Outcome(call=call, status=status, code=code, message=message)
