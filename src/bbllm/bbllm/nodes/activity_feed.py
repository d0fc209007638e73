"""
Which controllers are active, by what the controller manager says and by what it answers.

It publishes its activity when controllers are switched or hardware is brought up, but not when
an error of the hardware takes them down (ros2_control on Jazzy, ControllerManager::read), which
is what a reflex is. So whoever no longer hears the robot has to ask.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

from controller_manager_msgs.msg import ControllerManagerActivity
from controller_manager_msgs.srv import ListControllers, ListHardwareComponents
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from bbllm.nodes.polling import Poller
from bbllm.nodes.qos import LATCHED

MANAGER = 'controller_manager'
HARDWARE = 'FrankaHardwareInterface'
"""End of the hardware component's name, which has the prefix of the arm before it."""
JOINT_BROADCASTER = 'joint_state_broadcaster'
STATE_BROADCASTER = 'franka_robot_state_broadcaster'
ACTIVE = 'active'
"""Label of the life cycle state."""
ASK_AGAIN_S = 0.2
"""Wall time between questions to the controller manager [s]."""
LOST_S = 2.0
"""A question that is not answered after this is asked again [s]."""
LOOK_S = 0.05


class ActivityFeed:
    """Listens to the controller manager, and asks it."""

    def __init__(self, node: Node, poller: Poller):
        self._news = threading.Condition()
        self._states: dict[str, str] | None = None
        self._hardware = HARDWARE
        self._hardware_active: bool | None = None
        self.stops = 0
        """How often the robot is known to have stopped: its states went down."""
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
        self._open: set[Any] = set()
        self._asked_s = float('-inf')
        self._answers = 0
        poller.subscribe(ControllerManagerActivity, f'{MANAGER}/activity', self._hear, LATCHED)

    @property
    def states_are_down(self) -> bool:
        """Whether it is known that nobody publishes joint states: then silence is no loss."""
        return not self.is_active(JOINT_BROADCASTER) or not self.hardware_active

    @property
    def hardware(self) -> str:
        """The name of the hardware component."""
        return self._hardware

    @property
    def hardware_active(self) -> bool:
        """Whether the hardware component is active, as far as is known."""
        return self._hardware_active is not False

    def is_active(self, name: str) -> bool:
        """Tell whether a controller is active, as far as is known."""
        return self._states is None or self._states.get(name) == ACTIVE

    def knows(self, name: str) -> bool:
        """Tell whether a controller is loaded, as far as is known."""
        return self._states is None or name in self._states

    def ask(self) -> None:
        """Ask for the states, unless that was done just now; the answers come later."""
        now_s = time.monotonic()
        with self._news:
            waiting = bool(self._open) and now_s - self._asked_s < LOST_S
            if waiting or now_s - self._asked_s < ASK_AGAIN_S:
                return
            self._asked_s = now_s
            self._open.clear()
        questions = (
            (ListControllers, 'list_controllers', self._learn_controllers),
            (ListHardwareComponents, 'list_hardware_components', self._learn_hardware),
        )
        clients = [self._clients[name] for _, name, _ in questions]
        if not all(client.service_is_ready() for client in clients):
            return
        futures = [
            client.call_async(kind.Request())
            for client, (kind, _, _) in zip(clients, questions, strict=True)
        ]
        with self._news:
            self._open = set(futures)
        for future, (_, _, learn) in zip(futures, questions, strict=True):
            future.add_done_callback(lambda future, learn=learn: self._answer(future, learn))

    def wait_for_answer(self, timeout_s: float) -> bool:
        """Ask, and wait for a whole answer; tells whether it came [s]."""
        with self._news:
            before = self._answers
        return self._ask_until(lambda: self._answers > before, timeout_s)

    @property
    def asked_s(self) -> float:
        """When it was asked last, monotonic clock [s]."""
        return self._asked_s

    def wait_for_stop(self, controller: str, timeout_s: float) -> bool:
        """Ask again and again whether a controller or the hardware has gone down [s]."""
        return self._ask_until(
            lambda: not (self.is_active(controller) and self.hardware_active), timeout_s
        )

    def _ask_until(self, told: Any, timeout_s: float) -> bool:
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            self.ask()
            with self._news:
                if self._news.wait_for(told, LOOK_S):
                    return True
        return False

    def _answer(self, future: Any, learn: Any) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        with self._news:
            if future not in self._open:
                return  # an answer to an older question, when another may have been true
            self._open.discard(future)
            learn(future.result())
            self._count_stops()
            self._answers += not self._open
            self._news.notify_all()

    def _learn_controllers(self, reply: Any) -> None:
        self._states = {item.name: item.state for item in reply.controller}

    def _learn_hardware(self, reply: Any) -> None:
        self._take_hardware((item.name, item.state.label) for item in reply.component)

    def _hear(self, msg: ControllerManagerActivity) -> None:
        with self._news:
            self._open.clear()  # what is under way may be older than this
            self._states = {item.name: item.state.label for item in msg.controllers}
            self._take_hardware((item.name, item.state.label) for item in msg.hardware_components)
            self._count_stops()
            self._news.notify_all()

    def _count_stops(self) -> None:
        were_down, self._were_down = self._were_down, self.states_are_down
        self.stops += self._were_down and not were_down

    def _take_hardware(self, parts: Iterable[tuple[str, str]]) -> None:
        for name, state in parts:
            if name.endswith(HARDWARE):
                self._hardware, self._hardware_active = name, state == ACTIVE
