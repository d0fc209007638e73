"""What only the simulation publishes: objects, goals that arrived, and the world's clock."""

import time

from bbllm_interfaces.msg import ObjectStates, SimGoal
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from bbllm.arm.controllers.manager import ARM_CONTROLLER
from bbllm.core.types import SceneObject
from bbllm.sim.robot import GoalSeen
from bbllm_ros.convert.arm import duration_to_msg
from bbllm_ros.convert.records import header, objects_to_msg, stamp_to_msg
from bbllm_ros.driver_front.hand import GRIPPER
from bbllm_ros.sim.loop import SimLoop


class ObjectPublisher:
    """Publishes where the objects of the table are."""

    def __init__(self, node: Node, loop: SimLoop):
        self._loop = loop
        self._topic = node.create_publisher(ObjectStates, 'objects', 1)
        self._shown: tuple[tuple[SceneObject, ...], tuple[str, ...]] | None = None
        self._lying = ObjectStates()

    def publish(self, now_s: float) -> None:
        """Publish the objects as they are now; what lies as it did needs a new stamp only."""
        robot = self._loop.robot
        shown = objects, skills = robot.objects(), robot.simulation.scene.skills
        if shown == self._shown:
            self._lying.header = header(now_s)
        else:
            self._shown, self._lying = shown, objects_to_msg(objects, now_s, skills)
        self._topic.publish(self._lying)


GOALS = QoSProfile(depth=1000)
SERVERS = {
    'follow_joint_trajectory': ARM_CONTROLLER,
    'joint_trajectory': ARM_CONTROLLER,
    'ptp_motion': 'action_server',
}
"""The part of the driver that serves an action or topic; all others are of the hand."""
LONGEST_S = 2.0**31 - 1


def publish_goals(node: Node, loop: SimLoop) -> None:
    """Publish every goal of arm and hand that arrives, also the rejected ones."""
    goals = node.create_publisher(SimGoal, 'sim/goals', GOALS)
    loop.on_goal = lambda goal, stamp_s: goals.publish(goal_to_msg(goal, stamp_s))


def goal_to_msg(goal: GoalSeen, stamp_s: float) -> SimGoal:
    delay_s = 0.0 if goal.start_s is None else goal.start_s - goal.stamp_s
    return SimGoal(
        header=header(stamp_s, ''),
        name=f'{SERVERS.get(goal.kind, GRIPPER)}/{goal.kind}',
        joint_names=list(goal.joints),
        start=stamp_to_msg(stamp_s + delay_s),
        duration=duration_to_msg(goal.lasts_s if 0.0 <= goal.lasts_s <= LONGEST_S else 0.0),
        robot_mode=int(goal.mode),
        accepted=goal.accepted,
        reason=goal.reason,
    )


TOPIC = '/clock'
PERIOD_S = 0.025
"""Least wall time between messages: the 40 Hz of `ros2 bag play --clock` [s]."""


class WorldClock:
    """Publishes the world's clock while anybody subscribes; it never runs backwards."""

    def __init__(self, node: Node):
        self._publisher = node.create_publisher(Clock, TOPIC, QoSProfile(depth=1))
        self._due_s = float('-inf')
        self._newest_s = 0.0

    def publish(self, stamp_s: float) -> None:
        steady_s = time.monotonic()
        self._newest_s = max(self._newest_s, stamp_s)
        if steady_s < self._due_s or not self._publisher.get_subscription_count():
            return
        self._due_s = steady_s + PERIOD_S
        self._publisher.publish(Clock(clock=stamp_to_msg(self._newest_s)))
