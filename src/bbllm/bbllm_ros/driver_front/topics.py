"""What a robot publishes, at rates that rclpy keeps up with at any speed."""

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from control_msgs.msg import DynamicJointState, InterfaceValue, JointTrajectoryControllerState
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.arm.controllers.manager import ARM_CONTROLLER, JOINT_BROADCASTER
from bbllm.arm.driver import Array
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.robots.urdf import DescribedFrames, FrameJoint, robot_description
from bbllm_ros.convert.arm import FINGERS, joint_state_to_msg
from bbllm_ros.convert.records import LATCHED, header, stamp_to_msg, transform_to_msg
from bbllm_ros.driver_front.arm import controller_state
from bbllm_ros.driver_front.backend import Backend
from bbllm_ros.driver_front.hand import GRIPPER
from bbllm_ros.driver_front.state import StatePublisher

FAST_S = 0.01
"""Wall time between states of the arm; the driver's own come every millisecond [s]."""
SLOW_EVERY = 3
"""
Every so many states of the arm all else is published too: joint_states at 30 Hz, the driver's
rate.
"""
REST_EVERY = 12
"""
The same while the robot has rested for `REST_S` and its mode, errors and controllers stay, where
its states come half as often (`sim.loop.BATCH_S`).
"""
REST_S = 1.0
"""Wall time after a goal or a wait in which objects may still move [s]."""
HAND_S = 1 / 15
"""
Wall time between states of the hand: the driver's state_publish_rate of 15 Hz; at rest they come
with all else [s].
"""
BROADCAST_FRAME = 'base_link'
"""The joint state broadcaster's own frame_id."""
KINDS = ['position', 'velocity', 'effort']


class DriverTopics:
    """Publishes from the backend's own thread; limited by the wall clock, whatever the speed."""

    def __init__(
        self,
        node: Node,
        backend: Backend,
        frames: Sequence[TransformStamped] = (),
        more: Callable[[float], None] = lambda now_s: None,
    ) -> None:
        """Publish static *frames* beside those of the description, and *more* at the rate."""
        self._backend, self._more = backend, more
        publisher = node.create_publisher
        self._arm = publisher(JointStateMsg, 'franka/joint_states', 10)
        self._dynamic = publisher(DynamicJointState, 'dynamic_joint_states', 1)
        self._hand = publisher(JointStateMsg, f'{GRIPPER}/joint_states', 1)
        self._all = publisher(JointStateMsg, 'joint_states', 10)
        self._controller = publisher(
            JointTrajectoryControllerState, f'{ARM_CONTROLLER}/controller_state', 10
        )
        self._state = StatePublisher(node, backend)
        self._frames = FramePublisher(node, backend, frames)
        self._newest, self._newest_s = backend.measured(), backend.now_s
        self._arm_state = joint_state_to_msg(
            FR3.joints, *self._newest, self._newest_s, BROADCAST_FRAME
        )
        self._due_s = self._hand_due_s = 0.0
        self._count = 0
        self._slow_count = 0
        self._rests_s = 0.0
        self._condition: object = None
        self._busy = False

    def publish(self, now_s: float) -> None:
        wall_s = time.monotonic()
        # The end of a goal or of a wait is shown at once: clients wait for what it brought about.
        busy, self._busy = self._busy, self._backend.hurries
        ended = busy and not self._busy
        if wall_s < self._due_s and not ended:
            return
        self._due_s = max(self._due_s + FAST_S, wall_s)
        robot = self._backend.robot
        if robot.controllers.is_active(JOINT_BROADCASTER):
            self._publish_arm(now_s)
        self._count += 1
        every = self._slow_every(wall_s)
        slow = ended or self._count >= self._slow_count + every
        if slow or (wall_s >= self._hand_due_s and every == SLOW_EVERY):
            self._hand_due_s = max(self._hand_due_s + HAND_S, wall_s)
            self._publish_hand(now_s)
        if slow:
            self._slow_count = self._count
            self._publish_slow(now_s)
        else:
            self._state.publish(wrenches_only=True)

    def _slow_every(self, wall_s: float) -> int:
        """Return how many states of the arm come with one of all else; see `REST_EVERY`."""
        robot = self._backend.robot
        now = (robot, robot.mode, robot.controllers.revision, *robot.errors)
        if self._busy or now != self._condition:
            self._condition, self._rests_s = now, wall_s + REST_S
        return SLOW_EVERY if wall_s < self._rests_s else REST_EVERY

    def _publish_arm(self, now_s: float) -> None:
        if not self._backend.robot.hangs:
            self._newest, self._newest_s = self._backend.measured(), now_s
        now_s, msg = self._newest_s, self._arm_state
        msg.header.stamp = stamp_to_msg(now_s)
        msg.position, msg.velocity, msg.effort = (array('d', values) for values in self._newest)
        self._arm.publish(msg)
        if self._dynamic.get_subscription_count():
            values = np.array(self._newest).T.tolist()
            self._dynamic.publish(
                DynamicJointState(
                    header=header(now_s, BROADCAST_FRAME),
                    joint_names=list(FR3.joints),
                    interface_values=[
                        InterfaceValue(interface_names=KINDS, values=row) for row in values
                    ],
                )
            )

    def _publish_hand(self, now_s: float) -> None:
        fingers = np.full(2, self._backend.robot.width_m / 2)
        still = np.zeros(2)
        self._hand.publish(joint_state_to_msg(FINGERS, fingers, still, still, now_s, ''))

    def _publish_slow(self, now_s: float) -> None:
        """Everything else, all of the same moment; the joint states frozen with their source."""
        robot = self._backend.robot
        fingers = (np.full(2, robot.width_m / 2), np.zeros(2), np.zeros(2))
        names = (*FR3.joints, *FINGERS)
        whole = [np.concatenate(pair) for pair in zip(self._newest, fingers, strict=True)]
        position, velocity, effort = whole
        self._all.publish(joint_state_to_msg(names, position, velocity, effort, now_s, ''))
        self._frames.publish(dict(zip(names, position.tolist(), strict=True)), now_s)
        self._more(now_s)
        self._state.publish()
        listened = self._controller.get_subscription_count()
        if listened and robot.controllers.is_active(ARM_CONTROLLER) and not robot.hangs:
            self._controller.publish(controller_state(self._backend, now_s))


