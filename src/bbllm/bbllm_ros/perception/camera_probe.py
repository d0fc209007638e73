"""Subscribes to the cameras of a ROS domain for some seconds, and reports what came."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image
from tf2_msgs.msg import TFMessage

from bbllm.scene.detections import WORLD_FRAME
from bbllm.scene.transforms import FrameError, TransformTree
from bbllm_ros.convert.camera_status import TOPIC as STATUS
from bbllm_ros.convert.camera_status import faults_from_msg
from bbllm_ros.convert.images import (
    ImageError,
    depth_from_msg,
    intrinsics_from_msg,
    rgb_from_msg,
)
from bbllm_ros.convert.records import LATCHED, stamp_from_msg, transforms_from_msg
from bbllm_ros.estimator.detection_feed import STATIC_QOS
from bbllm_ros.perception.camera_feed import KINDS, reliability_of
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_vision.camera_report import CameraReport
from bbllm_vision.stream_health import Stream

FIND_S = 2.0
"""How long cameras may take to be found, wall clock [s]."""
FIRST_S = 5.0
"""How long a camera may take to send its first pictures: the process that draws starts with them,
and realsense2_camera its streams, wall clock [s]."""
WATCH_S = 2.0
"""How long pictures are counted, wall clock [s]."""
POLL_S = 0.05


@dataclass(slots=True)
class _Streams:
    """What came of one camera."""

    name: str
    count: int = 0
    """Colour pictures since they are counted."""
    newest: dict[Stream, Any] = field(default_factory=dict)

    def take(self, stream: Stream, msg: Any) -> None:
        self.newest[stream] = msg
        self.count += stream is Stream.COLOR

    @property
    def complete(self) -> bool:
        return len(self.newest) == len(Stream)


def probe_cameras(
    namespace: str, *, simulated: bool, unused: bool = False
) -> tuple[CameraReport, ...]:
    """
    Join the graph, subscribe to cameras, and leave; takes seconds.

    Cameras are found by the status of the node `perception` of the *namespace*, whose transforms
    are in it where the robot is *simulated*; with *unused* also those that it does not use, by
    their topic `color/camera_info`.
    """
    with OwnNodes() as own:
        node = own.join(f'bbllm_doctor_cameras_{os.getpid()}', f'/{namespace}'.rstrip('/') or '/')
        tree, used = TransformTree(), dict[str, str]()
        _follow(node, tree, used, '' if simulated else '/')
        own.spin(node, 'cameras')
        time.sleep(FIND_S)
        names = {node.resolve_topic_name(name) for name in used}
        if unused:
            names |= _published(node)
        cameras = [_watch(node, name) for name in sorted(names)]
        end_s = time.monotonic() + FIRST_S
        while not all(x.complete for x in cameras) and time.monotonic() < end_s:
            time.sleep(POLL_S)
        for camera in cameras:
            camera.count = 0
        if cameras:
            time.sleep(WATCH_S)
        return tuple(_report(node, camera, tree) for camera in cameras)


def _follow(node: Node, tree: TransformTree, used: dict[str, str], place: str) -> None:
    """Subscribe to transforms and to the status of the node `perception`."""

    def take(msg: TFMessage, *, static: bool) -> None:
        for parent, child, pose, stamp_s in transforms_from_msg(msg):
            with suppress(FrameError):  # what is missing then is found by the look-up
                tree.add(parent, child, pose, stamp_s, static)

    node.create_subscription(TFMessage, f'{place}tf', partial(take, static=False), 100)
    static = partial(take, static=True)
    node.create_subscription(TFMessage, f'{place}tf_static', static, STATIC_QOS)
    node.create_subscription(
        DiagnosticArray, STATUS, lambda msg: used.update(faults_from_msg(msg)), LATCHED
    )


def _published(node: Node) -> set[str]:
    """Return the whole names of the cameras that publish."""
    ending = f'/{Stream.INFO.value}'
    return {
        topic.removesuffix(ending)
        for topic, _ in node.get_topic_names_and_types()
        if topic.endswith(ending) and node.count_publishers(topic)
    }


def _watch(node: Node, name: str) -> _Streams:
    streams = _Streams(name)
    for stream in Stream:
        topic = f'{name}/{stream.value}'
        qos = QoSProfile(depth=2, reliability=reliability_of(node, topic))
        node.create_subscription(KINDS[stream], topic, partial(streams.take, stream), qos)
    return streams


def _report(node: Node, camera: _Streams, tree: TransformTree) -> CameraReport:
    topics = {stream: f'{camera.name}/{stream.value}' for stream in Stream}
    published = {stream for stream in Stream if node.count_publishers(topics[stream])}
    report = CameraReport(
        name=camera.name,
        unpublished=tuple(topics[s] for s in Stream if s not in published),
        silent=tuple(topics[s] for s in Stream if s in published and s not in camera.newest),
        rate_hz=camera.count / WATCH_S,
    )
    try:
        report = replace(report, **_contents(camera.newest))
    except ImageError as error:
        report = replace(report, fault=str(error))
    color = camera.newest.get(Stream.COLOR)
    return report if color is None else replace(report, **_place(color, tree))


def _contents(newest: Mapping[Stream, Any]) -> dict[str, Any]:
    """Return the fields of a report that follow from the newest messages; raises ImageError."""
    found: dict[str, Any] = {}
    if Stream.COLOR in newest:
        height, width = rgb_from_msg(newest[Stream.COLOR]).shape[:2]
        found |= {'size_px': (width, height), 'frame': newest[Stream.COLOR].header.frame_id}
    if Stream.DEPTH in newest:
        depth_m = depth_from_msg(newest[Stream.DEPTH])
        height, width = depth_m.shape
        found |= {
            'depth_size_px': (width, height),
            'depth_frame': newest[Stream.DEPTH].header.frame_id,
            'depth_share': np.count_nonzero(depth_m) / depth_m.size,
        }
    if Stream.INFO in newest:
        found['intrinsics'] = intrinsics_from_msg(newest[Stream.INFO])
    return found


def _place(color: Image, tree: TransformTree) -> dict[str, Any]:
    stamp_s = stamp_from_msg(color.header.stamp)
    try:
        return {'pose': tree.lookup(WORLD_FRAME, color.header.frame_id, stamp_s)}
    except FrameError as error:
        return {'pose_fault': str(error)}
