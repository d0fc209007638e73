"""One service of another node, called from threads that do not spin."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.core.cancel import CancelToken
from bbllm.ros.rclpy_support.waiting import ANSWER_S, need_server, nothing, wait_for


class ServiceCall:
    """
    A client of one service, whose answers are not lost.

    A server that has not yet found the one that asked throws its answer away, as
    `SafeActionClient` describes; one that was started anew has found no client yet, without a
    sign of it. So before every request one is made that changes nothing, again and again
    until it is answered. Where no request changes anything, the request itself is.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        server: str,
        group: CallbackGroup,
        *,
        first: Any = None,
    ):
        """
        Make the client; waits for no server.

        Args:
            node: Whose client it is.
            kind: Type of the service.
            name: Its name.
            server: The node that serves it, for errors.
            group: Callback group, reentrant.
            first: A request that changes nothing and is answered at once; None where none of
                them changes anything.
        """
        self._node = node
        self._client = node.create_client(kind, name, callback_group=group)
        self._what = f'{server} ({name})'
        self._first = first

    @property
    def ready(self) -> bool:
        """Whether a node serves it."""
        return bool(self._client.service_is_ready())

    def close(self) -> None:
        """Leave the graph."""
        self._node.destroy_client(self._client)

    def run(
        self,
        request: Any,
        timeout_s: float,
        *,
        cancel: CancelToken | None = None,
        sending: Callable[[], None] = nothing,
    ) -> Any:
        """Return the answer to a request."""
        need_server(self._client.service_is_ready, self._what, cancel=cancel)
        if self._first is None:
            sending()
            return self._insist(request, timeout_s, cancel)
        self._insist(self._first, ANSWER_S, cancel)
        sending()
        return wait_for(self._client.call_async(request), self._what, timeout_s, cancel=cancel)

    def _insist(self, request: Any, timeout_s: float, cancel: CancelToken | None) -> Any:
        """Ask until there is an answer, less and less often: a server may just be slow."""
        waits = count(1)

        def again() -> Any:
            n = next(waits)
            return None if n & (n - 1) else self._client.call_async(request)  # 1, 2, 4, 8 ...

        return wait_for(
            self._client.call_async(request), self._what, timeout_s, cancel=cancel, ask_again=again
        )
