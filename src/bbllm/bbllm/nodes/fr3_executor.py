"""The node `fr3_executor`: the skills of the arm behind one action."""

from __future__ import annotations

import threading

from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle

from bbllm.arm.executor import ExecutorParams, SkillExecutor
from bbllm.arm.ways import WayParams
from bbllm.core.errors import LostNodeError, WorldError
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.nodes.convert import call_from_msg, outcome_to_result
from bbllm.nodes.params import Fr3ExecutorParams, declare
from bbllm.nodes.polling import Poller
from bbllm.nodes.process import StackNode, run
from bbllm.nodes.ros_driver import RosDriver
from bbllm.nodes.scene_client import SceneClient

WATCH_S = 0.1
"""How often it is looked whether the goal under way should go on [s]."""


class Fr3Executor(StackNode):
    """Runs one call of a skill at a time; a second one is aborted at once, with the reason."""

    def __init__(self) -> None:
        super().__init__('fr3_executor')
        params = declare(self, Fr3ExecutorParams)
        self._poller = Poller(self)
        self._driver = RosDriver(
            self,
            self._poller,
            self.group,
            controller=params.controller,
            gripper=params.gripper,
            state_timeout_s=params.state_timeout_s,
        )
        self._scenes = SceneClient(self, self.group)
        ways = WayParams(scale=params.speed_scale)
        self._skills = SkillExecutor(self._driver, self._observe, params=ExecutorParams(ways=ways))
        self._busy = threading.Lock()
        self._goal: ServerGoalHandle | None = None

    def begin(self) -> None:
        self._poller.start()
        self.create_timer(WATCH_S, self._watch, callback_group=self.group)
        self._server = ActionServer(
            self,
            ExecuteSkill,
            'execute_skill',
            self._execute,
            cancel_callback=self._cancel,
            callback_group=self.group,
        )
        super().begin()

    def come_to_rest(self) -> None:
        self._skills.stop()
        if self._busy.acquire(timeout=2.0):
            self._busy.release()

    def _observe(self) -> Scene:
        """Return a scene that shows what the arm did last."""
        return self._scenes.get(self._driver.acted_s, look=self._driver.feed.check)

    def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        call = call_from_msg(goal.request.call)
        if not self._busy.acquire(blocking=False):
            goal.abort()
            message = f'{call} was not tried: the arm is busy with another call.'
            return outcome_to_result(
                _failure(call, Status.REJECTED, Code.GOAL_REJECTED, message), 0.0
            )
        try:
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
        def tell(activity: str) -> None:
            goal.publish_feedback(ExecuteSkill.Feedback(activity=activity))

        self._skills.set_activity_callback(tell)
        try:
            outcome = self._skills.execute(call)
            return outcome, self._driver.now_s()
        except WorldError as error:
            code = Code.LOST_NODE if isinstance(error, LostNodeError) else Code.TIMEOUT
            return _failure(call, Status.FAILED, code, str(error)), 0.0

    def _cancel(self, goal: object) -> CancelResponse:
        self._skills.stop()
        return CancelResponse.ACCEPT

    def _watch(self) -> None:
        """Stop again for as long as it takes, and when whoever gave the goal has gone."""
        goal = self._goal
        if goal is None:
            return
        try:
            self.heartbeats.check(['brain_planner'])
        except LostNodeError as error:
            self.get_logger().error(f'The arm is stopped. {error}')
            self._skills.stop()
        if goal.is_cancel_requested:
            self._skills.stop()


def _failure(call: SkillCall, status: Status, code: Code, message: str) -> Outcome:
    return Outcome(call=call, status=status, code=code, message=message)


def main() -> None:
    """Run the node until it is told to end."""
    run(Fr3Executor)


if __name__ == '__main__':
    main()
