"""A listener whose executor needs long for a round, and nodes that beat on time meanwhile."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import ROSClock
from rclpy.context import Context
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.time import Time
from rclpy.time_source import TimeSource
from rosgraph_msgs.msg import Clock
from stacks import until
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm.ros.rclpy_support import entities, heartbeat
from bbllm.ros.rclpy_support.entities import leave_graph, take_all
from bbllm.ros.rclpy_support.heartbeat import QOS, TOPIC, listen
from bbllm.ros.rclpy_support.liveness import PERIOD_S, Liveness
from bbllm.ros.rclpy_support.peer_process import PeerProcess

pytestmark = pytest.mark.ros

NAMES = tuple(f'node_{number}' for number in range(6))
ALL = QoSProfile(depth=1000, reliability=QOS.reliability)
SOON_S = 1e-3
LONG_S = 60.0
"""How long is listened; with one beat a round, nodes were told dead from the 7th second on [s]."""
ROUNDS_S = pytest.mark.parametrize('round_s', [0.2, 0.6])
HERE = pytest.mark.parametrize('here', [True, False], ids=['on this machine', 'elsewhere'])


class FakeTime:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.clock = ROSClock()
        self.now_s = 0.0
        self._source = TimeSource()
        self._source.attach_clock(self.clock)
        self._source.ros_time_is_active = True
        self.set(100.0)

    def set(self, now_s: float) -> None:
        self.now_s = now_s
        stamp = Time(nanoseconds=round(now_s * 1e9)).to_msg()
        self._source.clock_callback(Clock(clock=stamp))


class Crowd:
    def __init__(self, node: Node, time: FakeTime, here: bool):
        self.silent = ''
        self._time = time
        self._process = str(PeerProcess.own()) if here else 'elsewhere 1 1'
        self._publisher = node.create_publisher(String, TOPIC, QOS)
        self._witness = node.create_subscription(String, TOPIC, lambda _: None, ALL)
        self._said = 0
        self._seen: list[String] = []
        until(lambda: self._publisher.get_subscription_count() == 2, 'listener')
        self._begun_s, self._beats = time.now_s, 0

    def beat_until(self, now_s: float) -> None:
        """Let all beats come that are due until then, one node after the other."""
        while (due_s := self._begun_s + self._beats * PERIOD_S / len(NAMES)) <= now_s:
            self._time.set(due_s)
            name = NAMES[self._beats % len(NAMES)]
            self._beats += 1
            if name != self.silent:
                self._said += 1
                self._publisher.publish(String(data=f'{name} life {self._process}'))
        self._time.set(now_s)
        until(self._all_came, 'beat')

    def _all_came(self) -> bool:
        take_all(self._witness, self._seen.append)
        return len(self._seen) == self._said


class Listener:
    def __init__(
        self, node: Node, executor: Executor, crowd: Crowd, time: FakeTime, heard: Liveness
    ):
        self.heard = heard
        self.crowd = crowd
        self._time = time
        self._executor = executor
        self._round_s = 0.0
        node.create_timer(SOON_S, self._work, clock=time.clock)

    def blamed(self, for_s: float, round_s: float) -> Iterator[set[str]]:
        self._round_s = round_s
        until_s = self._time.now_s + for_s
        self._time.set(self._time.now_s + SOON_S)
        while self._time.now_s < until_s:
            self._executor.spin_once()
            yield {name for name in NAMES if self._gone(name)}

    def _work(self) -> None:
        self.crowd.beat_until(self._time.now_s + self._round_s)

    def _gone(self, name: str) -> bool:
        try:
            self.heard.check([name])
        except LostNodeError:
            return True
        return False


@contextmanager
def joined(make: Callable[[Context], Executor]) -> Iterator[tuple[Node, Node, Executor]]:
    context = Context()
    rclpy.init(context=context)
    node, others = (rclpy.create_node(name, context=context) for name in ('listener', 'others'))
    executor = make(context)
    executor.add_node(node)
    try:
        yield node, others, executor
    finally:  # whoever is left in the graph would be taken for the next test's listener
        executor.shutdown(timeout_sec=1.0)
        leave_graph(node, others)
        rclpy.shutdown(context=context)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    time = FakeTime()
    monkeypatch.setattr(entities, 'Clock', lambda clock_type: time.clock)
    return time


@contextmanager
def listening(time: FakeTime, here: bool) -> Iterator[Listener]:
    with joined(lambda context: SingleThreadedExecutor(context=context)) as (
        node,
        others,
        executor,
    ):
        heard = listen(node)
        crowd = Crowd(others, time, here)
        yield Listener(node, executor, crowd, time, heard)


@HERE
@ROUNDS_S
def test_a_listener_with_long_rounds_tells_the_one_that_beats_no_more(
    ros_domain: int, time: FakeTime, round_s: float, here: bool
) -> None:
    with listening(time, here) as listener:
        list(listener.blamed(3 * PERIOD_S, round_s))
        listener.crowd.silent = NAMES[3]

        told = [blamed for blamed in listener.blamed(LONG_S, round_s) if blamed]

        assert told
        assert all(blamed == {NAMES[3]} for blamed in told)


def test_turns_that_wait_for_a_thread_are_not_counted_side_by_side(
    ros_domain: int, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    ticks: list[int] = []
    held = threading.Event()

    def take_long(*_: object) -> None:
        begun.append(len(ticks))
        held.wait()

    monkeypatch.setattr(heartbeat, 'take_all', take_long)
    with joined(lambda context: MultiThreadedExecutor(8, context=context)) as (node, _, executor):
        listen(node)
        node.create_timer(
            PERIOD_S,
            lambda: ticks.append(1),
            callback_group=ReentrantCallbackGroup(),
            clock=time.clock,
        )
        try:
            for count in range(1, 5):
                time.set(time.now_s + PERIOD_S)
                while len(ticks) < count:
                    executor.spin_once(timeout_sec=1.0)
            until(lambda: begun, 'turn')

            assert len(begun) == 1
        finally:
            held.set()
