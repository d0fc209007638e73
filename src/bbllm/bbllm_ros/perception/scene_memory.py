"""What scenes state of objects that pictures do not show: in the hand, or put down by it."""

from functools import partial

from bbllm_interfaces.msg import Scene as SceneMsg

from bbllm.core.types import Pose, Scene
from bbllm.scene.detections import Detection
from bbllm_ros.convert.records import LATCHED, from_msg
from bbllm_ros.convert.serialized import StampedMessage
from bbllm_ros.rclpy_support.fast_subscription import LatestMessage, Poller
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_vision.detectors.identities import Identities
from bbllm_vision.detectors.sight import Hidden

OLD_S = 2.0
"""Age from which a scene states nothing any more, wall clock [s]."""


class SceneMemory:
    """
    Names detections, given the newest scene: which of several objects that look alike is held.

    The scene is that of `state_estimator`, which follows the hand. Without one, names follow from
    pictures alone.
    """

    def __init__(self, node: StackNode, poller: Poller, identities: Identities) -> None:
        self._identities = identities
        self._latest = LatestMessage[StampedMessage[SceneMsg]](
            node, poller, SceneMsg, 'scene', LATCHED, read=partial(StampedMessage, SceneMsg)
        )

    def name_objects(
        self, found: tuple[Detection, ...], T_world_camera: Pose, hidden: Hidden
    ) -> tuple[Detection, ...]:
        """Return the detections of a picture with the names of objects; see `Identities`."""
        newest = self._latest.message
        if newest is None or self._latest.age_s > OLD_S:
            return self._identities.named(found, T_world_camera, hidden=hidden)
        scene: Scene = from_msg(Scene, newest.message)
        moved = {fact.subject for fact in scene.facts if fact.estimated}
        known = {x.name: x.pose.position_m for x in scene.objects if x.name in moved}
        return self._identities.named(
            found, T_world_camera, known=known, held=scene.held, hidden=hidden
        )
