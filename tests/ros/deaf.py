"""A service whose server does not hear everything."""

from __future__ import annotations

from typing import Any

from bbllm_interfaces.srv import Approve
from rclpy.task import Future


class Deaf:
    """A node and its client; the server overhears some requests."""

    group = None

    def __init__(self, overhears: int):
        self.overhears = overhears
        self.received: list[str] = []

    def create_client(self, kind: Any, name: str, callback_group: Any) -> Deaf:
        return self

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: Approve.Request) -> Future:
        future = Future()
        self.received.append(request.hash)
        if self.overhears > 0:
            self.overhears -= 1
        else:
            future.set_result(Approve.Response(success=bool(request.hash)))
        return future
