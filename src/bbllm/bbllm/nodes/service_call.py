"""One service of another node, called from threads that do not spin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.nodes.waiting import ANSWER_S, need_server, nothing, wait_for


class ServiceCall:
    """
    A client of one service, whose answers are not lost.

    A server that has not yet found the one that asked throws its answer away, as
    `nodes.safe_action_client` tells. So the first request of all is one that changes nothing, and
    it is made again until it is answered.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        server: str,
        group: CallbackGroup,
        *,
        first: Any,
    ):
        """
        Make the client; waits for nobody.

        Args:
            node: Whose client it is.
            kind: Type of the service.
            name: Its name.
            server: The node that serves it, for errors.
            group: Callback group, reentrant.
            first: A request that changes nothing and is answered at once.
        """
        self._client = node.create_client(kind, name, callback_group=group)
        self._what = f'{server} ({name})'
        self._first = first
        self._found = False

    @property
    def ready(self) -> bool:
        """Whether somebody serves it."""
        return bool(self._client.service_is_ready())

    def run(self, request: Any, timeout_s: float, *, look: Callable[[], None] = nothing) -> Any:
        """
        Return the answer to a request.

        Args:
            request: The request.
            timeout_s: How long it may take to be answered, by the wall clock [s].
            look: Called all the time meanwhile; what it raises ends the wait.

        Raises:
            LostNodeError: Nobody serves it.
            WorldError: There is no answer in time.
        """
        need_server(self._client.service_is_ready, self._what)
        if not self._found:
            wait_for(self._try(), self._what, ANSWER_S, look=look, ask_again=self._try)
            self._found = True
        return wait_for(self._client.call_async(request), self._what, timeout_s, look=look)

    def _try(self) -> Any:
        return self._client.call_async(self._first)
