"""What robot_state_publisher does beside the driver: the description, `/tf` and `/tf_static`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
from rclpy.node import Node
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.arm.driver import Array
from bbllm.arm.urdf import DescribedFrames, FrameJoint, robot_description
from bbllm.ros.convert.qos import LATCHED
from bbllm.ros.convert.records import header
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
        """Publish the links that move, if anybody listens."""
        if self._tf.get_subscription_count():
            moved = self._frames.moved(positions)
            transforms = [_transform(*frame, stamp_s) for frame in moved]
            self._tf.publish(TFMessage(transforms=transforms))


def description_of(node: Node) -> str:
    """
    Return the robot description that is published.

    It is the one of franka_description where that package and xacro are installed, and
    otherwise `arm.urdf`, which has the same links, joints, limits and inertials.
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
    return TransformStamped(
        header=header(stamp_s, joint.parent),
        child_frame_id=joint.child,
        transform=Transform(
            translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw)
        ),
    )
