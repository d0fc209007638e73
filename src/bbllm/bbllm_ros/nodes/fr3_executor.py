"""The node `fr3_executor`: the skills of the arm behind one action, and a person before it."""

from builtin_interfaces.msg import Time
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.motion.lifting import LiftParams
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Scene
from bbllm_ros.convert.records import stamp_to_msg
from bbllm_ros.driver.ros_driver import RosDriver
from bbllm_ros.estimator.safety_envelope import make_guard, ways_of
from bbllm_ros.executor.approval_service import ApprovalService
from bbllm_ros.executor.robot_identity import RobotIdentity
from bbllm_ros.executor.skill_server import SkillServer
from bbllm_ros.parameters.node_params import Fr3ExecutorParams
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_ros.stack.service_clients import SceneClient
from bbllm_ros.stack.stack import AWAITED


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
                ways=ways_of(params, guard.envelope), lift=lift, observes_meanwhile=True
            ),
            guard=guard,
            permit=gate.permit,
            ask_person=gate.resume,
        )
        self._server = SkillServer(self, skills, lambda: self._driver.acted_s, gate, robot)
        self._approval.report_activity = self._server.report_activity
        self.diagnostics.measure(
            {**self._poller.rates, 'stops of the robot': lambda: self._driver.stops}
        )

    def begin(self) -> None:
        # Between calls too: a stop that others recover shows for moments only.
        self._poller.after = self._driver.feed.ask_if_silent
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


def publish_waits(node: Node, driver: RosDriver) -> None:
    """
    Publish the end of each wait of a driver, on the world's clock.

    So a simulation need not take as long.
    """
    awaited = node.create_publisher(Time, AWAITED, 10)
    driver.on_wait = lambda until_s: awaited.publish(stamp_to_msg(until_s))


def publish_trajectories(node: Node, driver: RosDriver) -> None:
    """
    Publish the trajectories that the controller has accepted, while anybody subscribes.

    Nobody can subscribe to the goals of an action. Their stamp is when they were accepted, on the
    world's clock.
    """
    copies = node.create_publisher(JointTrajectory, 'trajectory_goals', 10)

    def publish(sent: JointTrajectory) -> None:
        if copies.get_subscription_count():
            copy = JointTrajectory(joint_names=sent.joint_names, points=sent.points)
            copy.header.stamp = stamp_to_msg(driver.feed.newest_stamp_s)
            copies.publish(copy)

    driver.on_follow = publish


def main() -> None:
    run(Fr3Executor)


if __name__ == '__main__':
    main()
