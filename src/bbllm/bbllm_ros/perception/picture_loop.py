"""The thread that works at the newest pictures of all cameras, and what keeps it from that."""

import math
import threading
import time
import traceback
from collections.abc import Callable, Sequence

from rclpy._rclpy_pybind11 import InvalidHandle

from bbllm.scene.camera import RgbdImage
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import TransformTree
from bbllm_ros.convert.images import ImageError
from bbllm_ros.perception.camera_feed import CameraFeed, Pair
from bbllm_ros.rclpy_support.diagnostics import Rate
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_vision.detectors.picture_reader import PictureReader, RobotClock
from bbllm_vision.picture_health import PictureFault

Found = Callable[[Sequence[Detection], RgbdImage], None]


class PictureLoop:
    """
    Reads the newest picture of each camera as soon as the one before is done.

    Args:
        node: The node; it fails where this thread does.
        poller: Takes the transforms.
        tree: The transforms, whose newest stamp is the world's clock.
        reader: From a picture to its detections.
        on_found: Called with the detections of a picture and the picture.
        on_judged: Called after each picture.
    """

    def __init__(
        self,
        node: StackNode,
        poller: Poller,
        tree: TransformTree,
        reader: PictureReader,
        on_found: Found,
        on_judged: Callable[[], None],
    ) -> None:
        self.feeds: tuple[CameraFeed, ...] = ()
        self.rates: dict[str, Rate] = {}
        """How often pictures of each camera become detections."""
        self.spent_s = math.nan
        """How long the newest picture took, wall clock [s]."""
        self._node = node
        self._poller = poller
        self._tree = tree
        self._reader = reader
        self._on_found = on_found
        self._on_judged = on_judged
        self._clock = RobotClock()
        self._faults: dict[str, PictureFault | None] = {}
        self._news = threading.Event()
        self._ended = False

    def start(self, feeds: Sequence[CameraFeed]) -> None:
        """Begin with some cameras."""
        self.feeds = tuple(feeds)
        self.rates = {feed.name: Rate() for feed in feeds}
        threading.Thread(target=self._run, name='pictures', daemon=True).start()

    def wake(self) -> None:
        """Let the thread see that a camera has a new pair."""
        self._news.set()

    def end(self) -> None:
        """Let the thread end after the picture that it works at."""
        self._ended = True
        self._news.set()

    def fault(self, feed: CameraFeed) -> PictureFault | None:
        """Return why the pictures of a camera are not used now; None where they are."""
        return feed.fault() or self._faults.get(feed.name)

    def _run(self) -> None:
        try:
            while self._news.wait() and not self._ended:
                self._news.clear()
                for feed in self.feeds:
                    pair = feed.take()
                    if pair is not None and not self._ended:
                        self._process(feed, pair)
        except InvalidHandle:
            return  # the node was destroyed: its process ends, or it was deactivated
        except Exception:  # a node that no longer sees must not look alive
            self._node.fail(f'fault in reading a picture:\n{traceback.format_exc()}')

    def _process(self, feed: CameraFeed, pair: Pair) -> None:
        begun_s = time.monotonic()
        outcome = self._read(feed, pair)
        if isinstance(outcome, PictureFault):
            self._faults[feed.name] = outcome
        else:
            self._on_found(*outcome)
            self._faults[feed.name] = None
            self.rates[feed.name].count()
        self.spent_s = time.monotonic() - begun_s
        self._on_judged()

    def _read(
        self, feed: CameraFeed, pair: Pair
    ) -> tuple[Sequence[Detection], RgbdImage] | PictureFault:
        try:
            image = feed.read(pair)
        except ImageError as error:
            text = f'sends what cannot be read: {error}'.rstrip('.')
            return PictureFault(reason='format', text=text)
        # What joins a moving camera to the world has to be as new as its picture.
        self._poller.refresh(0.0)
        now_s = time.monotonic()
        self._clock.take(self._tree.newest_stamp_s, now_s)
        found = self._reader.read(feed.name, image, self._clock.now_s(now_s))
        return found if isinstance(found, PictureFault) else (found, image)
