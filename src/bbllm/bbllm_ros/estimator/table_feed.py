"""The state of a real table: the topics of cameras and hand, joined by `worlds.tabletop`."""

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.core.constants import SAME_S
from bbllm.core.errors import SceneError, WorldError
from bbllm.scene.detections import WORLD_FRAME, DetectionBatch, SightingParams
from bbllm.worlds.perception.tracking import TrackingParams
from bbllm.worlds.tabletop.table import ObservedTable, ObserverParams, TableView
from bbllm_ros.convert.arm import width_from_msg
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.estimator.camera_status_feed import CameraStatusFeed
from bbllm_ros.estimator.detection_feed import SOURCE as TF
from bbllm_ros.estimator.detection_feed import TOPICS, TfFeed, subscribe_detections
from bbllm_ros.parameters.node_params import StateEstimatorParams
from bbllm_ros.parameters.scene_sources import CAMERAS, SceneSource, SourceConfig
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode

HAND_QOS = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
WAITING = 500
"""How many measurements may wait before the oldest are dropped."""
REPORT_S = 60.0
CATCH_UP_S = 0.5


class TableFeed:
    """
    Joins the messages of cameras and hand, in a thread, in the order in which they came.

    Joint states of the same moment may come after a picture or a width, and are waited for.
    """

    def __init__(
        self,
        node: StackNode,
        poller: Poller,
        joints: JointFeed,
        params: StateEstimatorParams,
        config: SourceConfig,
    ):
        self._node = node
        self._joints = joints
        self._max_age_s = params.max_age_s
        self._max_delay_s = params.max_delay_s
        self._cameras = config.sources & CAMERAS
        self.skills = config.skills
        """What the scene file offers beside the skills of every table."""
        self._reported: dict[str, int] = {}
        warn = node.get_logger().warning
        self._table = ObservedTable(
            config.fixed, config.things, config.catalogue, _observing(params), warn
        )
        self._doubts = self._table.doubts
        self._received_s: dict[str, float] = {}
        self._news = threading.Condition()
        self._poller = poller
        self._inbox: deque[Callable[[], None]] = deque(maxlen=WAITING)
        self._arrived = threading.Semaphore(0)
        hand = f'{params.gripper}/joint_states'
        poller.subscribe(JointStateMsg, hand, self._receive_hand, HAND_QOS)
        self._status: CameraStatusFeed | None = None
        if SceneSource.CAMERA in self._cameras:
            self._status = CameraStatusFeed(node, poller, self._notify)
        if self._cameras:
            subscribe_detections(poller, self._cameras, self._receive_batch)
            tags = config.catalogue.tag_frames if SceneSource.APRILTAG in config.sources else ()
            TfFeed(poller, self._table.tree, self._doubts, tags, self._receive_batch)
        node.every(REPORT_S, self._report)
        threading.Thread(target=self._run, name='table', daemon=True).start()

    @property
    def seen(self) -> bool:
        return not self._cameras or bool(self._received_s)

    @property
    def fresh(self) -> bool:
        """Whether there is something to show, and every camera that should send pictures does."""
        with self._news:
            return self._table.hand_stamp_s > 0.0 and self._fresh()

    def observe(
        self, not_before_s: float, wait_s: float, *, or_stopped: bool = False
    ) -> TableView:
        """
        Return the table, sensed at a time on the world's clock or later as far as it can be [s].

        *wait_s* is by the wall clock, and is longer by the largest delay of a picture while
        pictures come that were taken before the time; *or_stopped* takes the last state of a
        stopped robot. A fault of a camera that lasts ends the wait only without a time: a task,
        which has one, would end with it, and on a busy machine pictures may come again.

        Raises SceneError with the source that fell silent or what is lost, LostNodeError where no
        states of arm or hand are received.
        """
        if or_stopped and self._joints.stopped:
            with self._news:
                if self._table.hand_stamp_s > 0.0:
                    return self._table.view()
        self._joints.at(not_before_s)  # raises where nobody knows where the arm is
        since_s = not_before_s - SAME_S

        def ended() -> bool:
            return (not_before_s <= 0.0 and self._given_up()) or (
                self._fresh() and self._table.shows(since_s, is_alive=self._lives)
            )

        with self._poller.hurrying(), self._news:
            self._news.wait_for(ended, wait_s)
            if wait_s > 0.0 and self._fresh() and self._table.behind(since_s):
                self._news.wait_for(ended, self._max_delay_s)
            if not self._fresh():
                raise SceneError(self._silence())
            behind = self._table.behind(since_s)
            if behind:
                raise SceneError(
                    f'The scene is stale: within {wait_s:g} s no picture came that was taken '
                    f'after the moment that was asked for and could show {", ".join(behind)}.'
                )
            if self._table.hand_stamp_s < since_s:
                raise SceneError(
                    f'The scene is stale: within {wait_s:g} s nothing newer came from the hand.'
                )
            return self._table.view()

    def _lives(self, source: str) -> bool:
        received_s = self._received_s.get(source, -math.inf)
        return time.monotonic() - received_s <= self._max_age_s

    def _fresh(self) -> bool:
        if not self._cameras:
            return True
        return bool(self._received_s) and not self._silent() and not self._camera_fault()

    def _camera_fault(self) -> str:
        return '' if self._status is None else self._status.fault()

    def _given_up(self) -> bool:
        """Return whether a camera has had a fault for so long that its end is not waited for."""
        return self._status is not None and self._status.lasting

    def _silent(self) -> list[str]:
        """Return the sources that send no pictures any more, though they would even of nothing."""
        return [
            source
            for source in self._table.sources
            if not (self._lives(source) or self._may_be_silent(source))
        ]

    def _may_be_silent(self, source: str) -> bool:
        """Return whether a source that reports only what it sees, tags, has none in view."""
        return source.startswith(TF) and self._table.all_hidden(source)

    def _silence(self) -> str:
        if fault := self._camera_fault():
            return f'The scene is {"stale" if self._received_s else "empty"}. {fault}'
        if not self._received_s:
            names = sorted(TOPICS.get(source, TF) for source in self._cameras)
            topics = ' or '.join(self._node.resolve_topic_name(name) for name in names)
            reason = (
                f'What came could not be used. {self._doubts.newest}'
                if self._doubts.newest
                else 'Is the detector running?'
            )
            return f'The scene is empty: no usable picture came on {topics}. {reason}'
        silent = self._silent()
        past_s = max(time.monotonic() - self._received_s[source] for source in silent)
        return (
            f'The scene is stale: there was no usable picture of {", ".join(silent)} for '
            f'{past_s:.1f} s. {self._doubts.newest}'.rstrip()
        )

    def _notify(self) -> None:
        with self._news:
            self._news.notify_all()

    def _report(self) -> None:
        counts = dict(self._doubts.counts)
        if counts != self._reported:
            self._reported = counts
            counted = ', '.join(f'{reason} {count}' for reason, count in sorted(counts.items()))
            self._node.get_logger().info(f'Left out or put right since the start: {counted}.')

    def _receive_hand(self, msg: JointStateMsg) -> None:
        width_m = width_from_msg(msg)
        if width_m is not None:
            stamp_s = stamp_from_msg(msg.header.stamp)
            self._post(lambda: self._take_hand(width_m, stamp_s))

    def _receive_batch(self, batch: DetectionBatch) -> None:
        self._post(lambda: self._process_batch(batch))

    def _post(self, take_in: Callable[[], None]) -> None:
        self._inbox.append(take_in)
        self._arrived.release()

    def _run(self) -> None:
        try:
            while self._arrived.acquire():
                try:
                    take_in = self._inbox.popleft()
                except IndexError:
                    continue  # it was one of those that were dropped
                if self._joints.fresh:  # without the arm nobody knows where hand and things are
                    try:
                        take_in()
                    except WorldError:
                        continue
        except Exception:  # a node that no longer sees its table must not look alive
            self._node.fail(f'fault in joining what is seen:\n{traceback.format_exc()}')

    def _take_hand(self, width_m: float, stamp_s: float) -> None:
        # The width of this very message: the feed may have heard a newer one by now.
        hand = replace(self._joints.hand(stamp_s, CATCH_UP_S), width_m=width_m)
        with self._news:
            self._table.take_hand(hand, stamp_s)
            self._news.notify_all()

    def _process_batch(self, batch: DetectionBatch) -> None:
        # A camera that moves need not show what it has shown before.
        is_still = self._table.tree.is_fixed(WORLD_FRAME, batch.frame)
        picture = self._table.read(batch, self._joints.newest_stamp_s, complete=is_still)
        if picture is None:
            return
        hand = self._joints.hand(batch.stamp_s, CATCH_UP_S)
        with self._news:
            # A detector that sends the same picture again and again tells nothing.
            if picture.stamp_s > self._table.newest_s(picture.source):
                self._received_s[picture.source] = time.monotonic()
            self._table.take_picture(picture, hand)
            self._news.notify_all()


def _observing(params: StateEstimatorParams) -> ObserverParams:
    return ObserverParams(
        sightings=SightingParams(
            min_confidence=params.min_confidence, max_delay_s=params.max_delay_s
        ),
        tracking=TrackingParams(
            window_s=params.window_s,
            gate_m=params.gate_m,
            gate_rad=math.radians(params.gate_deg),
            agreeing=params.agreeing,
            lost_after_s=params.lost_after_s,
        ),
        hidden_m=params.hidden_m,
    )
