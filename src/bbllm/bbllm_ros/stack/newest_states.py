"""The newest joints, objects and scene of a stack, for whoever shows where all is."""

from typing import Any

from bbllm_interfaces.msg import ObjectStates
from bbllm_interfaces.msg import Scene as SceneMsg
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.api.session import Seen
from bbllm.core.types import Scene
from bbllm_ros.convert.arm import arm_from_msg, width_from_msg
from bbllm_ros.convert.records import LATCHED, from_msg, objects_from_msg
from bbllm_ros.rclpy_support.entities import take_all
from bbllm_ros.rclpy_support.executor import UnspunGroup

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class NewestStates:
    """
    Takes the newest message of each topic when it is asked; no executor wakes up for them.

    The aggregated `joint_states` goes on with frozen values while a real robot is stopped: this is
    for pictures, not for control.
    """

    def __init__(self, node: Node):
        group = UnspunGroup()

        def subscribe(kind: Any, topic: str, qos: QoSProfile) -> Any:
            return node.create_subscription(
                kind, topic, lambda msg: None, qos, callback_group=group
            )

        self._joint_states = subscribe(JointStateMsg, 'joint_states', NEWEST)
        self._objects = subscribe(ObjectStates, 'objects', NEWEST)
        self._scenes = subscribe(SceneMsg, 'scene', LATCHED)
        self._seen = Seen()

    def look(self) -> Seen:
        """Return what is known now; what it was before once the node is destroyed."""
        seen = self._seen
        try:
            for msg in _taken(self._joint_states):
                measured, width_m = arm_from_msg(msg), width_from_msg(msg)
                if measured is not None and width_m is not None:
                    seen = seen._replace(joints_rad=measured[0], width_m=width_m)
            for msg in _taken(self._scenes):
                scene = from_msg(Scene, msg)
                seen = seen._replace(scene=scene, objects=scene.objects)
            for msg in _taken(self._objects):
                seen = seen._replace(objects=objects_from_msg(msg))
        except InvalidHandle:
            return self._seen
        self._seen = seen
        return seen


def _taken(subscription: Any) -> list[Any]:
    """Return the newest message that waits, if one does."""
    messages: list[Any] = []
    take_all(subscription, lambda msg, _: messages.append(msg))
    return messages[-1:]
