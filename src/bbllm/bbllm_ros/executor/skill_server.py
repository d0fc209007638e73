"""The action `execute_skill`: one call of a skill at a time, stopped once unwanted."""

import threading
import time
from collections.abc import Callable

from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError, WorldError
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm_ros.convert.approval import provenance_from_goal
from bbllm_ros.convert.records import from_msg, outcome_to_result
from bbllm_ros.executor.robot_identity import RobotIdentity
from bbllm_ros.rclpy_support.entities import end_goal, serve_action
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_ros.stack.stack import NODES

BRAIN = 'brain_planner'
NEVER_GAVE = frozenset({BRAIN, 'bbllm_approve'})
"""Who gave none of the goals that are not of brain_planner's episode."""
ACTION = 'execute_skill'
FREE_S = 10.0
"""How long the end of a call of an ended episode is waited for, wall clock [s]."""
WATCH_S = 0.1


class SkillServer:
    """Serves the skills of an arm; a second call is aborted at once, with the reason."""

    def __init__(
        self,
        node: StackNode,
        skills: SkillExecutor,
        acted_s: Callable[[], float],
        gate: ApprovalGate,
        robot: RobotIdentity,
    ) -> None:
        self._node = node
        self._skills = skills
        self._acted_s = acted_s
        self._gate = gate
        self._robot = robot
        self._busy = threading.Lock()
        self._lock = threading.Lock()
        """Locked while a goal is begun, ended or stopped, so that no other is stopped for it."""
        self._goal: ServerGoalHandle | None = None
        self._cancelled: set[bytes] = set()
        self._ending = False
        self._clients: GoalClients | None = None
        self._observed_s = float('inf')
        self._logged: set[tuple[bytes, str]] = set()
        """Goals that were stopped, and by which cause."""
        skills.set_activity_callback(self.report_activity)

    @property
    def busy(self) -> bool:
        return self._goal is not None

    def check_wanted(self) -> None:
        """Raise WorldError where the call under way is not wanted any more."""
        goal = self._goal
        if goal is not None and self._unwanted(goal):
            raise WorldError('the call was stopped, or its episode has ended.')

    def begin(self) -> None:
        group = self._node.group
        self._node.every(WATCH_S, self._watch, group)
        self._server = serve_action(
            self._node, group, ExecuteSkill, ACTION, self._execute, self._cancel
        )

    def come_to_rest(self) -> None:
        """Stop what runs, wait a little for its end, and begin nothing any more."""
        self._ending = True
        self._skills.stop()
        self._busy.acquire(timeout=2.0)

    def report_activity(self, activity: str) -> None:
        goal = self._goal
        if goal is not None:
            goal.publish_feedback(ExecuteSkill.Feedback(activity=activity))

    def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        call = from_msg(SkillCall, goal.request.call)
        if not self._claim(goal):
            why = 'fr3_executor ends' if self._ending else 'the arm is busy with another call'
            self._forget(goal)
            goal.abort()
            message = f'{call} was not tried: {why}.'
            return outcome_to_result(
                _failure(call, Status.REJECTED, Code.GOAL_REJECTED, message), 0.0
            )
        try:
            self._clients = GoalClients(self._node, ACTION, NEVER_GAVE)
            with self._lock:
                self._goal = goal
            outcome, stamp_s = self._run(call, goal)
        finally:
            self._forget(goal)
            self._busy.release()
        cancelled = outcome.code is Code.CANCELLED
        end_goal(goal, succeeded=outcome.succeeded, cancelled=cancelled)
        return outcome_to_result(outcome, stamp_s)

    def _claim(self, goal: ServerGoalHandle) -> bool:
        """
        Take the arm; waits for the end of a call that was stopped, or is of another episode.

        The planner has one at a time; a process that stood still may not have received its end
        yet.
        """
        deadline_s = time.monotonic() + FREE_S
        while not self._busy.acquire(timeout=WATCH_S):
            before = self._goal
            wanted = before is not None and not (
                self._unwanted(before) or _episode_of(goal) not in ('', _episode_of(before))
            )
            if self._ending or wanted or time.monotonic() > deadline_s:
                return False
        return True

    def _forget(self, goal: ServerGoalHandle) -> None:
        with self._lock:
            if self._goal is goal:
                self._goal = None
            self._cancelled.discard(_id_of(goal))
            self._logged = {known for known in self._logged if known[0] != _id_of(goal)}

    def _run(self, call: SkillCall, goal: ServerGoalHandle) -> tuple[Outcome, float]:
        provenance = provenance_from_goal(goal.request)
        self._gate.begin(provenance)
        over = self._gate.refuse_ended(call, provenance)
        if over is not None:
            return over, 0.0
        try:
            self._node.heartbeats.check_unique(NODES)
            self._robot.wait_right(CancelToken(self.check_wanted))
        except WorldError as error:
            self._node.get_logger().error(f'{error}')
            return _failure(
                call, Status.REJECTED, Code.GOAL_REJECTED, f'{call} was not tried: {error}'
            ), 0.0
        try:
            self._skills.expect([from_msg(SkillCall, msg) for msg in goal.request.expected])
            outcome = self._skills.execute(
                call, provenance, should_abort=lambda: self._unwanted(goal)
            )
            stamp_s = self._acted_s()
        except WorldError as error:
            code = Code.LOST_NODE if isinstance(error, LostNodeError) else Code.TIMEOUT
            outcome, stamp_s = _failure(call, Status.FAILED, code, str(error)), 0.0
        except Exception as error:  # what follows in the plan was not planned for a fault
            self._gate.settle(_failure(call, Status.FAILED, Code.INTERNAL, str(error)))
            raise
        self._gate.settle(outcome)
        if not outcome.succeeded:
            self._node.diagnostics.error(outcome.message)
        return outcome, stamp_s

    def _unwanted(self, goal: ServerGoalHandle) -> bool:
        return self._ending or _id_of(goal) in self._cancelled or self._over(goal)

    def _over(self, goal: ServerGoalHandle) -> bool:
        plan = goal.request.plan
        return bool(plan.steps) and plan.episode_id in self._gate.ended

    def _cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        # Its turn may not have come yet, and rclpy notes it as cancelled only after this.
        self._cancelled.add(_id_of(goal))
        self._stop(goal)
        return CancelResponse.ACCEPT

    def _stop(self, goal: ServerGoalHandle) -> None:
        """Stop the arm where it carries out this goal; the motion of any other goes on."""
        with self._lock:
            if self._goal is goal:
                self._skills.stop()

    def _watch(self) -> None:
        """Stop again for as long as it takes, and when no client waits for the goal any more."""
        goal = self._goal
        observed_s, self._observed_s = self._observed_s, time.monotonic()
        try:
            self._node.heartbeats.check([BRAIN], observed_s)
        except LostNodeError as error:
            self._gate.revoke(f'{BRAIN} has gone since it was approved')
            if goal is not None:
                self._stop_as(goal, BRAIN, f'{error}')
        if goal is None:
            return
        try:
            self._node.heartbeats.check_unique(NODES)
            self._robot.check()
        except WorldError as error:
            self._stop_as(goal, 'robot', f'{error}')
        if self._over(goal):
            self._stop_as(goal, 'over', 'The episode that the goal comes from has ended.')
        elif self._left(goal):
            self._stop_as(goal, 'left', 'The client that gave the goal has gone.')
        if goal.is_cancel_requested:
            self._stop(goal)

    def _stop_as(self, goal: ServerGoalHandle, cause: str, why: str) -> None:
        """Stop a goal, and log why once for each cause: the words may count seconds."""
        if (known := (_id_of(goal), cause)) not in self._logged:
            self._logged.add(known)
            self._node.get_logger().error(f'The arm is stopped. {why}')
        self._stop(goal)

    def _left(self, goal: ServerGoalHandle) -> bool:
        """Return whether a goal that brain_planner did not give has lost its client."""
        if goal.request.plan.steps and goal.request.plan.episode_id == self._gate.running:
            return False
        clients = self._clients
        return clients is not None and clients.gone


