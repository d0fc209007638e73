"""Records the topics of a running stack in a bag, beside whatever else the process does."""

import importlib
import threading
import time
import traceback
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from bbllm.bags.bag_file import BagFile
from bbllm.bags.definitions import definition_of
from bbllm.bags.topics import WRITTEN, Quality
from bbllm_ros.rclpy_support.executor import UnspunGroup
from bbllm_ros.rclpy_support.fast_subscription import UNKNOWN_NAME
from bbllm_ros.stack.stack import SIMULATED_REMAPS, SIMULATOR

TOPICS = (
    *(name for name in WRITTEN if name not in ('tf', 'tf_static')),
    'approval',
    'approval_events',
    'body_model',
    'camera_status',
    'controller_manager/activity',
    'detections',
    'detections_3d',
    'franka_robot_state_broadcaster/robot_state',
    'human_feedback',
    'markers',
    'plan_markers',
    'sim/goals',
    'status_markers',
)
"""
What is recorded in the namespace of a stack, and the transforms. Not `heartbeat`: a node does not
serve while another one publishes its heartbeats, as a replay would.
"""
EVERYWHERE = ('/rosout', '/diagnostics')
IMAGES = tuple(f'sensor_msgs/msg/{name}' for name in ('CompressedImage', 'Image', 'CameraInfo'))
"""Types that are recorded under whatever name in the namespace."""
COMPRESSED = '/compressed'
"""What image_transport appends to the name of an image that it also publishes compressed."""
HISTORIES = ('episode_events', 'approval_events')
"""Topics whose publishers keep what was long before the recording; that is left out."""
DEPTH = 1000
"""How many messages of a topic may wait: a second of a driver that publishes 1 kHz."""
IMAGES_DEPTH = 15
"""How many images of a topic may wait, as `DEPTH` of them would take gigabytes."""
PERIOD_S = 0.025
"""Wall time between two looks for messages [s]."""
POLL_S = 0.5
"""Wall time between two looks for publishers [s]."""
CHUNK_BYTES = 512 * 1024
CHUNK_S = 2.0
"""Wall time after which a chunk ends however small it is: what a crash loses at most [s]."""


