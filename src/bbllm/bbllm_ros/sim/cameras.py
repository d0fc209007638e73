"""
The simulated cameras over ROS, with the names, types and frames of realsense2_camera.

A camera is drawn while one of its topics has a subscriber. The physics wait for no picture: they
hand a copy of their state to a thread, unless the one before is still being drawn.
"""

import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from geometry_msgs.msg import TransformStamped
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image

from bbllm.scene.camera import RgbdImage
from bbllm.sim.camera_settings import (
    T_COLOR_OPTICAL,
    T_LINK_COLOR,
    CameraMount,
    CameraSettings,
)
from bbllm.sim.cameras import CameraState, SimCameras, state_of
from bbllm.sim.drawing import RenderError
from bbllm.sim.robot import SimulatedRobot
from bbllm_ros.convert.images import depth_to_msg, info_to_msg, rgb_to_msg
from bbllm_ros.convert.records import transform_to_msg
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_ros.sim.loop import SimLoop

PICTURES = QoSProfile(depth=2)
"""Reliable as those of the real driver, which every subscriber is compatible with, also one with
the profile of sensor data."""
ASK_S = 0.02
"""Wall time between questions whether anybody subscribes [s]."""
LINGER_S = 5.0
"""Wall time without subscribers after which the process that draws ends [s]."""
RETRY_S = 5.0
"""Wall time until a picture is tried again that could not be drawn [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topics:
    """The publishers of one camera: colours, depth, and intrinsics of each."""

    color: Publisher
    color_info: Publisher
    depth: Publisher
    depth_info: Publisher

    @property
    def subscribed(self) -> bool:
        every = (self.color, self.depth, self.color_info, self.depth_info)
        return any(publisher.get_subscription_count() for publisher in every)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """What is drawn next."""

    robot: SimulatedRobot
    state: CameraState
    stamp_s: float
    """On the world's clock [s]."""


class SimCameraTopics:
    """Publishes pictures of the simulation, at most *rate_hz* of them a simulated second."""

    def __init__(
        self,
        node: StackNode,
        loop: SimLoop,
        settings: CameraSettings,
        *,
        rate_hz: float,
        seed: int = 0,
    ) -> None:
        self._node, self._loop, self._settings, self._seed = node, loop, settings, seed
        self._period_s = 1.0 / rate_hz
        self._topics = {mount.name: _topics(node, mount.name) for mount in settings.mounts}
        self._due_s = self._ask_s = float('-inf')
        self._cameras: SimCameras | None = None
        self._shown: SimulatedRobot | None = None
        """The robot that the cameras are of; a reset to another scene makes another."""
        self._next: _Moment | None = None
        self._change = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name='cameras', daemon=True)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._topics)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """End the thread and the process that draws."""
        with self._change:
            self._ending = True
            self._change.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout=2.0)

    def advanced(self, now_s: float) -> None:
        """Have pictures drawn where they are due and wanted; called by the physics."""
        if now_s < self._due_s or self._next is not None or time.monotonic() < self._ask_s:
            return
        if not any(topics.subscribed for topics in self._topics.values()):
            self._ask_s = time.monotonic() + ASK_S
            return
        self._due_s = max(self._due_s + self._period_s, now_s)
        robot = self._loop.robot
        with robot.paused() as simulation:
            if robot is not self._loop.robot:
                return  # the clock has moved on to another scene's robot
            state = state_of(simulation)
            stamp_s = self._loop.stamp_s(state.stamp_s)
        with self._change:
            self._next = _Moment(robot=robot, state=state, stamp_s=stamp_s)
            self._change.notify()

    def _run(self) -> None:
        while True:
            patience_s = None if self._cameras is None else LINGER_S
            with self._change:
                self._change.wait_for(lambda: self._ending or self._next is not None, patience_s)
                moment = self._next
                if self._ending:
                    break
            if moment is None:
                self._forget()
                continue
            try:
                self._show(moment)
            except RenderError as error:
                self._node.get_logger().error(f'{error} Cameras try again after {RETRY_S:g} s.')
                self._ask_s = time.monotonic() + RETRY_S
            except Exception:  # cameras that stand still must not look alive
                self._node.fail(f'fault in the program:\n{traceback.format_exc()}')
                break
            finally:
                self._next = None
        self._forget()

    def _show(self, moment: _Moment) -> None:
        """Draw and publish what is subscribed to, both cameras of the same moment."""
        if moment.robot is not self._shown or self._cameras is None:
            self._forget()
            with moment.robot.paused() as simulation:
                self._cameras = SimCameras(simulation, self._settings, seed=self._seed)
            self._shown = moment.robot
        for name, topics in self._topics.items():
            if topics.subscribed:
                image = self._cameras.take(name, moment.state)
                _publish(topics, replace(image, stamp_s=moment.stamp_s))

    def _forget(self) -> None:
        """End the process that draws."""
        if self._cameras is not None:
            self._cameras.close()
        self._cameras = self._shown = None


def camera_frames(mounts: Sequence[CameraMount], stamp_s: float) -> list[TransformStamped]:
    """Return the static transforms of cameras, down to their optical frames."""
    return [
        transform_to_msg(parent, child, pose, stamp_s)
        for mount in mounts
        for parent, child, pose in (
            (mount.parent, f'{mount.name}_link', mount.T_parent_link),
            (f'{mount.name}_link', f'{mount.name}_color_frame', T_LINK_COLOR),
            (f'{mount.name}_color_frame', mount.optical_frame, T_COLOR_OPTICAL),
        )
    ]


def _topics(node: StackNode, camera: str) -> _Topics:
    def publisher(kind: type, name: str) -> Publisher:
        return node.create_publisher(kind, f'{camera}/{name}', PICTURES)

    color, depth = 'color', 'aligned_depth_to_color'
    return _Topics(
        color=publisher(Image, f'{color}/image_raw'),
        color_info=publisher(CameraInfo, f'{color}/camera_info'),
        depth=publisher(Image, f'{depth}/image_raw'),
        depth_info=publisher(CameraInfo, f'{depth}/camera_info'),
    )


def _publish(topics: _Topics, image: RgbdImage) -> None:
    color = rgb_to_msg(image.rgb, image.stamp_s, image.frame)
    depth = depth_to_msg(image.depth_m, image.stamp_s, image.frame)
    info = info_to_msg(image.intrinsics, image.stamp_s, image.frame)
    for publisher, message in (
        (topics.color_info, info),
        (topics.depth_info, info),
        (topics.color, color),
        (topics.depth, depth),
    ):
        if publisher.get_subscription_count():
            publisher.publish(message)
