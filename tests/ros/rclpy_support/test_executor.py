"""The executor of the nodes: what runs at the same time, what in its turn, and what ends it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import rclpy
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.callback_groups import (
    CallbackGroup,
    MutuallyExclusiveCallbackGroup,
    ReentrantCallbackGroup,
)
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from bbllm_ros.rclpy_support.calls import wait_for
from bbllm_ros.rclpy_support.entities import leave_graph, steady_timer
from bbllm_ros.rclpy_support.executor import PoolExecutor, UnspunGroup
from tests.ros.stacks import PATIENCE_S, until

pytestmark = pytest.mark.ros

COUNT = 20


@pytest.fixture
def faults() -> list[BaseException]:
    return []


@pytest.fixture
def node(ros_domain: int, faults: list[BaseException]) -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = rclpy.create_node('spun', context=context)
    executor = PoolExecutor(4, faults.append, context=context)
    executor.add_node(node)
    executor.start()
    yield node
    executor.end(PATIENCE_S)
    leave_graph(node)
    rclpy.shutdown(context=context)


def listen(node: Node, receive: Callable[[Int32], None], group: CallbackGroup) -> Any:
    """Return a publisher that a subscription of the same node has found."""
    qos = QoSProfile(depth=2 * COUNT)
    node.create_subscription(Int32, 'numbers', receive, qos, callback_group=group)
    publisher = node.create_publisher(Int32, 'numbers', qos)
    until(publisher.get_subscription_count, 'the subscription')
    return publisher


def test_a_group_that_excludes_runs_one_message_after_the_other_in_their_order(
    node: Node,
) -> None:
    received: list[int] = []
    inside: list[int] = []
    together: list[int] = []

    def receive(msg: Int32) -> None:
        inside.append(msg.data)
        together.append(len(inside))
        received.append(msg.data)
        inside.remove(msg.data)

    publisher = listen(node, receive, MutuallyExclusiveCallbackGroup())
    for number in range(COUNT):
        publisher.publish(Int32(data=number))

    until(lambda: len(received) == COUNT, 'all messages')
    assert received == list(range(COUNT))
    assert set(together) == {1}


def test_a_service_that_blocks_keeps_no_other_from_answering(node: Node) -> None:
    go_on = threading.Event()
    group = ReentrantCallbackGroup()

    def block(_: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        reply.success = go_on.wait(PATIENCE_S)
        return reply

    def release(_: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        go_on.set()
        return reply

    answers = []
    for name, serve in (('block', block), ('release', release)):
        node.create_service(Trigger, name, serve, callback_group=group)
        client = node.create_client(Trigger, name, callback_group=group)
        until(client.service_is_ready, name)
        answers.append(client.call_async(Trigger.Request()))

    assert wait_for(answers[0], 'block', PATIENCE_S).success


def test_a_timer_never_overlaps_itself(node: Node) -> None:
    inside = threading.Lock()
    calls: list[bool] = []

    def call() -> None:
        free = inside.acquire(blocking=False)
        calls.append(free)
        time.sleep(0.02)
        inside.release()

    steady_timer(node, 0.001, call, ReentrantCallbackGroup())

    until(lambda: len(calls) >= 5, 'the timer')
    assert all(calls)


def test_what_was_destroyed_is_not_called_any_more_and_what_came_since_is(node: Node) -> None:
    received: list[str] = []
    group = ReentrantCallbackGroup()
    publisher = listen(node, lambda _: received.append('old'), group)
    publisher.publish(Int32())
    until(lambda: received == ['old'], 'the first message')
    node.destroy_subscription(next(x for x in node.subscriptions if x.topic_name == '/numbers'))
    until(lambda: publisher.get_subscription_count() == 0, 'the end of the subscription')

    node.create_subscription(Int32, 'numbers', lambda _: received.append('new'), 10)
    until(publisher.get_subscription_count, 'the new subscription')
    publisher.publish(Int32())

    until(lambda: received == ['old', 'new'], 'the second message')


def test_messages_of_an_unspun_group_wait_for_who_takes_them(node: Node) -> None:
    received: list[int] = []
    unspun: list[int] = []
    publisher = listen(node, lambda msg: received.append(msg.data), ReentrantCallbackGroup())
    left = node.create_subscription(
        Int32, 'numbers', lambda msg: unspun.append(msg.data), 10, callback_group=UnspunGroup()
    )
    until(lambda: publisher.get_subscription_count() == 2, 'both subscriptions')

    publisher.publish(Int32(data=7))

    until(lambda: received == [7], 'the message')
    assert not unspun
    with left.handle:
        taken, _ = left.handle.take_message(Int32, False)
    assert taken.data == 7


@pytest.mark.parametrize('group', [ReentrantCallbackGroup, MutuallyExclusiveCallbackGroup])
def test_a_fault_in_a_callback_is_reported_and_ends_no_other(
    node: Node, faults: list[BaseException], group: type[CallbackGroup]
) -> None:
    received: list[int] = []

    def receive(msg: Int32) -> None:
        if not msg.data:
            raise ZeroDivisionError('the first message')
        received.append(msg.data)

    publisher = listen(node, receive, group())
    publisher.publish(Int32(data=0))
    publisher.publish(Int32(data=1))

    until(lambda: received == [1], 'the second message')
    assert [str(fault) for fault in faults] == ['the first message']


def test_a_callback_that_awaits_what_is_not_done_is_a_fault(
    node: Node, faults: list[BaseException]
) -> None:
    async def wait() -> None:
        await rclpy.Future()

    executor = node.executor
    assert executor is not None
    with suppress(InvalidHandle):
        executor.create_task(wait)

    until(lambda: faults, 'the fault')
    assert 'awaits what is not done' in str(faults[0])
