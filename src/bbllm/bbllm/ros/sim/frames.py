"""What robot_state_publisher does beside the driver: the description, `/tf` and `/tf_static`."""

from collections.abc import Mapping
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.arm.driver import Array
from bbllm.arm.urdf import DescribedFrames, FrameJoint, robot_description
from bbllm.core.types import Pose
from bbllm.ros.convert.records import LATCHED, transform_to_msg
from bbllm.ros.sim.loop import SimLoop


class SimFrames:
    """Publishes every link as its parent sees it, by the aggregated joint states."""

    def __init__(self, node: Node, loop: SimLoop):
        description = description_of(node)
        self._frames = DescribedFrames(description)
        self._tf = node.create_publisher(TFMessage, '/tf', 10)
        self._static = node.create_publisher(TFMessage, '/tf_static', LATCHED)
        self._static.publish(
            TFMessage(
                transforms=[
                    _transform(joint, *joint.at(0.0), loop.now_s) for joint in self._frames.fixed
                ]
            )
        )
        self._description = node.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=description))

    def publish(self, positions: Mapping[str, float], stamp_s: float) -> None:
        if self._tf.get_subscription_count():
            moved = self._frames.moved(positions)
            transforms = [_transform(*frame, stamp_s) for frame in moved]
            self._tf.publish(TFMessage(transforms=transforms))


def description_of(node: Node) -> str:
    """
    Return franka_description's where it and xacro are installed, else `arm.urdf`.

    Both have the same links, joints, limits and inertials.
    """
    try:
        share = Path(get_package_share_directory('franka_description'))
        import xacro
    except (PackageNotFoundError, ImportError):
        return robot_description()
    path = share / 'robots' / 'fr3' / 'fr3.urdf.xacro'
    arguments = {'hand': 'true', 'ee_id': 'franka_hand'}
    try:
        text: str = xacro.process_file(str(path), mappings=arguments).toxml()
    except Exception as error:  # whatever xacro and the files of another version raise
        node.get_logger().warning(
            f'{path} cannot be expanded ({error}). The description of bbllm is published instead.'
        )
        return robot_description()
    node.get_logger().info(f'robot_description comes from {path}')
    return text


def _transform(
    joint: FrameJoint, position_m: Array, quat_wxyz: Array, stamp_s: float
) -> TransformStamped:
    x, y, z = position_m.tolist()
    qw, qx, qy, qz = quat_wxyz.tolist()
    pose = Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))
    return transform_to_msg(joint.parent, joint.child, pose, stamp_s)
