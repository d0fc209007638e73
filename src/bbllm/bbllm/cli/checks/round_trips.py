"""
How long small packets take to the robot and back, a thousand of them in a second.

The robot wants an answer to each of its packets within a millisecond; libfranka's documentation
asks for less than half of it between reading and writing. What is measured here is less than
that: the way to the robot's control and back, answered by its kernel, read by an ordinary Python
process. The driver's own cycle, under load and with real-time priority, shows itself only in the
robot's control_command_success_rate.
"""

import os
import re
import select
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PERIOD_S = 0.001
COUNT = 1000
LATE_S = 0.5
"""How long the last answers may take [s]."""
ECHO, REPLY = 8, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrips:
    """What came back of the packets."""

    how: str
    """What sent them."""
    sent: int
    times_ms: tuple[float, ...]
    """Round trip of each that came back [ms]; from `ping` only least, mean and greatest."""
    period_ms: float
    """Time between two of them [ms]."""
    whole: bool = True
    """Whether there is a time for every packet."""
    received: int = 0
    late_ms: float = 0.0
    """How late this process woke up to send, 99 of 100 times at most [ms]."""

    @property
    def loss(self) -> float:
        return 1.0 - self.received / self.sent if self.sent else 1.0

    def at(self, percent: float) -> float:
        """Return the time below which so many percent of the round trips stay [ms]."""
        return float(np.percentile(self.times_ms, percent))


def measure(
    host: str, count: int = COUNT, on_progress: Callable[[str], None] = lambda doing: None
) -> RoundTrips | str:
    """Send packets, one every millisecond, and wait; returns why that cannot be done."""
    try:
        address = socket.gethostbyname(host)
    except OSError as error:
        return f'{host} is no address that can be found: {error.strerror or error}'
    for kind, how in ((socket.SOCK_DGRAM, 'ping socket'), (socket.SOCK_RAW, 'raw socket')):
        try:
            link = socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP)
        except PermissionError:
            continue
        except OSError as error:
            return f'no ICMP here: {error.strerror or error}'
        with link:
            on_progress(f'sending {count} packets to {host}')
            return _exchange(link, kind is socket.SOCK_RAW, address, count, how)
    return _by_program(address, on_progress)


def _exchange(
    link: socket.socket, raw: bool, address: str, count: int, how: str
) -> RoundTrips | str:
    link.setblocking(False)
    ident = os.getpid() & 0xFFFF
    sent_s: dict[int, float] = {}
    times_s: dict[int, float] = {}
    begun_s = time.perf_counter()

    def take(until_s: float) -> None:
        while (left_s := until_s - time.perf_counter()) > 0:
            if not select.select([link], [], [], left_s)[0]:
                continue
            try:
                packet, source = link.recvfrom(2048)
            except OSError:  # such as: no route to the host
                continue
            now_s = time.perf_counter()
            number = _number(packet, ident if raw else None)
            if source[0] == address and number in sent_s and number not in times_s:
                times_s[number] = now_s - sent_s[number]

    for number in range(count):
        take(begun_s + number * PERIOD_S)
        try:
            sent_s[number] = time.perf_counter()
            link.sendto(_packet(ident, number), (address, 0))
        except OSError as error:
            if not isinstance(error, BlockingIOError):
                return f'{address} cannot be reached: {error.strerror or error}'
    end_s = time.perf_counter() + LATE_S
    while len(times_s) < count and time.perf_counter() < end_s:
        take(min(end_s, time.perf_counter() + 0.02))
    return RoundTrips(
        how=how,
        sent=count,
        times_ms=tuple(value * 1e3 for value in times_s.values()),
        period_ms=PERIOD_S * 1e3,
        received=len(times_s),
        late_ms=float(
            np.percentile([(at_s - begun_s) * 1e3 - n for n, at_s in sent_s.items()], 99)
        ),
    )


def _packet(ident: int, number: int) -> bytes:
    """Return an echo request of ICMP (RFC 792)."""
    data = b'bbllm doctor    '
    head = struct.pack('!BBHHH', ECHO, 0, 0, ident, number)
    return struct.pack('!BBHHH', ECHO, 0, _checksum(head + data), ident, number) + data


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f'!{len(data) // 2}H', data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def _number(packet: bytes, ident: int | None) -> int | None:
    """Return which request an answer belongs to; *ident* is that of ours on a raw socket."""
    if ident is not None:  # such a packet has its IP header; the kernel filters for ping sockets
        packet = packet[(packet[0] & 0x0F) * 4 :]
    if len(packet) < 8:
        return None
    kind, _, _, answered, number = struct.unpack('!BBHHH', packet[:8])
    return int(number) if kind == REPLY and ident in (None, answered) else None


def _by_program(address: str, on_progress: Callable[[str], None]) -> RoundTrips | str:
    """Let the system's `ping` do it, which may be allowed more, but sends more slowly."""
    if shutil.which('ping') is None:
        return 'this user may send no ICMP packets, and there is no program ping'
    for period_s, count in ((0.002, 500), (0.2, 15)):  # least for users in new and old versions
        on_progress(f'letting ping send {count} packets to {address}')
        command = ['ping', '-n', '-q', '-i', f'{period_s:g}', '-c', f'{count}', '-W', '1', address]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=count * period_s + 5.0,
                env={**os.environ, 'LC_ALL': 'C'},
            )
        except subprocess.TimeoutExpired:
            return f'ping to {address} hangs'
        if done.returncode > 1:
            continue
        return _of_ping(done.stdout, period_s)
    return 'ping is there, but does not work for this user'


def _of_ping(text: str, period_s: float) -> RoundTrips | str:
    counts = re.search(r'(\d+) packets transmitted, (\d+) received', text)
    times = re.search(r'= ([\d.]+)/([\d.]+)/([\d.]+)', text)
    if counts is None:
        return 'ping says something that is not understood here'
    return RoundTrips(
        how='the program ping',
        sent=int(counts[1]),
        times_ms=tuple(float(value) for value in times.groups()) if times else (),
        period_ms=period_s * 1e3,
        whole=False,
        received=int(counts[2]),
    )
