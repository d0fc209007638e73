"""A controller manager that answers as a test has it, and the node and topics around it."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from controller_manager_msgs.msg import (
    ControllerManagerActivity,
    ControllerState,
    HardwareComponentState,
    NamedLifecycleState,
)
from controller_manager_msgs.srv import ListControllers, ListHardwareComponents
from lifecycle_msgs.msg import State
from rclpy.serialization import serialize_message
from rclpy.task import Future

CONTROLLERS = ('joint_state_broadcaster', 'fr3_arm_controller')
EVERYTHING = (ListControllers.Request, ListHardwareComponents.Request)


class Manager:
    """A controller manager that answers at once, or not at all."""

    def __init__(self) -> None:
        self.state = 'active'
        self.served = True
        self.mute: tuple[type, ...] = ()
        """Requests that it does not answer."""
        self.lost: list[type] = []
        """Requests whose next answer is lost."""
        self.late: list[Callable[[], None]] | None = None
        """Where answers are kept that come when they are called; None for at once."""
        self.asked = 0

    def service_is_ready(self) -> bool:
        return self.served

    def call_async(self, request: Any) -> Future:
        future = Future()
        self.asked += 1
        kind = type(request)
        if kind in self.lost:
            self.lost.remove(kind)
        elif kind not in self.mute:
            reply = self._reply(kind)
            if self.late is None:
                future.set_result(reply)
            else:
                self.late.append(lambda: future.set_result(reply))
        return future

    def _reply(self, kind: type) -> Any:
        if kind is ListControllers.Request:
            states = [ControllerState(name=name, state=self.state) for name in CONTROLLERS]
            return ListControllers.Response(controller=states)
        part = HardwareComponentState(name='left_FrankaHardwareInterface')
        part.state.label = 'active' if self.state == 'active' else 'unconfigured'
        return ListHardwareComponents.Response(component=[part])


def activity(state: str, hardware: str = '') -> ControllerManagerActivity:
    """Return what a manager tells of the broadcaster of joints, and of its hardware if named."""

    def listed(*names: str) -> list[NamedLifecycleState]:
        return [NamedLifecycleState(name=name, state=State(label=state)) for name in names if name]

    return ControllerManagerActivity(
        controllers=listed(CONTROLLERS[0]), hardware_components=listed(hardware)
    )


class Once(threading.Condition):
    """Calls something as soon as somebody waits for it, the first time."""

    def __init__(self, call: Callable[[], object]):
        super().__init__()
        self._calls = [call]

    def wait(self, timeout: float | None = None) -> bool:
        while self._calls:
            self._calls.pop()()
        return super().wait(timeout)


class Topics:
    """Stands for poller and node: hands messages to whoever subscribed."""

    def __init__(self) -> None:
        self.receive: dict[str, Callable[[Any], None]] = {}
        self.waiting: list[tuple[str, Any]] = []
        """Messages that have come, and are heard once they are taken."""
        self.manager = Manager()
        self.came_s = 0.0

    def create_client(self, kind: Any, name: str, callback_group: Any) -> Manager:
        return self.manager

    def subscribe(
        self,
        kind: Any,
        topic: str,
        receive: Callable[[Any], None],
        qos: Any,
        read: Callable[[bytes], Any] | None = None,
    ) -> None:
        self.receive[topic] = (
            receive if read is None else lambda msg: receive(read(serialize_message(msg)))
        )

    def hurrying(self) -> AbstractContextManager[None]:
        return nullcontext()

    def take(self) -> None:
        while self.waiting:
            topic, msg = self.waiting.pop(0)
            self.receive[topic](msg)

    def refresh(self, older_s: float = 0.0) -> None:
        self.take()

    def resolve_topic_name(self, topic: str) -> str:
        return topic

    def get_publishers_info_by_topic(self, topic: str) -> list[Any]:
        return []