class FramePublisher:
    """
    Publishes what robot_state_publisher does: the description, `/tf` and `/tf_static`.

    Every link comes as its parent sees it, by the aggregated joint states. Static frames that are
    not in the description come beside it.
    """

    def __init__(self, node: Node, backend: Backend, frames: Sequence[TransformStamped]):
        description = description_of(node)
        self._frames = DescribedFrames(description)
        self._tf = node.create_publisher(TFMessage, '/tf', 10)
        self._static = node.create_publisher(TFMessage, '/tf_static', LATCHED)
        self._static.publish(
            TFMessage(
                transforms=[
                    *(
                        _transform(joint, *joint.at(0.0), backend.now_s)
                        for joint in self._frames.fixed
                    ),
                    *frames,
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
    Return franka_description's where it and xacro are installed, else `robots.urdf`.

    Both have the same links, joints, limits and inertials.
    """
    try:
        share = Path(get_package_share_directory('franka_description'))
        import xacro
    except (PackageNotFoundError, ImportError):
        return robot_description(FR3)
    path = share / 'robots' / 'fr3' / 'fr3.urdf.xacro'
    arguments = {'hand': 'true', 'ee_id': 'franka_hand'}
    try:
        text: str = xacro.process_file(str(path), mappings=arguments).toxml()
    except Exception as error:  # whatever xacro and the files of another version raise
        node.get_logger().warning(
            f'{path} cannot be expanded ({error}). The description of bbllm is published instead.'
        )
        return robot_description(FR3)
    node.get_logger().info(f'robot_description comes from {path}')
    return text


def _transform(
    joint: FrameJoint, position_m: Array, quat_wxyz: Array, stamp_s: float
) -> TransformStamped:
    x, y, z = position_m.tolist()
    qw, qx, qy, qz = quat_wxyz.tolist()
    pose = Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))
    return transform_to_msg(joint.parent, joint.child, pose, stamp_s)
