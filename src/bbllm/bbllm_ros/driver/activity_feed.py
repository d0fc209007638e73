"""
Which controllers are active, by the controller manager's messages and by its answers.

It publishes its activity when controllers are switched or hardware is brought up, but not when an
error of the hardware takes them down (ros2_control on Jazzy, ControllerManager::read), which is
what a reflex is. So a client that receives no states any more has to ask.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from controller_manager_msgs.msg import ControllerManagerActivity
from controller_manager_msgs.srv import ListControllers, ListHardwareComponents
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from bbllm_ros.convert.records import LATCHED
from bbllm_ros.rclpy_support.fast_subscription import LatestMessage, Poller

MANAGER = 'controller_manager'
HARDWARE = 'FrankaHardwareInterface'
"""End of the hardware component's name; the prefix of the arm comes before it."""
JOINT_BROADCASTER = 'joint_state_broadcaster'
STATE_BROADCASTER = 'franka_robot_state_broadcaster'
ACTIVE = 'active'
ASK_AGAIN_S = 0.2
LOST_S = 0.5
"""A question that is not answered after this is asked again [s]."""
MOST_OPEN = 20
"""Requests that are waited for at once: of a driver that hangs no answer ever comes."""
GONE_S = 2.0
POLL_S = 0.05


class ActivityFeed:
    """Listens to the controller manager, and asks it."""

    def __init__(self, node: Node, poller: Poller):
        self._news = threading.Condition()
        self._states: dict[str, str] | None = None
        self._hardware = HARDWARE
        self._hardware_active: bool | None = None
        self.stops = 0
        """How often the robot has stopped: its states went down."""
        self._were_down = False
        # Made at once: found by the server before they are needed, and, in a graph with security,
        # refused at the start and not in the middle of a stop.
        self._clients = {
            name: node.create_client(
                kind, f'{MANAGER}/{name}', callback_group=ReentrantCallbackGroup()
            )
            for name, kind in (
                ('list_controllers', ListControllers),
                ('list_hardware_components', ListHardwareComponents),
            )
        }
        self._open: deque[Any] = deque()
        self._asked_s = float('-inf')
        self._answered_s = dict.fromkeys(self._clients, float('-inf'))
        self._reported = LatestMessage(
            node,
            poller,
            ControllerManagerActivity,
            f'{MANAGER}/activity',
            LATCHED,
            take=self._take_activity,
            news=self._news,
        )

    @property
    def states_are_down(self) -> bool:
        """Whether no node publishes joint states, by the manager: then silence is no loss."""
        return not self.is_active(JOINT_BROADCASTER) or not self.hardware_active

    @property
    def hardware(self) -> str:
        return self._hardware

    @property
    def hardware_active(self) -> bool:
        return self._hardware_active is not False

    def is_active(self, name: str) -> bool:
        return self._states is None or self._states.get(name) == ACTIVE

    def knows(self, name: str) -> bool:
        return self._states is None or name in self._states

    @property
    def answered_s(self) -> float:
        """When what was answered last, as a whole, was asked, monotonic clock [s]."""
        return min(self._answered_s.values())

    @property
    def served(self) -> bool:
        return all(client.service_is_ready() for client in self._clients.values())

    def ask(self, *, at_once: bool = False) -> None:
        """Ask for the states, unless that was done just now; the answers come later."""
        now_s = time.monotonic()
        with self._news:
            waiting = self.answered_s < self._asked_s > self._reported.taken_s
            if not at_once and now_s - self._asked_s < (LOST_S if waiting else ASK_AGAIN_S):
                return
            self._asked_s = now_s
        if not self.served:
            return
        for kind, name, learn in (
            (ListControllers, 'list_controllers', self._learn_controllers),
            (ListHardwareComponents, 'list_hardware_components', self._learn_hardware),
        ):
            future = self._clients[name].call_async(kind.Request())
            with self._news:
                self._open.append(future)
                given_up = self._open.popleft() if len(self._open) > MOST_OPEN else None
            if given_up is not None:
                given_up.cancel()
            future.add_done_callback(partial(self._answer, now_s, name, learn))

    def wait_for_answer(self, timeout_s: float) -> bool:
        """Ask; return whether a whole answer came in time, less where there is no server [s]."""
        begun_s = time.monotonic()
        self.ask(at_once=True)
        return self._ask_until(lambda: self.answered_s >= begun_s, timeout_s)

    def wait_for_stop(self, controller: str, timeout_s: float) -> bool:
        """Ask repeatedly whether a controller or the hardware has gone down [s]."""
        return self._ask_until(
            lambda: not (self.is_active(controller) and self.hardware_active), timeout_s
        )

    def _ask_until(self, reported: Callable[[], bool], timeout_s: float) -> bool:
        begun_s = served_s = time.monotonic()
        while (now_s := time.monotonic()) < begun_s + timeout_s:
            if self.served:
                served_s = now_s
            elif now_s > served_s + GONE_S:
                break
            self.ask()
            with self._news:
                if self._news.wait_for(reported, POLL_S):
                    return True
        return False

    def _answer(self, asked_s: float, name: str, learn: Any, future: Any) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        with self._news:
            if asked_s <= max(self._answered_s[name], self._reported.taken_s):
                return  # an answer to an older question, when another may have been true
            self._answered_s[name] = asked_s
            learn(future.result())
            self._count_stops()
            self._news.notify_all()

    def _learn_controllers(self, reply: Any) -> None:
        self._states = {item.name: item.state for item in reply.controller}

    def _learn_hardware(self, reply: Any) -> None:
        self._take_hardware((item.name, item.state.label) for item in reply.component)

    def _take_activity(self, msg: ControllerManagerActivity) -> bool:
        self._states = {item.name: item.state.label for item in msg.controllers}
        self._take_hardware((item.name, item.state.label) for item in msg.hardware_components)
        self._count_stops()
        return True

    def _count_stops(self) -> None:
        were_down, self._were_down = self._were_down, self.states_are_down
        self.stops += self._were_down and not were_down

    def _take_hardware(self, parts: Iterable[tuple[str, str]]) -> None:
        for name, state in parts:
            if name.endswith(HARDWARE):
                self._hardware, self._hardware_active = name, state == ACTIVE
