"""
Reads fast topics beside the executor.

An executor wakes up for every message, and the real driver sends a thousand a second. To take what
has come ten times a second costs a fraction of that and loses nothing; while something waits for
news, it is taken every few milliseconds. Whoever reads without waiting calls `Poller.refresh`.
"""

import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile

from bbllm_ros.rclpy_support.diagnostics import Rate
from bbllm_ros.rclpy_support.entities import take_all
from bbllm_ros.rclpy_support.executor import UnspunGroup
from bbllm_ros.rclpy_support.stack_node import StackNode

M = TypeVar('M')
PERIOD_S = 0.002
"""Wall time between polls while something waits for news [s]."""
REST_S = 0.1
"""Wall time between polls otherwise [s]."""
FRESH_S = 0.02
"""How long ago messages may have been taken for whoever reads them without waiting [s]."""
DEPTH = 250
"""
How many messages of a fast topic may wait for the next poll: the driver sends 1 kHz, and a busy
machine may be late.
"""
UNKNOWN_NAME = '_NODE_NAME_UNKNOWN_'


class Poller:
    """A thread that takes the messages of some topics of one node."""

    def __init__(self, node: StackNode):
        self._node = node
        self._group = UnspunGroup()
        self._feeds: list[tuple[Any, Callable[[Any, float], None]]] = []
        self.came_s = 0.0
        """When DDS received the message that is handed over, wall clock [s]."""
        self.rates: dict[str, Rate] = {}
        """How often messages of each topic come."""
        self.after: Callable[[], None] = lambda: None
        """Called after each poll, in the thread that polls."""
        self._lock = threading.Lock()
        self._taking = threading.Lock()
        self._taker: int | None = None
        self._took_s = -math.inf
        self._waiting = 0
        self._wanted = threading.Event()
        self._thread = threading.Thread(target=self._run, name='poller', daemon=True)

    def subscribe(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile | int,
        read: Callable[[bytes], Any] | None = None,
    ) -> None:
        """
        Call *callback* with every message of a topic, one at a time, in the thread that takes it.

        With *read* it is called with what that makes of the serialized message.
        """
        rate = self.rates.setdefault(f'{topic} [Hz]', Rate())

        def take(message: Any, came_s: float) -> None:
            rate.count()
            self.came_s = came_s
            callback(message if read is None else read(message))

        subscription = self._node.create_subscription(
            kind, topic, take, qos, callback_group=self._group, raw=read is not None
        )
        self._feeds.append((subscription, take))

    def start(self) -> None:
        self._thread.start()

    def take(self) -> None:
        """
        Take what has come so far, so that whatever is taken from now on came later.

        Not to be called while the `news` of a topic are locked.
        """
        if self._taker == threading.get_ident():
            return  # called by what is handed over just now
        with self._taking:
            self._taker, self._took_s = threading.get_ident(), time.monotonic()
            try:
                for subscription, callback in self._feeds:
                    take_all(subscription, callback)
            finally:
                self._taker = None

    def refresh(self, older_s: float = FRESH_S) -> None:
        """Take what has come, unless that was done within a time [s]; see `take`."""
        if time.monotonic() - self._took_s > older_s:
            with suppress(InvalidHandle):  # the node was destroyed: nothing comes any more
                self.take()

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """Take messages as soon as they come, for whoever waits for news."""
        with self._lock:
            self._waiting += 1
            self._wanted.set()
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1
                if not self._waiting:
                    self._wanted.clear()

    def _run(self) -> None:
        try:
            while True:
                self.take()
                self.after()
                if self._wanted.wait(REST_S):
                    time.sleep(PERIOD_S)
        except InvalidHandle:
            return  # the node was destroyed: its process ends
        except Exception:  # a node that no longer hears its robot must not look alive
            self._node.fail(f'fault in reading a topic:\n{traceback.format_exc()}')


class LatestMessage(Generic[M]):
    """
    The newest message of a topic: its age by the wall clock, its publisher, and waits for news.

    *take* is called with each message while `news` is locked; one for which it returns False
    counts as not received. *read* makes of the serialized message what counts as one. *news* is
    notified of each message; by default it is of this topic alone.
    """

    def __init__(
        self,
        node: Node,
        poller: Poller,
        kind: Any,
        topic: str,
        qos: QoSProfile | int = 1,
        *,
        take: Callable[[M], bool] = lambda _: True,
        read: Callable[[bytes], M] | None = None,
        news: threading.Condition | None = None,
    ):
        self.topic: str = node.resolve_topic_name(topic)
        self.news = news or threading.Condition()
        self.message: M | None = None
        self.count = 0
        """Number of messages so far."""
        self.taken_s = -math.inf
        """When the newest message was taken, monotonic clock [s]."""
        self.came_s = -math.inf
        """When DDS received it, wall clock [s]."""
        self.source = ''
        """Name of the node that publishes; empty as long as it is not discovered."""
        self._node = node
        self._poller = poller
        self._take = take
        poller.subscribe(kind, topic, self._receive, qos, read)

    @property
    def age_s(self) -> float:
        """Age of the newest message, by the wall clock; infinite without any [s]."""
        return time.monotonic() - self.taken_s

    def wait_for(self, test: Callable[[], object], timeout_s: float) -> bool:
        with self.news:
            if test() or timeout_s <= 0:
                return bool(test())
            with self._poller.hurrying():
                return bool(self.news.wait_for(test, timeout_s))

    def wait_for_news(self, timeout_s: float, n: int = 1) -> bool:
        """Return whether *n* messages came after this call within a time [s]."""
        self._poller.refresh(0.0)
        with self.news:
            count = self.count + n
            return self.wait_for(lambda: self.count >= count, timeout_s)

    def wait_newer(self, than_s: float, timeout_s: float) -> bool:
        return self.wait_for(lambda: self.taken_s > than_s, timeout_s)

    def _receive(self, msg: M) -> None:
        with self.news:
            if not self._take(msg):
                return
            if not self.source:  # once the node is killed, its name cannot be looked up any more
                self.source = self._find_source()
            self.message, self.taken_s = msg, time.monotonic()
            self.came_s = self._poller.came_s
            self.count += 1
            self.news.notify_all()

    def _find_source(self) -> str:
        publishers = self._node.get_publishers_info_by_topic(self.topic)
        return next((x.node_name for x in publishers if x.node_name != UNKNOWN_NAME), '')
