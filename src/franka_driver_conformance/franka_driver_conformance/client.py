"""A client that uses only the interfaces of the driver, and records its messages."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from controller_manager_msgs.srv import ListControllers
from franka_msgs import action as franka_actions
from rclpy.action import (
    ActionClient,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from franka_driver_conformance.expectations import CheckFailedError
from franka_driver_conformance.recording import Recording

PATIENCE_S = 5.0
"""Default time limit for everything that the driver does at once [s]."""
POLL_S = 0.02
ASK_AGAIN_S = 1.0
PROBE_S = 0.002
"""Interval between polls of a topic; the driver publishes a thousand messages a second [s]."""
ANY = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Matches publishers of every reliability; other checks look at which one they have."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STATUSES = {
    GoalStatus.STATUS_SUCCEEDED: 'SUCCEEDED',
    GoalStatus.STATUS_CANCELED: 'CANCELED',
    GoalStatus.STATUS_ABORTED: 'ABORTED',
}
HAND_ACTIONS = {
    'homing': franka_actions.Homing,
    'move': franka_actions.Move,
    'grasp': franka_actions.Grasp,
    'gripper_action': GripperCommand,
}


class NoDriverError(Exception):
    """No driver answers."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a goal ended."""

    status: str
    result: Any

    @property
    def trajectory_end(self) -> tuple[str, int, str]:
        return self.status, self.result.error_code, self.result.error_string


