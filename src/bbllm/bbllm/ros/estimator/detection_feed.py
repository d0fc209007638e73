"""The topics on which detectors tell what they see."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from types import ModuleType

from bbllm_interfaces.msg import Detections
from rclpy.qos import QoSProfile, ReliabilityPolicy

from bbllm.core.errors import ConfigError
from bbllm.ros.convert.detections import Look, look_from_detections, look_from_vision
from bbllm.ros.rclpy_support.fast_subscription import Poller
from bbllm.worlds.perception.sources import SceneSource

TOPICS = {SceneSource.DETECTIONS: 'detections', SceneSource.VISION_MSGS: 'detections_3d'}
QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Hears reliable publishers and those of sensor data."""


def subscribe_detections(
    poller: Poller, sources: Collection[SceneSource], callback: Callable[[Look], None]
) -> None:
    """
    Hear what the detectors among the sources send.

    Raises:
        ConfigError: A source needs a package that is not installed.
    """
    if SceneSource.DETECTIONS in sources:
        own = TOPICS[SceneSource.DETECTIONS]
        poller.subscribe(
            Detections, own, lambda msg: callback(look_from_detections(msg, own)), QOS
        )
    if SceneSource.VISION_MSGS in sources:
        topic = TOPICS[SceneSource.VISION_MSGS]
        kind = _vision_msgs().Detection3DArray
        poller.subscribe(kind, topic, lambda msg: callback(look_from_vision(msg, topic)), QOS)


def _vision_msgs() -> ModuleType:
    try:
        return importlib.import_module('vision_msgs.msg')
    except ImportError as error:
        raise ConfigError(
            "The source 'vision_msgs' needs the ROS package vision_msgs, which is not installed "
            '(on Ubuntu: apt install ros-jazzy-vision-msgs). The sources detections and apriltag '
            'work without it.'
        ) from error
