"""What the executor of a simulated robot waits for, so that a simulation need not take as long."""

from builtin_interfaces.msg import Time
from rclpy.node import Node

from bbllm.ros.convert.records import stamp_to_msg
from bbllm.ros.driver.ros_driver import RosDriver
from bbllm.ros.stack.stack import AWAITED


def publish_waits(node: Node, driver: RosDriver) -> None:
    """Publish the end of each wait of a driver, on the world's clock."""
    awaited = node.create_publisher(Time, AWAITED, 10)
    driver.on_wait = lambda until_s: awaited.publish(stamp_to_msg(until_s))