@contextmanager
def interrupt_afterwards() -> Iterator[None]:
    """
    Delay Ctrl-C to the end of the block, which has to be short.

    rclpy builds messages in calls from C++, which turn a KeyboardInterrupt into a TypeError.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupts:
            raise KeyboardInterrupt


class DriverClient:
    """
    One client of the driver in a namespace; close it, or use it with `with`.

    Names are relative to the namespace. The calling thread serves all callbacks while it waits, so
    no answer arrives before the request is registered. An empty *gripper* is an arm without hand;
    *patience_s* limits everything that the driver does at once [s].
    """

    def __init__(
        self,
        namespace: str,
        *,
        controller: str = 'fr3_arm_controller',
        gripper: str = 'franka_gripper',
        recording: Recording | None = None,
        patience_s: float = PATIENCE_S,
    ):
        self.controller, self.gripper = controller, gripper
        self.recording = recording or Recording()
        self.patience_s = patience_s
        self.place = f'/{namespace.strip("/")}'
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self.node, self._probes = (
            rclpy.create_node(
                f'conformance_{kind}_{os.getpid()}',
                namespace=self.place,
                context=self._context,
                enable_rosout=False,
                start_parameter_services=False,
            )
            for kind in ('client', 'probes')
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._actions: dict[str, ActionClient] = {}
        self._services: dict[str, Any] = {}

    def __enter__(self) -> DriverClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._executor.shutdown()
        for client in self._actions.values():
            client.destroy()
        self.node.destroy_node()
        self._probes.destroy_node()
        self._context.try_shutdown()

    def await_driver(self, timeout_s: float) -> None:
        """Wait until the controller manager answers; raises NoDriverError."""
        name = 'controller_manager/list_controllers'
        client = self._services[name] = self.node.create_client(ListControllers, name)
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            if client.wait_for_service(POLL_S):
                future = client.call_async(ListControllers.Request())
                self._executor.spin_until_future_complete(future, ASK_AGAIN_S)
                if future.done():
                    return
                future.cancel()
        domain = os.environ.get('ROS_DOMAIN_ID') or '0'
        raise NoDriverError(
            f'No driver answers under {self.place} in ROS domain {domain}: {name} is not served '
            f'within {timeout_s:g} s. Start the driver, or name its namespace and ROS_DOMAIN_ID.'
        )

    def prepare_goals(self) -> None:
        """Create the clients of all actions now, so that the driver finds them in time."""
        for name, kind in self._goal_names().items():
            self._action(kind, name)

    def probe(self, kind: Any, topic: str, *, latched: bool = False) -> TopicProbe:
        return TopicProbe(self._probes, kind, topic, self.recording, latched=latched)

    def receive(self, kind: Any, topic: str, *, latched: bool = False) -> Any:
        """Return the next message of a topic, or raise CheckFailedError."""
        with self.probe(kind, topic, latched=latched) as probe:
            return probe.next(self.patience_s)

    def publish(self, kind: Any, topic: str, message: Any) -> None:
        """Publish a message once the topic has a subscriber, or raise CheckFailedError."""
        publisher = self.node.create_publisher(kind, topic, 10)
        try:
            self.wait_until(publisher.get_subscription_count, f'a subscriber of {topic}')
            time.sleep(0.5)  # the other side may match later
            self.recording.note('sent', topic, message)
            publisher.publish(message)
            time.sleep(0.5)
        finally:
            self.node.destroy_publisher(publisher)

    def call(self, kind: Any, name: str, request: Any) -> Any:
        if name not in self._services:
            self._services[name] = self.node.create_client(kind, name)
        client = self._services[name]
        self.wait_until(client.service_is_ready, f'a server of {name}')
        self.recording.note('sent', name, request)
        answer = self.wait(client.call_async(request), f'an answer of {name}')
        self.recording.note('received', name, answer)
        return answer

    def send(self, kind: Any, name: str, goal: Any) -> SentGoal:
        client = self._action(kind, name)
        self.wait_until(client.server_is_ready, f'a server of {name}')
        return SentGoal(self, client, name, goal)

    def wait(self, future: Any, what: str, timeout_s: float | None = None) -> Any:
        """Serve callbacks until a future is done and return its result, or raise."""
        try:
            self.wait_until(future.done, what, timeout_s)
        finally:
            if not future.done():
                future.cancel()
        return future.result()

    def wait_until(
        self, holds: Callable[[], Any], what: str, timeout_s: float | None = None
    ) -> None:
        """Serve callbacks until a condition holds, or raise CheckFailedError."""
        limit_s = self.patience_s if timeout_s is None else timeout_s
        deadline_s = time.monotonic() + limit_s
        while not holds():
            if time.monotonic() > deadline_s:
                raise CheckFailedError(f'{what} within {limit_s:g} s', 'none')
            with interrupt_afterwards():
                self._executor.spin_once(timeout_sec=POLL_S)

    def services(self) -> dict[str, list[str]]:
        return dict(self.node.get_service_names_and_types())

    def actions(self) -> dict[str, list[str]]:
        return dict(get_action_names_and_types(self.node))

    def publishers(self, topic: str) -> list[Any]:
        full = self.full_name(topic)
        self.wait_until(
            lambda: self.node.get_publishers_info_by_topic(full), f'a publisher of {topic}'
        )
        return list(self.node.get_publishers_info_by_topic(full))

    def transforms(self, topic: str) -> str:
        """Return where `/tf` or `/tf_static` is published: a simulation may remap it."""
        names = (topic.lstrip('/'), topic)

        def published() -> list[str]:
            return [
                name
                for name in names
                if self.node.get_publishers_info_by_topic(self.full_name(name))
            ]

        self.wait_until(published, f'a publisher of {topic}')
        return published()[0]

    def full_name(self, name: str) -> str:
        return str(self.node.resolve_topic_name(name))

    def other_commanders(self) -> tuple[str, ...]:
        """Return the full names of other nodes that could command the arm or the hand."""
        own = self.node.get_name()
        topic = self.full_name(f'{self.controller}/joint_trajectory')
        goals = {self.full_name(name) for name in self._goal_names()}
        found = {
            f'{info.node_namespace.rstrip("/")}/{info.node_name}'
            for info in self.node.get_publishers_info_by_topic(topic)
            if info.node_name != own
        }
        for name, space in self.node.get_node_names_and_namespaces():
            try:
                used = get_action_client_names_and_types_by_node(self.node, name, space)
            except NodeNameNonExistentError:  # it has left meanwhile
                continue
            if name != own and goals & {action for action, _ in used}:
                found.add(f'{space.rstrip("/")}/{name}')
        return tuple(sorted(found))

    def _goal_names(self) -> dict[str, Any]:
        kinds: dict[str, Any] = {
            f'{self.controller}/follow_joint_trajectory': FollowJointTrajectory
        }
        kinds['action_server/error_recovery'] = franka_actions.ErrorRecovery
        if hasattr(franka_actions, 'PTPMotion'):  # not in every build of franka_msgs
            kinds['action_server/ptp_motion'] = franka_actions.PTPMotion
        if self.gripper:
            kinds |= {f'{self.gripper}/{name}': kind for name, kind in HAND_ACTIONS.items()}
        return kinds

    def _action(self, kind: Any, name: str) -> ActionClient:
        if name not in self._actions:
            self._actions[name] = ActionClient(self.node, kind, name)
        return self._actions[name]


class SentGoal:
    """A goal that was accepted or rejected; `DriverClient.send` returns it."""

    def __init__(self, driver: DriverClient, client: ActionClient, name: str, goal: Any) -> None:
        self._driver, self._name = driver, name
        self.feedback: list[Any] = []
        """All feedback so far."""
        driver.recording.note('sent', name, goal)
        sent = client.send_goal_async(goal, feedback_callback=self._add_feedback)
        answer = f'an answer of {name}'
        try:
            driver.wait_until(sent.done, answer)
        except BaseException:
            # It may have begun, and nothing may go on moving without a check that waits for it.
            with suppress(CheckFailedError):
                driver.wait_until(sent.done, answer)
                if sent.result().accepted:
                    driver.recording.note('cancel', name)
                    sent.result().cancel_goal_async()
            raise
        self._handle = sent.result()
        driver.recording.note('accepted' if self.accepted else 'rejected', name)
        self._result = self._handle.get_result_async() if self.accepted else None

    @property
    def accepted(self) -> bool:
        return bool(self._handle.accepted)

    def need_accepted(self) -> SentGoal:
        if not self.accepted:
            raise CheckFailedError(f'that {self._name} accepts the goal', 'it is rejected')
        return self

    def ended(self, timeout_s: float | None = None) -> Ended:
        self.need_accepted()
        try:
            reply = self._driver.wait(self._result, f'a result of {self._name}', timeout_s)
        except BaseException:
            # Nothing may go on moving without a check that waits for it.
            self._driver.recording.note('cancel', self._name)
            self._handle.cancel_goal_async()
            raise
        ended = Ended(STATUSES.get(reply.status, f'status {reply.status}'), reply.result)
        self._driver.recording.note(ended.status, self._name, ended.result)
        return ended

    def cancel(self) -> int:
        self._driver.recording.note('cancel', self._name)
        answer = self._driver.wait(
            self._handle.cancel_goal_async(), f'an answer of {self._name} to a cancel'
        )
        return int(answer.return_code)

    def cancel_and_wait(self) -> Ended:
        self.cancel()
        return self.ended()

    def wait_feedback(self, count: int = 1) -> list[Any]:
        self._driver.wait_until(
            lambda: len(self.feedback) >= count, f'{count} feedback messages of {self._name}'
        )
        return list(self.feedback)

    def _add_feedback(self, message: Any) -> None:
        self._driver.recording.note('feedback', self._name, message.feedback)
        self.feedback.append(message.feedback)


class TopicProbe:
    """A subscription that is polled: rclpy's executor is too slow for 1,000 messages a second."""

    def __init__(
        self, node: Node, kind: Any, topic: str, recording: Recording, *, latched: bool = False
    ):
        self._node, self._topic, self._recording = node, topic, recording
        self._subscription = node.create_subscription(
            kind, topic, lambda _: None, LATCHED if latched else ANY
        )

    def __enter__(self) -> TopicProbe:
        return self

    def __exit__(self, *_: object) -> None:
        self._node.destroy_subscription(self._subscription)

    def take(self) -> Any:
        handle = self._subscription.handle
        with handle:
            taken = handle.take_message(self._subscription.msg_type, self._subscription.raw)
        if taken is None:
            return None
        self._recording.note('received', self._topic, taken[0])
        return taken[0]

    def drain(self) -> list[Any]:
        return list(iter(self.take, None))

    def next(self, timeout_s: float) -> Any:
        return self.wait_for(lambda _: True, 'a message', timeout_s)

    def wait_for(self, matches: Callable[[Any], bool], what: str, timeout_s: float) -> Any:
        """Wait for a message that matches; raises CheckFailedError, which names *what*."""
        deadline_s = time.monotonic() + timeout_s
        others = 0
        while True:
            message = self.take()
            if message is not None:
                if matches(message):
                    return message
                others += 1
            elif time.monotonic() > deadline_s:
                raise CheckFailedError(
                    f'{what} on {self._topic} within {timeout_s:g} s', f'{others} other messages'
                )
            else:
                time.sleep(PROBE_S)

    def some(self, count: int, timeout_s: float) -> list[Any]:
        messages: list[Any] = []
        deadline_s = time.monotonic() + timeout_s
        while len(messages) < count and time.monotonic() < deadline_s:
            message = self.take()
            if message is None:
                time.sleep(PROBE_S)
            else:
                messages.append(message)
        return messages

    def collect(self, duration_s: float) -> list[Any]:
        time.sleep(duration_s)
        return self.drain()