class BagRecorder(AbstractContextManager['BagRecorder']):
    """
    Records what is published from now on, in a thread of its own; close it, or use it with `with`.

    Messages stay serialized as they come. A topic is recorded from when its publisher is seen,
    with the type and the qualities that it offers. Nothing is raised where the file cannot be
    written, because no task stops for it: see `broken`.
    """

    def __init__(self, node: Node, path: Path, namespace: str) -> None:
        """
        Begin a bag.

        Args:
            node: Whose participant receives; its executor is left alone.
            path: A file that does not exist.
            namespace: That of the stack.
        """
        self._node, self._namespace = node, namespace
        self._file = BagFile(path, chunk_bytes=CHUNK_BYTES)
        self._fault = ''
        self._group = UnspunGroup()
        self._begun_ns = time.time_ns()
        self._subscriptions: dict[str, Any] = {}
        self._histories = {f'/{namespace}/{name}' for name in HISTORIES}
        self._left_out: set[str] = set()
        self._ending = threading.Event()
        self._observe()
        self._thread = threading.Thread(target=self._run, name='bag', daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def broken(self) -> str:
        """Why not everything was recorded, in sentences; empty where it was."""
        unread = ', '.join(sorted(self._left_out))
        notes = f'Not recorded, because the type is not installed here: {unread}.' * bool(unread)
        return ' '.join(filter(None, (self._file.broken, self._fault, notes)))

    @property
    def count(self) -> int:
        """How many messages were recorded so far."""
        return self._file.count

    @property
    def topics(self) -> frozenset[str]:
        """Whole names of the topics that are recorded now."""
        return frozenset(self._subscriptions)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Record what has come so far, and write the index of the file."""
        self._ending.set()
        self._thread.join()
        self._file.close()

    def _run(self) -> None:
        observed_s = ended_s = time.monotonic()
        try:
            while self._file.is_open:
                if ending := self._ending.wait(PERIOD_S):
                    time.sleep(PERIOD_S)  # what others have just received is on its way here too
                turn_ns = time.time_ns()
                for topic, subscription in self._subscriptions.items():
                    self._take(topic, subscription, turn_ns)
                if ending:
                    return
                now_s = time.monotonic()
                if now_s >= observed_s + POLL_S:
                    observed_s = now_s
                    self._observe()
                if now_s >= ended_s + CHUNK_S:
                    ended_s = now_s
                    self._file.flush(end_chunk=True)
        except InvalidHandle:
            return  # the node was destroyed: its process ends
        except Exception:  # a recording that ended must not look whole
            self._fault = f'The recording {self.path} broke off:\n{traceback.format_exc()}'

    def _take(self, topic: str, subscription: Any, turn_ns: int) -> None:
        """Record what had come when the turn began: more may come than can be written."""
        with subscription.handle:
            while taken := subscription.handle.take_message(subscription.msg_type, True):
                data, info = taken
                sent_ns = info['source_timestamp']
                if topic not in self._histories or sent_ns >= self._begun_ns:
                    self._file.write(topic, data, info['received_timestamp'], sent_ns)
                if info['received_timestamp'] > turn_ns:
                    return

    def _observe(self) -> None:
        """Subscribe to wanted topics whose publishers have come."""
        found = dict(self._node.get_topic_names_and_types())
        for topic in self._wanted(found) - self._subscriptions.keys() - self._left_out:
            if publishers := self._node.get_publishers_info_by_topic(topic):
                self._subscribe(topic, publishers)

    def _wanted(self, found: dict[str, list[str]]) -> set[str]:
        base = f'/{self._namespace}'
        names = {f'{base}/{name}' for name in TOPICS}
        here = (SIMULATOR, base) in self._node.get_node_names_and_namespaces()
        names |= {f'{base}/{new}' if here else old for old, new in SIMULATED_REMAPS}
        for topic, kinds in found.items():
            if topic.startswith(f'{base}/') and kinds[0] in IMAGES:
                if self._may_be_simulated(topic) and not self._node.count_subscribers(topic):
                    continue  # a recording alone lets no simulated camera draw
                names |= {topic} if topic + COMPRESSED not in found else set()
        return (names | {*EVERYWHERE}) & found.keys()

    def _may_be_simulated(self, topic: str) -> bool:
        """Return whether a topic is the simulator's, or of a node whose name has not come yet."""
        publishers = self._node.get_publishers_info_by_topic(topic)
        return any(each.node_name in (SIMULATOR, UNKNOWN_NAME) for each in publishers)

    def _subscribe(self, topic: str, publishers: Any) -> None:
        message = publishers[0].topic_type
        try:
            definition, kind = definition_of(message, installed_text), class_of(message)
        except (PackageNotFoundError, ImportError, AttributeError, OSError):
            self._left_out.add(topic)
            return
        offered = [publisher.qos_profile for publisher in publishers]
        qualities = ''.join(str(quality_of(profile)) for profile in offered)
        self._file.add_topic(
            topic, message, definition, qualities, str(publishers[0].topic_type_hash)
        )
        self._subscriptions[topic] = self._node.create_subscription(
            kind,
            topic,
            lambda _: None,
            accepting(offered, IMAGES_DEPTH if message in IMAGES else DEPTH),
            callback_group=self._group,
            raw=True,
        )


def class_of(message: str) -> Any:
    """Return the class of a message, `package/msg/Name`; ImportError, AttributeError without."""
    package, _, name = message.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)


@cache
def installed_text(name: str) -> str:
    """
    Return the definition of one message, `package/Name`, with its comments.

    Raises PackageNotFoundError or OSError where it is not installed.
    """
    package, _, message = name.partition('/')
    path = Path(get_package_share_directory(package), 'msg', f'{message}.msg')
    return path.read_text('utf-8')


def quality_of(profile: QoSProfile) -> Quality:
    """Return a quality of service as rosbag2 writes it."""
    return Quality(
        history=profile.history.name.lower(),
        depth=profile.depth,
        reliability=profile.reliability.name.lower(),
        durability=profile.durability.name.lower(),
        liveliness=profile.liveliness.name.lower(),
        deadline_ns=profile.deadline.nanoseconds,
        lifespan_ns=profile.lifespan.nanoseconds,
        lease_ns=profile.liveliness_lease_duration.nanoseconds,
    )


def accepting(offered: list[QoSProfile], depth: int) -> QoSProfile:
    """Return the best quality that all publishers offer, for so many messages that wait."""
    reliable = all(each.reliability is ReliabilityPolicy.RELIABLE for each in offered)
    latched = all(each.durability is DurabilityPolicy.TRANSIENT_LOCAL for each in offered)
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )
