"""The node `perception`: from the pictures of cameras with depth to detections."""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from diagnostic_msgs.msg import DiagnosticArray

from bbllm.scene.camera import RgbdImage
from bbllm.scene.detections import Detection, Doubts
from bbllm.scene.transforms import TransformTree
from bbllm_ros.convert.camera_status import PERIOD_S, TOPIC, faults_to_msg
from bbllm_ros.convert.records import LATCHED
from bbllm_ros.estimator.detection_feed import TfFeed
from bbllm_ros.parameters.detector_params import detector_of
from bbllm_ros.parameters.node_params import PerceptionParams
from bbllm_ros.parameters.scene_sources import parse_cameras
from bbllm_ros.perception.camera_feed import CameraFeed
from bbllm_ros.perception.detection_outputs import DetectionOutputs
from bbllm_ros.perception.model_use import ModelUse
from bbllm_ros.perception.picture_loop import PictureLoop
from bbllm_ros.perception.robot_states import RobotStates
from bbllm_ros.perception.scene_memory import SceneMemory
from bbllm_ros.rclpy_support.entities import now_s
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_vision.detectors.identities import Identities
from bbllm_vision.detectors.picture_reader import PictureReader
from bbllm_vision.picture_health import HealthLimits, PictureFault

LOG_S = 10.0
"""Wall time between two warnings of a detector [s]."""
IDLE = PictureFault(reason='idle', text='is not in use, because no node subscribes to detections')


class Perception(StackNode):
    """
    Publishes detections while there are subscribers.

    A picture that cannot be used gives no message of detections, but a fault on `camera_status`.
    """

    def __init__(self) -> None:
        self._loop: PictureLoop | None = None
        super().__init__('perception', PerceptionParams)

    def build(self) -> None:
        params = self.params
        cameras = parse_cameras(params.cameras)
        self._poller = Poller(self)
        self._use = ModelUse()
        self._loop = loop = self._make_loop(params)
        self._lock = threading.Lock()
        self._in_use = False
        self._reasons: dict[str, str] = {}
        self._logged: dict[str, str] = {}
        self._outputs = DetectionOutputs(self)
        self._status = self.create_publisher(DiagnosticArray, TOPIC, LATCHED)
        self._feeds = [
            CameraFeed(
                self,
                name,
                tolerance_s=params.pair_tolerance_s,
                silent_after_s=params.silent_after_s,
                on_pair=loop.wake,
            )
            for name in cameras
        ]
        loop.start(self._feeds)
        self.diagnostics.measure(self._measured(loop))

    def _make_loop(self, params: PerceptionParams) -> PictureLoop:
        """Make what reads pictures; raises ConfigError or UnknownNameError as `detector_of`."""
        log = self.get_logger()

        def warn(text: str) -> None:
            log.warning(text, throttle_duration_sec=LOG_S)

        detector, catalogue = detector_of(params, warn, self._use)
        memory = SceneMemory(self, self._poller, Identities(catalogue))
        tree = TransformTree()
        TfFeed(self._poller, tree, Doubts(log.warning), (), lambda _: None)
        limits = HealthLimits(
            frozen_after=params.frozen_after, least_depth_share=params.least_depth_share
        )
        robot = RobotStates(self._poller, params.gripper)
        reader = PictureReader(
            detector, memory.name_objects, tree, robot.at, limits, params.max_delay_s
        )
        return PictureLoop(self, self._poller, tree, reader, self._publish, self._report)

    def begin(self) -> None:
        self._poller.start()
        self._tend()
        self.every(PERIOD_S, self._tend)

    def come_to_rest(self) -> None:
        if self._loop is not None:
            self._loop.end()

    def _tend(self) -> None:
        """Use the cameras exactly while detections are wanted, so that no camera works idly."""
        self._in_use = self._outputs.wanted
        for feed in self._feeds:
            if self._in_use:
                feed.open()
            else:
                feed.close()
        self._report()
        for feed in self._feeds:
            self._log(feed.name, self._fault(feed))

    def _publish(self, found: Sequence[Detection], image: RgbdImage) -> None:
        self._outputs.publish(found, image.frame, image.stamp_s)

    def _report(self) -> None:
        """Publish the fault of each camera."""
        with self._lock:
            faults = {feed.name: _sentence(feed.name, self._fault(feed)) for feed in self._feeds}
            self._status.publish(faults_to_msg(faults, now_s(self)))

    def _fault(self, feed: CameraFeed) -> PictureFault | None:
        return self._loop.fault(feed) if self._loop is not None and self._in_use else IDLE

    def _log(self, name: str, fault: PictureFault | None) -> None:
        """Log a fault that lasts for two looks and is another one than before, or its end."""
        reason = fault.reason if fault else ''
        before, self._reasons[name] = self._reasons.get(name), reason
        if reason != before or reason == self._logged.get(name, IDLE.reason):
            return
        self._logged[name] = reason
        if fault is None:
            self.get_logger().info(f'The pictures of the camera {name} are used.')
        elif fault is not IDLE:
            self.get_logger().warning(_sentence(name, fault))
            self.diagnostics.error(_sentence(name, fault))

    def _measured(self, loop: PictureLoop) -> dict[str, Callable[[], object]]:
        values: dict[str, Callable[[], object]] = {
            'picture [s]': lambda: loop.spent_s,
            'model requests': lambda: self._use.requests,
            'model tokens': lambda: self._use.tokens,
            **self._poller.rates,
        }
        for feed in self._feeds:
            values[f'{feed.name} pictures [Hz]'] = feed.rate
            values[f'{feed.name} detections [Hz]'] = loop.rates[feed.name]
            values[f'{feed.name} dropped'] = partial(getattr, feed, 'dropped')
        return values


def _sentence(camera: str, fault: PictureFault | None) -> str:
    return f'The camera {camera} {fault.text}.' if fault else ''


def main() -> None:
    run(Perception)


if __name__ == '__main__':
    main()
