"""Connections of a server: what has not sent a whole request head keeps nobody else out."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 5.0
"""How long a connection may take to send a whole request head, wall clock [s]."""
MOST_WAITING = 400
"""How many connections may be without one; a further one closes that which waits longest."""


class WatchedProtocol(H11Protocol):
    """
    HTTP/1.1 as uvicorn serves it, for servers that any user of the machine can reach.

    Whether a connection may ask for anything is in its request head. So the number of those with
    a head is unlimited here and each is answered, and those without one are closed: after
    `HEAD_S`, or once there are too many. Who sends a head at once is never closed by that.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]  # as in uvicorn
        self, transport: asyncio.Transport
    ) -> None:
        """Begin to wait for a head; see `asyncio.Protocol`."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what was sent; see `asyncio.Protocol`."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._end_wait()

    def on_response_complete(self) -> None:
        """Wait for the next request of a connection that stays open; see uvicorn."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._end_wait()
        super().connection_lost(exc)

    @property
    def closes_at(self) -> float:
        """When the wait for a head ends, by the clock of the loop; infinite without one [s]."""
        return float('inf') if self._deadline is None else self._deadline.when()

    def _await_head(self) -> None:
        self._end_wait()
        self._deadline = self.loop.call_later(HEAD_S, self._close)
        waiting = [
            other
            for other in self.connections
            if isinstance(other, WatchedProtocol) and other._deadline is not None
        ]
        if len(waiting) > MOST_WAITING:
            min(waiting, key=lambda other: other.closes_at)._close()

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._end_wait()
        self.transport.abort()
