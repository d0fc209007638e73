"""A client that speaks only the driver's own interfaces, and records what is said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from controller_manager_msgs.srv import ListControllers
from rclpy.action import get_action_names_and_types

from bbllm.core.closable import Closable
from bbllm.core.errors import LostNodeError
from bbllm.nodes.driver_checks.check import CheckFailedError
from bbllm.nodes.driver_checks.ear import Ear
from bbllm.nodes.driver_checks.goal import SentGoal
from bbllm.nodes.driver_checks.recording import Recording
from bbllm.ros.rclpy_support.own_nodes import OwnNodes
from bbllm.ros.rclpy_support.safe_action_client import SafeActionClient
from bbllm.ros.rclpy_support.waiting import need_server, wait_for
from bbllm.ros.stack.stack import SIMULATED_REMAPS

PATIENCE_S = 5.0
"""How long anything that should come at once is waited for [s]."""
READY_S = 10.0
"""How long a driver may take to appear [s]."""
LOOK_S = 0.05


class DriverClient(Closable):
    """
    One client of one driver; close it, or use it with `with`.

    Names are relative to the driver's namespace, as the driver's documentation writes them.
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
        """
        Join the graph; waits for nobody.

        Args:
            namespace: That of the driver; empty where it has none.
            controller: Name of the joint trajectory controller.
            gripper: Prefix of the names of the hand; empty where there is none.
            recording: Where everything that is said is kept.
            patience_s: How long anything that should come at once is waited for [s].
        """
        self.controller, self.gripper = controller, gripper
        self.recording = recording or Recording()
        self.patience_s = patience_s
        self._own = OwnNodes()
        self.node, self._ears = (
            self._own.join(f'bbllm_driver_{kind}_{os.getpid()}', f'/{namespace.strip("/")}')
            for kind in ('client', 'ears')
        )
        self._actions: dict[str, Any] = {}
        self._services: dict[str, Any] = {}
        self._publishers: dict[str, Any] = {}
        self._own.spin(self.node, 'driver client')

    def close(self) -> None:
        """Leave the graph."""
        self._own.close()

    def listen(self, kind: Any, topic: str, *, latched: bool = False) -> Ear:
        """Listen to a topic."""
        return Ear(self._ears, kind, topic, self.recording, latched=latched)

    def hear(self, kind: Any, topic: str, *, latched: bool = False) -> Any:
        """Return the next message of a topic, or raise CheckFailedError where none comes."""
        with self.listen(kind, topic, latched=latched) as ear:
            return ear.next(self.patience_s)

    def publish(self, kind: Any, topic: str, message: Any) -> None:
        """Send a message once somebody listens, or raise CheckFailedError where nobody does."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(kind, topic, 10)
        publisher = self._publishers[topic]
        self.wait_until(lambda: publisher.get_subscription_count(), f'a subscriber of {topic}')
        self.recording.note('sent', topic, message)
        publisher.publish(message)

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service and return its answer; CheckFailedError where nobody serves it."""
        if name not in self._services:
            self._services[name] = self.node.create_client(kind, name)
        client = self._services[name]
        self.wait_until(client.service_is_ready, f'a server of {name}')
        self.recording.note('sent', name, request)
        answer = wait_for(client.call_async(request), name, self.patience_s)
        self.recording.note('received', name, answer)
        return answer

    def send(self, kind: Any, name: str, goal: Any) -> SentGoal:
        """Send a goal and wait until it is accepted or rejected."""
        if name not in self._actions:
            self._actions[name] = SafeActionClient(self.node, kind, name, None)
        client = self._actions[name]
        self.wait_until(client.server_is_ready, f'a server of {name}')
        return SentGoal(client, name, goal, self.recording, self.patience_s)

    def topics(self) -> dict[str, list[str]]:
        """Return the types of all topics, by full name."""
        return dict(self.node.get_topic_names_and_types())

    def services(self) -> dict[str, list[str]]:
        """Return the types of all services, by full name."""
        return dict(self.node.get_service_names_and_types())

    def actions(self) -> dict[str, list[str]]:
        """Return the types of all actions, by full name."""
        return dict(get_action_names_and_types(self.node))

    def publishers(self, topic: str) -> list[Any]:
        """Return what the graph says of the publishers of a topic, once there is one."""
        full = self.full_name(topic)
        found: list[Any] = []

        def look() -> bool:
            found[:] = self.node.get_publishers_info_by_topic(full)
            return bool(found)

        self.wait_until(look, f'a publisher of {topic}')
        return found

    def transforms(self, topic: str) -> str:
        """Return where `/tf` or `/tf_static` are published; a simulation does in its namespace."""
        found: list[str] = []

        def look() -> bool:
            names = (dict(SIMULATED_REMAPS)[topic], topic)
            found[:] = [
                name
                for name in names
                if self.node.get_publishers_info_by_topic(self.full_name(name))
            ]
            return bool(found)

        self.wait_until(look, f'a publisher of {topic}')
        return found[0]

    def full_name(self, name: str) -> str:
        """Return an absolute name."""
        return str(self.node.resolve_topic_name(name))

    def wait_until(self, holds: Callable[[], Any], what: str) -> None:
        """
        Wait for something to come true.

        Raises:
            CheckFailedError: It does not in time.
        """
        deadline_s = time.monotonic() + self.patience_s
        while not holds():
            if time.monotonic() > deadline_s:
                raise CheckFailedError(f'{what} within {self.patience_s:g} s', 'none')
            time.sleep(LOOK_S)


def await_driver(client: DriverClient, where: str, timeout_s: float = READY_S) -> None:
    """
    Wait until a driver's controller manager answers.

    Raises:
        LostNodeError: None does in time; says where it was looked for.
    """
    name = 'controller_manager/list_controllers'
    asking = client.node.create_client(ListControllers, name)
    try:
        need_server(asking.service_is_ready, name, timeout_s)
    except LostNodeError:
        raise LostNodeError(
            f'No driver answers {where}: nobody served {name} within {timeout_s:g} s. Start it, '
            'name its --namespace and --domain, or check the simulated one: bbllm bench driver '
            '--sim'
        ) from None
    finally:
        client.node.destroy_client(asking)
