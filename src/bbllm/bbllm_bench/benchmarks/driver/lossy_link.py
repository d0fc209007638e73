"""
A proxy of the robot's network protocol that loses and delays packets between client and robot.

The protocol (libfranka's `research_interface`, robot.h and gripper.h): a client connects over TCP
and names the UDP port to which states go; the robot sends them from a port to which commands
return. The proxy listens at an address of its own, puts its own port in place of the client's, and
passes the rest on unread.
"""

from __future__ import annotations

import asyncio
import random
import struct
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

from bbllm.core.errors import WorldError

CONNECTS = {1337: struct.Struct('<IIIHH'), 1338: struct.Struct('<HIIHH')}
"""
By TCP port, of arm and hand, the first message of a client: command, its number, size, version of
the library, UDP port.
"""
START_S = 5.0
"""How long the proxy may take to listen [s]."""
CHUNK = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What becomes of UDP packets, in both directions alike."""

    share: float = 0.0
    """Share of the packets at which a gap begins."""
    burst: int = 1
    """How many packets in a row are lost in a gap."""
    delay_s: float = 0.0
    """Smallest delay of a packet [s]."""
    jitter_s: float = 0.0
    """Largest further delay, uniform; a packet may overtake another [s]."""


class LossyLink:
    """
    Relays between a client and the robot at *robot*; clients use *address* in its place.

    A context manager: everything it opened is closed at its end. `losses` may be changed at any
    time. Raises WorldError where the address is in use.
    """

    def __init__(
        self, robot: str, address: str, losses: Losses | None = None, *, seed: int = 0
    ) -> None:
        self.losses = losses or Losses()
        self._robot, self._address = robot, address
        self._random = random.Random(seed)
        self._gap = 0
        self._counts = {'passed': 0, 'lost': 0}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name='lossy link', daemon=True)
        self._ready, self._fault = threading.Event(), ''
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def passed(self) -> int:
        """How many UDP packets were passed on."""
        return self._counts['passed']

    @property
    def lost(self) -> int:
        return self._counts['lost']

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_S) or self._fault:
            self._end()
            why = self._fault or f'it did not listen within {START_S:g} s'
            raise WorldError(f'The proxy at {self._address} cannot be used: {why}.')
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def cut(self) -> None:
        """Close all connections, as a cable that is pulled does not but a dead robot does."""
        self._loop.call_soon_threadsafe(self._cancel)

    def _end(self) -> None:
        with suppress(RuntimeError):  # its loop has ended
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_S)

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            servers = [
                self._loop.run_until_complete(
                    asyncio.start_server(self._accept(port), self._address, port)
                )
                for port in CONNECTS
            ]
        except OSError as error:
            self._fault = str(error)
            self._ready.set()
            return
        self._ready.set()
        self._loop.run_forever()
        for server in servers:
            server.close()
        self._cancel()
        self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        self._loop.close()

    def _accept(
        self, port: int
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._relay(port, reader, writer)
            writer.close()

        return accepted

    async def _relay(
        self, port: int, client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        robot, to_robot = await asyncio.open_connection(
            self._robot, port, local_addr=(self._address, 0)
        )
        host = to_client.get_extra_info('peername')[0]
        connect = CONNECTS[port]
        hello = connect.unpack(await client.readexactly(connect.size))
        states, _ = await self._loop.create_datagram_endpoint(
            lambda: _Datagrams(self, (host, hello[-1])), local_addr=(self._address, 0)
        )
        try:
            own = states.get_extra_info('sockname')[1]
            to_robot.write(connect.pack(*hello[:-1], own))
            ways = [_copy(client, to_robot), _copy(robot, to_client)]
            _, others = await asyncio.wait(
                map(asyncio.ensure_future, ways), return_when=asyncio.FIRST_COMPLETED
            )
            for other in others:
                other.cancel()
        finally:
            states.close()
            to_robot.close()

    def _passes(self) -> bool:
        if self._gap == 0 and self._random.random() < self.losses.share:
            self._gap = self.losses.burst
        if self._gap:
            self._gap -= 1
            self._counts['lost'] += 1
            return False
        self._counts['passed'] += 1
        return True

    def _forward(self, send: Callable[[], None]) -> None:
        if not self._passes():
            return
        delay_s = self.losses.delay_s + self._random.uniform(0.0, self.losses.jitter_s)
        if delay_s:
            self._loop.call_later(delay_s, send)
        else:
            send()


class _Datagrams(asyncio.DatagramProtocol):
    """States go to the client, everything from the client to where states came from."""

    def __init__(self, link: LossyLink, client: tuple[str, int]) -> None:
        self._link, self._client = link, client
        self._robot: tuple[str, int] | None = None
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if addr != self._client:
            self._robot = addr
        target = self._robot if addr == self._client else self._client
        if target is not None:
            self._link._forward(lambda: self._send(data, target))

    def _send(self, data: bytes, target: tuple[str, int]) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.sendto(data, target)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):  # one end has gone, and the other is closed for it
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
