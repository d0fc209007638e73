"""What the executor does, for others: where it waits, and the trajectories that it has sent."""

from builtin_interfaces.msg import Time
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from bbllm.bags.topics import GOALS_TOPIC
from bbllm_ros.convert.records import stamp_to_msg
from bbllm_ros.driver.ros_driver import RosDriver
from bbllm_ros.stack.stack import AWAITED


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
    copies = node.create_publisher(JointTrajectory, GOALS_TOPIC, 10)

    def publish(sent: JointTrajectory) -> None:
        if copies.get_subscription_count():
            copy = JointTrajectory(joint_names=sent.joint_names, points=sent.points)
            copy.header.stamp = stamp_to_msg(driver.feed.newest_stamp_s)
            copies.publish(copy)

    driver.on_follow = publish