def _failure(call: SkillCall, status: Status, code: Code, message: str) -> Outcome:
    return Outcome(call=call, status=status, code=code, message=message)


def _episode_of(goal: ServerGoalHandle) -> str:
    plan = goal.request.plan
    return str(plan.episode_id) if plan.steps else ''


def _id_of(goal: ServerGoalHandle) -> bytes:
    return bytes(goal.goal_id.uuid)


FOUND_S = 1.0
"""How long the graph may take to show a client whose goal has come already [s]."""


class GoalClients:
    """
    The clients of one action, except *besides*, at the moment when it took a goal.

    rclpy reports to no server whose goal it has. So a goal counts as left when none of the
    programs is left that subscribed to the feedback of its action when it was taken. One that
    ended well is missed at once, one that was killed when DDS gives it up, after up to 20 s.
    """

    def __init__(self, node: Node, action: str, besides: frozenset[str], found_s: float = FOUND_S):
        self._node = node
        self._topic = node.resolve_topic_name(f'{action}/_action/feedback')
        self._besides = besides
        self._found_s = time.monotonic() + found_s
        self._first = self._here()

    @property
    def gone(self) -> bool:
        here = self._here()
        if time.monotonic() < self._found_s:
            self._first |= here
        return bool(self._first) and not self._first & here

    def _here(self) -> frozenset[bytes]:
        infos = self._node.get_subscriptions_info_by_topic(self._topic)
        return frozenset(
            bytes(info.endpoint_gid) for info in infos if info.node_name not in self._besides
        )
