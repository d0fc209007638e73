"""The node `fr3_executor`: the skills of the arm behind one action, and a person before it."""

from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.motion.lifting import LiftParams
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Scene
from bbllm_ros.driver.ros_driver import RosDriver
from bbllm_ros.estimator.safety_envelope import make_guard, ways_of
from bbllm_ros.executor.approval_service import ApprovalService
from bbllm_ros.executor.robot_identity import RobotIdentity
from bbllm_ros.executor.skill_server import SkillServer
from bbllm_ros.executor.waits import publish_trajectories, publish_waits
from bbllm_ros.parameters.node_params import Fr3ExecutorParams
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_ros.stack.service_clients import SceneClient


class Fr3Executor(StackNode):
    """Runs the calls that may be run, one at a time."""

    def __init__(self) -> None:
        super().__init__('fr3_executor', Fr3ExecutorParams)

    def build(self) -> None:
        params = self.params
        self._poller = Poller(self)
        self._driver = RosDriver(
            self,
            self._poller,
            self.group,
            controller=params.controller,
            gripper=params.gripper,
            state_timeout_s=params.state_timeout_s,
        )
        robot = RobotIdentity(
            self, self.heartbeats, simulated=params.simulated, controller=params.controller
        )
        self._driver.may_send = robot.check
        if params.simulated:
            publish_waits(self, self._driver)
        publish_trajectories(self, self._driver)
        self._scenes = SceneClient(self, self.group, reuses=True)
        guard = make_guard(self, self.group, params, self._driver)
        self._envelope = guard.envelope
        for line in guard.envelope.boxes():
            self.get_logger().info(f'safety: {line}')
        self._approval = ApprovalService(
            self,
            params,
            self._observe,
            stops=lambda: self._driver.stops,
            never=guard.envelope.never,
        )
        gate = self._approval.gate
        self._driver.watch_others(self._approval.revoke_for_other)
        lift = LiftParams(simulated=params.simulated, cap_n=params.lift_cap_n)
        self._skills = skills = SkillExecutor(
            self._driver,
            self._observe,
            params=ExecutorParams(
                ways=ways_of(params, guard.envelope), lift=lift, looks_beside=True
            ),
            guard=guard,
            permit=gate.permit,
            ask_person=gate.resume,
        )
        self._server = SkillServer(self, skills, lambda: self._driver.acted_s, gate, robot)
        self._approval.tell = self._server.tell
        self.diagnostics.measure(
            {**self._poller.rates, 'stops of the robot': lambda: self._driver.stops}
        )

    def begin(self) -> None:
        # Between calls too: a stop that others recover shows for moments only.
        self._poller.after = self._driver.feed.look
        self._poller.start()
        self._approval.begin()
        self._server.begin()

    def come_to_rest(self) -> None:
        self._server.come_to_rest()

    def take(self, params: Fr3ExecutorParams) -> None:
        self._skills.use_ways(ways_of(params, self._envelope))
        self._approval.queue.timeout_s = params.approval_timeout_s

    @property
    def busy(self) -> str:
        return 'a call runs' if self._server.busy else ''

    def _observe(self) -> Scene:
        def check() -> None:
            self._driver.feed.check()
            self._server.check_wanted()

        return self._scenes.get(self._driver.acted_s, cancel=CancelToken(check))


def main() -> None:
    run(Fr3Executor)


if __name__ == '__main__':
    main()
